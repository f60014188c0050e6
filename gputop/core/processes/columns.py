"""The columns of the process table, one row each: title, width, text, sort value, rank."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from operator import attrgetter, itemgetter
from typing import Final

from gputop.core.model.catalogue import MEMORY_TOTAL
from gputop.core.model.field import FilterValue
from gputop.core.model.metric import Unit
from gputop.core.model.sample import Frame, Gpu, Presence
from gputop.core.model.units import NOTHING, bytes_text, duration_text, number_text, value_text
from gputop.core.processes.column import Column, Row
from gputop.core.table_rows import joined

_VALUE: Final = itemgetter(0)
_PLACE: Final = itemgetter(1)
_FEW_ROWS: Final = 4
_PID_BITS: Final = 22
_CHOSEN_RANK: Final = 2.5  # of chosen optional columns: they are dropped before USER and SM%, after the rest


def rows(frame: Frame) -> list[Row]:
    """Return a row per process and GPU."""
    totals = _memory_totals(frame.gpus)
    jobs = {(one.pid, one.start_ticks): job for job in frame.jobs for one in job.members}
    return [
        Row(
            process, use, frame.time_s, totals.get((use.gpu, use.gpu_instance)),
            jobs.get((process.pid, process.start_ticks)),
        )
        for process in frame.processes
        for use in process.gpus
    ]  # fmt: skip


def sorted_rows(unsorted: Iterable[Row], column: Column, *, is_reversed: bool) -> list[Row]:
    """Sort the rows; absent values come last in both directions, GPU and pid decide ties so that no row jumps."""
    sort = column.sort
    placed = [(sort(row), (row.use.gpu_index << _PID_BITS) + row.process.pid, row) for row in unsorted]
    placed.sort(key=_PLACE)
    known = [entry for entry in placed if entry[0] is not None]
    known.sort(key=_VALUE, reverse=is_reversed)  # one column has values of one type
    return [entry[2] for entry in known] + [entry[2] for entry in placed if entry[0] is None]


def used_columns(shown: Iterable[Row], before: frozenset[str] = frozenset()) -> frozenset[str]:
    """Return the keys of the only-if-used columns that have values in enough rows, and of those in ``before``."""
    shown = list(shown)
    unused = [column for column in COLUMNS if column.only_if_used and column.key not in before]
    return before | {column.key for column in unused if _is_used(column, shown)}


def _is_used(column: Column, shown: Sequence[Row]) -> bool:
    users = sum(1 for row in shown if (column.is_used or column.sort)(row))
    return users >= column.least_rows or bool(users and len(shown) <= _FEW_ROWS)


def visible_columns(
    room: int,
    shown: Iterable[Row],
    *,
    least_command: int = 16,
    used: frozenset[str] | None = None,
    chosen: Sequence[str] | None = None,
) -> list[Column]:
    """Return the columns that fit in ``room`` cells with a blank between each two.

    ``used``: the result of `used_columns`, if it is already known. ``chosen``: keys of the wanted columns, in their
    order; None means all that are not optional, in the order of `COLUMNS`. Unknown keys have no effect. Of the columns
    that do not fit, a chosen optional one leaves after most others, because the user chose it.
    """
    if used is None:
        used = used_columns(shown)
    wanted = DEFAULT_COLUMNS if chosen is None else [COLUMN_BY_KEY[key] for key in chosen if key in COLUMN_BY_KEY]
    visible = [column for column in wanted if not column.only_if_used or column.key in used]
    dropped: list[Column] = []
    while any(c.rank for c in visible) and _width(visible, least_command) > room:
        dropped.append(max(reversed(visible), key=_rank))
        visible.remove(dropped[-1])
    for column in reversed(dropped):  # a narrow one may fit after all, once a wide one was dropped
        more = [c for c in wanted if c in visible or c is column]
        visible = more if _width(more, least_command) <= room else visible
    return visible


def _width(columns: Sequence[Column], least_command: int) -> int:
    return sum((column.width or least_command) + 1 for column in columns) - 1


def _rank(column: Column) -> float:
    return _CHOSEN_RANK + column.rank / 100 if column.is_optional else column.rank


def _memory_totals(gpus: Sequence[Gpu]) -> Mapping[tuple[str, int | None], int | None]:
    """Return the memory of each GPU, and of each of its instances by the instance's number."""
    whole: dict[tuple[str, int | None], int | None] = {(gpu.uuid, None): gpu[MEMORY_TOTAL] for gpu in gpus}
    return whole | {(gpu.uuid, part.id): part[MEMORY_TOTAL] for gpu in gpus for part in gpu.instances}


def _run_time(row: Row) -> float | None:
    started = row.process.started_s
    return None if started is None else max(0.0, row.time_s - started)


def _percent_done(row: Row) -> float | None:
    progress = row.process.progress
    return progress.percent if progress else None


def _left_s(row: Row) -> float | None:
    progress = row.process.progress
    return progress.left_s(row.time_s) if progress else None


def _command(row: Row) -> str:
    return row.process.command if row.process.presence is Presence.ALIVE else row.process.presence.text


def _known_command(row: Row) -> str | None:
    """Return the command line for a filter; None if it could not be read."""
    is_unknown = "command" in row.process.missing or row.process.presence is Presence.HIDDEN
    return None if is_unknown else _command(row)


def _memory_percent(row: Row) -> float | None:
    used, total = row.use.memory_bytes, row.gpu_total_bytes
    return None if used is None or not total else min(100.0, 100 * used / total)


def _job(row: Row) -> str | None:
    return row.job.label if row.job else row.process.owner.named("slurm")


def _session(row: Row) -> str | None:
    owner = row.process.owner
    return " ".join(part for part in (owner.session, owner.terminal) if part) or None


def _named(value: Callable[[Row], str | None]) -> Callable[[Row], str]:
    """Return a function for the text of a value that is a name or absent."""
    return lambda row: value(row) or NOTHING


def _job_names(row: Row) -> tuple[str, ...] | None:
    slurm = row.process.owner.slurm
    return _names(row, "slurm", row.job.label if row.job else None, *((slurm.job, slurm.text) if slurm else ()))


def _container_names(row: Row) -> tuple[str, ...] | None:
    container = row.process.owner.container
    return _names(row, "container", *((container.text, container.id) if container else ()))


def _pod_names(row: Row) -> tuple[str, ...] | None:
    pod = row.process.owner.pod
    return _names(row, "pod", *((pod.text, pod.uid) if pod else ()))


def _known(field: str, value: Callable[[Row], str | None]) -> Callable[[Row], FilterValue]:
    """Return the value for filters: an empty tuple if the process is known to have no such owner."""
    return lambda row: _names(row, field, value(row))


def _names(row: Row, field: str, *texts: str | None) -> tuple[str, ...] | None:
    """Return the texts that are not empty; None if there are none and one may exist."""
    owner = row.process.owner
    known = tuple(text for text in texts if text)
    return None if not known and (field in owner.missing or row.process.presence is not Presence.ALIVE) else known


def _container(row: Row) -> str | None:
    return row.process.owner.named("container")


def _pod(row: Row) -> str | None:
    return row.process.owner.named("pod")


def _gpu(row: Row) -> str:
    instance = row.use.gpu_instance
    return str(row.use.gpu_index) if instance is None else f"{row.use.gpu_index}:{instance}"


_OWN: Final = (
    Column(
        key="gpu", title="GPU", width=4, rank=0, tone="title", is_name=True, text=_gpu,
        sort=lambda r: r.use.gpu_index + (r.use.gpu_instance or 0) / 1000,
        help="GPU index, and after a colon the GPU instance.", value=lambda r: r.use.gpu_index,
    ),
    Column(
        key="pid", title="PID", width=7, rank=0, is_name=True, is_searched=True,
        text=lambda r: str(r.process.pid), sort=lambda r: r.process.pid,
        help="Process ID, as the driver reports it.",
    ),
    Column(
        key="user", title="USER", width=8, rank=2, is_searched=True, text=lambda r: r.process.user or NOTHING,
        sort=lambda r: r.process.user, help="User who runs the process.", is_text=True,
    ),
    Column(
        key="type", title="TYPE", width=4, rank=8, tone="muted", text=lambda r: r.use.type, sort=lambda r: r.use.type,
        help="C compute, G graphics, M client of MPS.", is_text=True,
    ),
    Column(
        key="gpu_memory", title="GPU-MEM", width=7, rank=0, tone="memory",
        text=lambda r: bytes_text(r.use.memory_bytes),
        sort=lambda r: r.use.memory_bytes, help="GPU memory that the process holds.", unit=Unit.BYTES,
    ),
    Column(
        key="sm", title="SM%", width=4, rank=1, tone="utilization", text=lambda r: number_text(r.use.sm_percent),
        sort=lambda r: r.use.sm_percent, unit=Unit.PERCENT,
        help="Estimated share of time in which kernels of the process ran. It is not SM of the GPU card.",
    ),
    Column(
        key="memory_utilization", title="MBW%", width=4, rank=7,
        text=lambda r: number_text(r.use.memory_utilization_percent),
        sort=lambda r: r.use.memory_utilization_percent,
        help="Share of time the memory controller was busy.", unit=Unit.PERCENT,
    ),
    Column(
        key="encoder", title="ENC%", width=4, rank=11, text=lambda r: number_text(r.use.encoder_percent),
        sort=lambda r: r.use.encoder_percent, help="Video encoder use. Hidden while nothing uses it.",
        only_if_used=True, unit=Unit.PERCENT,
    ),
    Column(
        key="decoder", title="DEC%", width=4, rank=11, text=lambda r: number_text(r.use.decoder_percent),
        sort=lambda r: r.use.decoder_percent, help="Video decoder use. Hidden while nothing uses it.",
        only_if_used=True, unit=Unit.PERCENT,
    ),
    Column(
        key="cpu", title="CPU%", width=5, rank=3, tone="cpu", text=lambda r: number_text(r.process.cpu_percent),
        sort=lambda r: r.process.cpu_percent, help="Percent of one core: 8 busy threads make 800.",
        unit=Unit.PERCENT,
    ),
    Column(
        key="busiest_thread", title="THR%", width=4, rank=9,
        text=lambda r: number_text(r.process.busiest_thread_percent),
        sort=lambda r: r.process.busiest_thread_percent, unit=Unit.PERCENT, words=("thread",),
        help="CPU use of the busiest thread: 100 is one core.",
    ),
    Column(
        key="memory", title="RSS", width=7, rank=5, text=lambda r: bytes_text(r.process.memory_bytes),
        sort=lambda r: r.process.memory_bytes, help="Host memory that is resident in RAM.", unit=Unit.BYTES,
        words=("mem",),
    ),
    Column(
        key="state", title="S", width=1, rank=6, tone="muted", text=lambda r: r.process.state or NOTHING,
        sort=lambda r: r.process.state, help="R running, S sleeping, D waiting in the kernel, T stopped, Z zombie.",
        is_text=True,
    ),
    Column(
        key="nice", title="NI", width=3, rank=10, tone="muted", is_name=True,
        text=lambda r: number_text(r.process.nice),
        sort=lambda r: r.process.nice, help="Nice value: -20 is the highest priority, 19 the lowest.",
    ),
    Column(
        key="threads", title="NLWP", width=4, rank=10, tone="muted", text=lambda r: number_text(r.process.threads),
        sort=lambda r: r.process.threads, help="Number of threads.",
    ),
    Column(
        key="time", title="TIME", width=6, rank=4, tone="muted",
        text=lambda r: duration_text(_run_time(r)), sort=_run_time,
        help="Time since the process started.", unit=Unit.SECONDS,
    ),
    Column(
        key="progress", title="PROGRESS", width=11, rank=5, sort=_percent_done, unit=Unit.PERCENT, only_if_used=True,
        is_used=lambda r: r.process.progress, least_rows=2,
        text=lambda r: r.process.progress.text(r.time_s) if r.process.progress else NOTHING,
        help="Reported progress and time left; ago: age of an old report. Without a total: the step.",
    ),
    Column(
        key="left", title="LEFT", width=6, rank=15, text=lambda r: duration_text(_left_s(r)), sort=_left_s,
        help="Remaining time, estimated from progress reports.", unit=Unit.SECONDS, is_optional=True, words=("eta",),
    ),
    Column(
        key="gpu_memory_percent", title="GMEM%", width=5, rank=12, text=lambda r: number_text(_memory_percent(r)),
        sort=_memory_percent, help="GPU memory of the process, in percent of the memory of the GPU or GPU instance.",
        unit=Unit.PERCENT, is_optional=True,
    ),
    Column(
        key="gpu_seconds", title="GPU-TIME", width=8, rank=13, text=lambda r: duration_text(r.use.gpu_seconds),
        sort=lambda r: r.use.gpu_seconds, help="Time in which kernels of the process ran, since gputop first saw it.",
        unit=Unit.SECONDS, is_optional=True,
    ),
    Column(
        key="energy", title="ENERGY", width=8, rank=14, text=lambda r: value_text(r.use.energy_j, Unit.JOULES),
        sort=lambda r: r.use.energy_j, unit=Unit.JOULES, is_optional=True,
        help="Energy used since first seen (an estimate).",
    ),
    Column(
        key="job", title="JOB", width=16, rank=15, text=_named(_job), sort=_job, is_text=True, is_optional=True,
        help="Slurm job and step. Without Slurm: the launcher or group that gputop found. ?: only claimed.",
        value=_job_names,
    ),
    Column(
        key="container", title="CONTAINER", width=14, rank=16, text=_named(_container), sort=_container, is_text=True,
        is_optional=True, help="Name of the container, or the beginning of its ID. ?: only claimed.",
        value=_container_names,
    ),
    Column(
        key="pod", title="POD", width=20, rank=17, text=_named(_pod), sort=_pod, is_text=True, is_optional=True,
        help="Name of the Kubernetes pod, or the beginning of its UID. ?: only claimed.", value=_pod_names,
    ),
    Column(
        key="framework", title="KIND", width=18, rank=18, text=_named(lambda r: r.process.owner.framework),
        sort=lambda r: r.process.owner.framework, is_text=True, is_optional=True,
        help="Kind of program, by its command line: a rank of torchrun, vLLM, a Jupyter kernel.",
        value=_known("framework", lambda r: r.process.owner.framework),
    ),
    Column(
        key="environment", title="ENVIRONMENT", width=14, rank=19, text=_named(lambda r: r.process.owner.environment),
        sort=lambda r: r.process.owner.environment, is_text=True, is_optional=True,
        help="Name of the conda environment or venv.",
        value=_known("environment", lambda r: r.process.owner.environment), words=("env",),
    ),
    Column(
        key="unit", title="UNIT", width=20, rank=20, text=_named(lambda r: r.process.owner.unit),
        sort=lambda r: r.process.owner.unit, is_text=True, is_optional=True,
        help="systemd service or scope in which the process runs.",
        value=_known("unit", lambda r: r.process.owner.unit),
    ),
    Column(
        key="session", title="SESSION", width=12, rank=21, text=_named(_session), sort=_session, is_text=True,
        is_optional=True, help="tmux, screen, ssh or login session that started the process, and its terminal.",
        value=_known("session", _session),
    ),
    Column(
        key="command", title="COMMAND", width=0, rank=0, text=_command, sort=_command, value=_known_command,
        help="Command line.",
        is_text=True, words=("cmd",),
    ),
)  # fmt: skip
COLUMNS: Final = joined("columns", _OWN, attrgetter("key"), last=1)  # the command fills the rest of the line
DEFAULT_COLUMNS: Final = tuple(column for column in COLUMNS if not column.is_optional)
COLUMN_BY_KEY: Final = {column.key: column for column in COLUMNS}
