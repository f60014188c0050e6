"""What a column of the process table is, and what it shows: a process on one GPU."""

from collections.abc import Callable
from typing import TypeAlias

from msgspec import Struct

from gputop.core.model.metric import Unit
from gputop.core.model.sample import GpuProcess, HostProcess, Job

SortValue: TypeAlias = float | str | None


class Row(Struct, frozen=True, gc=False):
    """A process on one GPU: a line of the table. ``time_s``: of the frame, for run times.

    ``gpu_total_bytes``: memory of the GPU, or of the GPU instance that the process is on.
    """

    process: HostProcess
    use: GpuProcess
    time_s: float
    gpu_total_bytes: int | None = None
    job: Job | None = None

    @property
    def key(self) -> tuple[int, int | None, str, int | None]:
        """Return what stays the same from frame to frame: the cursor holds on to it."""
        return (self.process.pid, self.process.start_ticks, self.use.gpu, self.use.gpu_instance)


FilterValue: TypeAlias = Callable[[Row], SortValue | tuple[str, ...]]


class Column(Struct, frozen=True, kw_only=True):
    """A column. ``width`` 0 takes what is left. ``rank``: 0 is never dropped, the highest goes first.

    ``tone``: the name of its colour on the screen. ``is_name``: its values name something, so that 0 is
    one like any other. ``is_searched``: `/` searches it too.

    One that ``is_optional`` is shown only where it is chosen. ``only_if_used``: while a process has a value,
    and ``is_used`` says which, where that is not the one to sort by.

    For filters: ``words`` name it beside its key and its title, ``unit`` is that of its numbers, ``value`` is what is
    compared where that is not ``sort``: with several texts, all names of one thing. ``is_text``: values are text.
    """

    key: str
    title: str
    width: int
    rank: int
    text: Callable[[Row], str]
    sort: Callable[[Row], SortValue]
    help: str
    tone: str = "text"
    is_text: bool = False
    is_name: bool = False
    is_searched: bool = False
    only_if_used: bool = False
    is_used: Callable[[Row], object] | None = None
    is_optional: bool = False
    words: tuple[str, ...] = ()
    unit: Unit = Unit.NONE
    value: FilterValue | None = None

    @property
    def descends(self) -> bool:
        """Return whether the column sorts from the largest value by itself: numbers that measure do."""
        return not (self.is_text or self.is_name)
