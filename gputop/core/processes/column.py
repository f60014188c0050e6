"""A column and a row of the process table."""

from collections.abc import Callable

from msgspec import Struct

from gputop.core.model.field import Field, SortValue
from gputop.core.model.sample import GpuProcess, HostProcess, Job

__all__ = ["Column", "Row", "SortValue"]


class Row(Struct, frozen=True, gc=False):
    """A process on one GPU: a line of the table. ``time_s``: time of the frame, for run times.

    ``gpu_total_bytes``: memory of the GPU, or of the GPU instance on which the process runs.
    """

    process: HostProcess
    use: GpuProcess
    time_s: float
    gpu_total_bytes: int | None = None
    job: Job | None = None

    @property
    def key(self) -> tuple[int, int | None, str, int | None]:
        """Return the identity of the row, which stays the same from frame to frame: the cursor holds it."""
        return (self.process.pid, self.process.start_ticks, self.use.gpu, self.use.gpu_instance)


class Column(Field[Row], frozen=True, kw_only=True):
    """A column. A ``width`` of 0 fills the rest of the line. ``rank``: the highest is dropped first, 0 never.

    ``tone``: the name of its colour on the screen. ``is_name``: the values are names, so that 0 is a name too.
    ``is_searched``: `/` searches the column too.

    An ``is_optional`` column is shown only if the user chose it; an ``only_if_used`` one, while a process has a value.
    ``is_used`` returns that value if it differs from ``sort``; among many rows, ``least_rows`` must have one.
    """

    width: int
    rank: int
    help: str
    tone: str = "text"
    is_name: bool = False
    is_searched: bool = False
    only_if_used: bool = False
    is_used: Callable[[Row], object] | None = None
    least_rows: int = 1
    is_optional: bool = False

    @property
    def descends(self) -> bool:
        """Return whether the column sorts from the largest value by itself: numbers that measure do."""
        return not (self.is_text or self.is_name)
