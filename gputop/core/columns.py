"""THE COLUMNS of the process table, a row each: title, width, text, sort value, rank when space ends."""

from collections.abc import Callable, Iterable
from operator import itemgetter
from typing import Final, TypeAlias

from msgspec import Struct

from gputop.core.metric import Unit
from gputop.core.sample import Frame, GpuProcess, HostProcess, Presence
from gputop.core.units import NOTHING, bytes_text, duration_text, number_text

SortValue: TypeAlias = float | str | None
_VALUE: Final = itemgetter(0)
_PLACE: Final = itemgetter(1, 2)


class Row(Struct, frozen=True):
    """A process on one GPU: a line of the table. ``time_s``: of the frame, for run times."""

    process: HostProcess
    use: GpuProcess
    time_s: float

    @property
    def key(self) -> tuple[int, int | None, str, int | None]:
        """Return what stays the same from frame to frame: the cursor holds on to it."""
        return (self.process.pid, self.process.start_ticks, self.use.gpu, self.use.gpu_instance)


class Column(Struct, frozen=True, kw_only=True):
    """A column. ``width`` 0 takes what is left. ``rank``: 0 is never dropped, the highest goes first.

    For filters: ``words`` name it beside its key and its title, ``unit`` is that of its numbers, ``value`` is what is
    compared where that is not ``sort``. ``is_text``: values are text.
    """

    key: str
    title: str
    width: int
    rank: int
    text: Callable[[Row], str]
    sort: Callable[[Row], SortValue]
    help: str
    is_text: bool = False
    only_if_used: bool = False
    words: tuple[str, ...] = ()
    unit: Unit = Unit.NONE
    value: Callable[[Row], SortValue] | None = None


def rows(frame: Frame) -> list[Row]:
    """Return a row per process and GPU."""
    return [Row(process, use, frame.time_s) for process in frame.processes for use in process.gpus]


def sorted_rows(unsorted: Iterable[Row], column: Column, *, is_reversed: bool) -> list[Row]:
    """Sort; absent values come last either way, ties by GPU and pid so that nothing jumps."""
    sort = column.sort
    placed = [(sort(row), row.use.gpu_index, row.process.pid, row) for row in unsorted]
    placed.sort(key=_PLACE)
    known = [entry for entry in placed if entry[0] is not None]
    known.sort(key=_VALUE, reverse=is_reversed)  # one column has values of one type
    return [entry[3] for entry in known] + [entry[3] for entry in placed if entry[0] is None]


def used_columns(shown: Iterable[Row], before: frozenset[str] = frozenset()) -> frozenset[str]:
    """Return the keys of the columns that are shown only if used, and are; one that was used before stays."""
    held = list(shown)
    unused = [column for column in COLUMNS if column.only_if_used and column.key not in before]
    return before | {column.key for column in unused if any(map(column.sort, held))}


def visible_columns(
    room: int, shown: Iterable[Row], *, least_command: int = 16, used: frozenset[str] | None = None
) -> list[Column]:
    """Return the columns that fit in ``room`` cells with a blank between two, in the order of `COLUMNS`.

    ``used``: of `used_columns`, where that is already known.
    """
    if used is None:
        used = used_columns(shown)
    chosen = [c for c in COLUMNS if not c.only_if_used or c.key in used]
    while any(c.rank for c in chosen) and sum((c.width or least_command) + 1 for c in chosen) - 1 > room:
        chosen.remove(max(reversed(chosen), key=lambda c: c.rank))
    return chosen


def _run_time(row: Row) -> float | None:
    started = row.process.started_s
    return None if started is None else max(0.0, row.time_s - started)


def _command(row: Row) -> str:
    return row.process.command if row.process.presence is Presence.ALIVE else row.process.presence.text


def _gpu(row: Row) -> str:
    instance = row.use.gpu_instance
    return str(row.use.gpu_index) if instance is None else f"{row.use.gpu_index}:{instance}"


COLUMNS: Final = (
    Column(
        key="gpu", title="GPU", width=4, rank=0, text=_gpu,
        sort=lambda r: r.use.gpu_index + (r.use.gpu_instance or 0) / 1000,
        help="Index of the GPU, and after a colon its GPU instance.", value=lambda r: r.use.gpu_index,
    ),
    Column(
        key="pid", title="PID", width=7, rank=0, text=lambda r: str(r.process.pid), sort=lambda r: r.process.pid,
        help="Process number, as the driver gives it.",
    ),
    Column(
        key="user", title="USER", width=8, rank=2, text=lambda r: r.process.user or NOTHING,
        sort=lambda r: r.process.user, help="Owner of the process.", is_text=True,
    ),
    Column(
        key="type", title="TYPE", width=4, rank=8, text=lambda r: r.use.type, sort=lambda r: r.use.type,
        help="C compute, G graphics, M client of MPS.", is_text=True,
    ),
    Column(
        key="gpu_memory", title="GPU-MEM", width=7, rank=0, text=lambda r: bytes_text(r.use.memory_bytes),
        sort=lambda r: r.use.memory_bytes, help="GPU memory that the process holds.", unit=Unit.BYTES,
    ),
    Column(
        key="sm", title="SM%", width=4, rank=1, text=lambda r: number_text(r.use.sm_percent),
        sort=lambda r: r.use.sm_percent, help="Share of time in which kernels of the process ran; an estimate.",
        unit=Unit.PERCENT,
    ),
    Column(
        key="memory_utilization", title="MBW%", width=4, rank=7, text=lambda r: number_text(r.use.memory_percent),
        sort=lambda r: r.use.memory_percent, help="Share of time in which it used the GPU's memory controller.",
        unit=Unit.PERCENT,
    ),
    Column(
        key="encoder", title="ENC%", width=4, rank=11, text=lambda r: number_text(r.use.encoder_percent),
        sort=lambda r: r.use.encoder_percent, help="Video encoder; shown while anybody uses it.", only_if_used=True,
        unit=Unit.PERCENT,
    ),
    Column(
        key="decoder", title="DEC%", width=4, rank=11, text=lambda r: number_text(r.use.decoder_percent),
        sort=lambda r: r.use.decoder_percent, help="Video decoder; shown while anybody uses it.", only_if_used=True,
        unit=Unit.PERCENT,
    ),
    Column(
        key="cpu", title="CPU%", width=5, rank=3, text=lambda r: number_text(r.process.cpu_percent),
        sort=lambda r: r.process.cpu_percent, help="CPU time, of one core: 8 busy threads make 800.", unit=Unit.PERCENT,
    ),
    Column(
        key="busiest_thread", title="THR%", width=4, rank=9,
        text=lambda r: number_text(r.process.busiest_thread_percent),
        sort=lambda r: r.process.busiest_thread_percent, help="CPU of its busiest thread: 100 is a thread that spins.",
        unit=Unit.PERCENT, words=("thread",),
    ),
    Column(
        key="memory", title="RSS", width=7, rank=5, text=lambda r: bytes_text(r.process.memory_bytes),
        sort=lambda r: r.process.memory_bytes, help="Host memory: resident in RAM.", unit=Unit.BYTES,
        words=("mem",),
    ),
    Column(
        key="state", title="S", width=1, rank=6, text=lambda r: r.process.state or NOTHING,
        sort=lambda r: r.process.state, help="R runs, S sleeps, D waits in the kernel, T stopped, Z zombie.",
        is_text=True,
    ),
    Column(
        key="nice", title="NI", width=3, rank=10, text=lambda r: number_text(r.process.nice),
        sort=lambda r: r.process.nice, help="Nice value: -20 goes first, 19 last.",
    ),
    Column(
        key="threads", title="NLWP", width=4, rank=10, text=lambda r: number_text(r.process.threads),
        sort=lambda r: r.process.threads, help="Number of threads.",
    ),
    Column(
        key="time", title="TIME", width=6, rank=4, text=lambda r: duration_text(_run_time(r)), sort=_run_time,
        help="Time since the process started.", unit=Unit.SECONDS,
    ),
    Column(
        key="command", title="COMMAND", width=0, rank=0, text=_command, sort=_command, help="Command line.",
        is_text=True, words=("cmd",),
    ),
)  # fmt: skip
COLUMN_BY_KEY: Final = {column.key: column for column in COLUMNS}
