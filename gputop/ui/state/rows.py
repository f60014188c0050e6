"""The lines of the process table: processes as a list, as a tree, or in groups with sums."""

from collections.abc import Iterable, Mapping, Sequence
from enum import Enum
from typing import Final, TypeAlias, overload

from msgspec import Struct
from msgspec.structs import replace

from gputop.core.model.process_id import ProcessId
from gputop.core.model.sample import Frame, GpuProcess, HostProcess, Job, JobKind
from gputop.core.model.units import NOTHING
from gputop.core.processes.column import Column, Row
from gputop.core.processes.columns import sorted_rows
from gputop.core.processes.sums import sums
from gputop.core.text.ranges import ranges
from gputop.ui.state.tree import TreeNode, process_tree

LineKey: TypeAlias = tuple[int | str | None, ...]
_LAST: Final = 10**6  # where processes without a GPU are put among those with one


class Grouping(str, Enum):
    """How the table groups processes."""

    PROCESSES = "processes"
    TREE = "tree"
    JOB = "by job"
    USER = "by user"
    CONTAINER = "by container"
    GPU = "by GPU"


class TableLine(Struct, frozen=True, kw_only=True, gc=False):
    """A line. ``row``: the values of its columns, of one process on one GPU or the sums of ``rows``.

    ``instead``: texts by column that replace the row's own. ``is_open``: None if nothing can be folded.
    ``parent``: key of the line that folds this one away. ``is_group``: the line of a group.
    """

    key: LineKey
    row: Row
    rows: tuple[Row, ...]
    instead: Mapping[str, str] = {}
    prefix: str = ""
    is_open: bool | None = None
    parent: LineKey | None = None
    is_group: bool = False

    @property
    def processes(self) -> tuple[HostProcess, ...]:
        """The processes of the line, each once."""
        held = {row.process.id: row.process for row in self.rows}
        return tuple(held.values()) or (self.row.process,)


class LazyLines(Sequence[TableLine]):
    """A line for each row, made on access: of thousands of rows a screen shows a few."""

    def __init__(self, rows: Sequence[Row]) -> None:
        self._rows = rows

    def __len__(self) -> int:
        return len(self._rows)

    @overload
    def __getitem__(self, at: int) -> TableLine: ...

    @overload
    def __getitem__(self, at: slice) -> list[TableLine]: ...

    def __getitem__(self, at: int | slice) -> TableLine | list[TableLine]:
        if isinstance(at, slice):
            return [_single(row) for row in self._rows[at]]
        return _single(self._rows[at])


class Order(Struct, frozen=True):
    """The column that sorts."""

    column: Column
    is_reversed: bool = False

    def of(self, table_lines: Iterable[TableLine]) -> list[TableLine]:
        """Return entries in order."""
        held = {id(entry.row): entry for entry in table_lines}
        if len(held) < 2:
            return list(held.values())
        found = sorted_rows([entry.row for entry in held.values()], self.column, is_reversed=self.is_reversed)
        return [held[id(row)] for row in found]


def table_lines(
    frame: Frame, kept: Sequence[Row], grouping: Grouping, order: Order, folded: frozenset[LineKey]
) -> Sequence[TableLine]:
    """Return the lines for these rows. ``folded``: keys of the lines that hide their children."""
    if grouping is Grouping.PROCESSES:
        return LazyLines(sorted_rows(kept, order.column, is_reversed=order.is_reversed))
    if grouping is Grouping.TREE:
        return _tree(frame, kept, order, folded)
    return _groups(frame, kept, grouping, order, folded)


def _single(row: Row, prefix: str = "", parent: LineKey | None = None) -> TableLine:
    return TableLine(key=row.key, row=row, rows=(row,), prefix=prefix, parent=parent)


# --- groups --------------------------------------------------------------------------------------------------------
def _groups(
    frame: Frame, kept: Sequence[Row], grouping: Grouping, order: Order, folded: frozenset[LineKey]
) -> list[TableLine]:
    held: dict[str, tuple[str, list[Row]]] = {}
    singles: list[TableLine] = []
    names = {gpu.index: gpu.name for gpu in frame.gpus}
    for row in kept:
        name = _group_of(row, grouping, names)
        if name is None:
            singles.append(_single(row))
        else:
            held.setdefault(name[0], (name[1], []))[1].append(row)
    others = _others(frame) if grouping is Grouping.JOB else {}
    heads = [_head(grouping, key, (label, rows, others.get(key, [])), folded) for key, (label, rows) in held.items()]
    found: list[TableLine] = []
    for head in order.of([*heads, *singles]):
        found.append(head)
        if head.is_open:
            inner = sorted_rows(head.rows, order.column, is_reversed=order.is_reversed)
            found += [_single(row, "   ", head.key) for row in inner]
    return found


def _group_of(row: Row, grouping: Grouping, names: Mapping[int, str]) -> tuple[str, str] | None:
    """Return key and label of a row's group; None if it is in none."""
    owner = row.process.owner
    if grouping is Grouping.JOB:
        return _job(row.job, row.process.command) if row.job else None
    if grouping is Grouping.USER:
        return (row.process.user or "", row.process.user or "user unknown")
    if grouping is Grouping.GPU:
        index = row.use.gpu_index
        return (str(index), f"GPU {index} {names.get(index, '')}")
    if owner.pod:
        return _whose(row.process, "pod", owner.pod.uid, f"pod {owner.named('pod')}")
    if owner.container:
        container = owner.container
        return _whose(
            row.process, "container", container.id or container.text, f"{container.runtime} {owner.named('container')}"
        )
    return ("", "container unknown") if "container" in owner.missing else ("", "no container")


def _whose(process: HostProcess, field: str, key: str, label: str) -> tuple[str, str]:
    """Return key and label of a pod or container; one that a process only claims is a group of its user."""
    if field in process.owner.trusted:
        return key, label
    return f"{process.user or ''}:{key}", f"{label} of {process.user or 'an unknown user'}"


def _job(job: Job, command: str) -> tuple[str, str]:
    """Return key and label; after a number or an id the label has the command of a worker."""
    is_told = job.kind in {JobKind.LAUNCHER, JobKind.PROCESS}
    return job.key, f"{job.kind.value} {job.label}" + ("" if is_told else f"  {command}")


def _others(frame: Frame) -> dict[str, list[Row]]:
    """Return the members of each job that use no GPU: the sums include them."""
    known = {one.id: one for one in frame.relatives}
    return {
        job.key: [_without_gpu(known[one], _LAST, frame.time_s) for one in job.members if one in known]
        for job in frame.jobs
    }


def _without_gpu(process: HostProcess, place: int, time_s: float) -> Row:
    """Return a row for a process that uses no GPU; ``place``: index of the GPU that it is listed with."""
    return Row(process, GpuProcess(gpu="", gpu_index=place, type=NOTHING), time_s)


def _head(
    grouping: Grouping, key: str, group: tuple[str, Sequence[Row], Sequence[Row]], folded: frozenset[LineKey]
) -> TableLine:
    """Return the line of a group, with the sums of its rows and its other members."""
    label, rows, others = group
    whole: LineKey = (grouping.value, key)
    is_open = whole not in folded
    count = len({row.process.id for row in (*rows, *others)})
    return TableLine(
        key=whole, row=_summed([*rows, *others], label), rows=tuple(rows), is_open=is_open, is_group=True,
        prefix="▼ " if is_open else "▶ ",
        instead={"gpu": _gpus(rows), "pid": f"×{count}", "state": "", "nice": "", "type": ""},
    )  # fmt: skip


def _gpus(rows: Iterable[Row]) -> str:
    return ranges(tuple(row.use.gpu_index for row in rows)) or "–"


def _summed(rows: Sequence[Row], label: str) -> Row:
    """Return a row with the sums of values, and with the values that all rows share."""
    first, total = rows[0].process, sums((row.process, row.use) for row in rows)
    started = [row.process.started_s for row in rows if row.process.started_s is not None]
    threads = {row.process.id: row.process.threads or 0 for row in rows}
    on_gpu = [row for row in rows if row.use.gpu] or rows
    users, types = {row.process.user for row in rows}, {row.use.type for row in on_gpu}
    totals = {(row.use.gpu, row.use.gpu_instance): row.gpu_total_bytes for row in on_gpu}
    process = HostProcess(
        pid=first.pid, user=first.user if len(users) == 1 else f"{len(users)} users", command=label,
        started_s=min(started, default=None), cpu_percent=total.cpu_percent, memory_bytes=total.memory_bytes,
        threads=sum(threads.values()) or None,
    )  # fmt: skip
    use = GpuProcess(
        gpu="", type=types.pop() if len(types) == 1 else "", gpu_index=min(row.use.gpu_index for row in on_gpu),
        memory_bytes=total.gpu_memory_bytes, sm_percent=total.sm_percent, gpu_seconds=total.gpu_seconds,
        energy_j=total.energy_j,
    )  # fmt: skip
    known = [held for held in totals.values() if held is not None]
    return Row(process, use, rows[0].time_s, sum(known) or None)


# --- tree ----------------------------------------------------------------------------------------------------------
def _tree(frame: Frame, kept: Sequence[Row], order: Order, folded: frozenset[LineKey]) -> list[TableLine]:
    """Return processes below their parents; a process on several GPUs is one line."""
    held: dict[ProcessId, list[Row]] = {}
    for row in kept:
        held.setdefault(row.process.id, []).append(row)
    everybody = {process.pid: process for process in (*frame.relatives, *frame.processes)}
    roots = process_tree([rows[0].process for rows in held.values()], everybody, frame.relatives)
    found: list[TableLine] = []
    _grow(found, roots, _Tree(held, order, folded, frame.time_s), "", None)
    return found


class _Tree(Struct, frozen=True):
    held: Mapping[ProcessId, list[Row]]
    order: Order
    folded: frozenset[LineKey]
    time_s: float

    def line(self, node: TreeNode, parent: LineKey | None) -> TableLine:
        """Return the line of a process; a folded one has the sums of its descendants."""
        process = node.process
        key: LineKey = ("process", process.pid, process.start_ticks)
        is_open = (key not in self.folded) if node.children else None
        rows = self.held.get(process.id, ())
        if is_open is False:
            return self._folded(node, key, parent)
        instead = {}
        if not rows:
            instead = {"gpu": NOTHING}
            place = min((row.use.gpu_index for row in self._below(node)), default=_LAST)
            row = _without_gpu(process, place, self.time_s)
        elif len(rows) == 1:
            row = rows[0]
        else:
            instead = {"gpu": _gpus(rows)}
            row = Row(process, _summed(rows, "").use, self.time_s, _summed(rows, "").gpu_total_bytes, rows[0].job)
        return TableLine(key=key, row=row, rows=tuple(rows), instead=instead, is_open=is_open, parent=parent)

    def _below(self, node: TreeNode) -> list[Row]:
        """Return the rows of a process and its descendants that use a GPU."""
        return [row for one in node.all() for row in self.held.get(one.id, [])]

    def _folded(self, node: TreeNode, key: LineKey, parent: LineKey | None) -> TableLine:
        """Return the line of a process that hides its descendants, with the sums of all."""
        everybody, rows = node.all(), self._below(node)
        others = [_without_gpu(one, _LAST, self.time_s) for one in everybody if one.id not in self.held]
        hidden = len(everybody) - 1
        whole, own = _summed([*rows, *others], ""), node.process
        process = replace(
            own, command=f"{own.command}  (+{hidden})", cpu_percent=whole.process.cpu_percent,
            memory_bytes=whole.process.memory_bytes, threads=whole.process.threads, busiest_thread_percent=None,
        )  # fmt: skip
        row = Row(process, whole.use, self.time_s, whole.gpu_total_bytes)
        instead = {"gpu": _gpus(rows)}
        return TableLine(key=key, row=row, rows=tuple(rows), instead=instead, is_open=False, parent=parent)


def _grow(found: list[TableLine], nodes: Sequence[TreeNode], tree: _Tree, indent: str, parent: LineKey | None) -> None:
    lines = {id(entry.row): (entry, node) for node in nodes for entry in (tree.line(node, parent),)}
    ordered = [lines[id(entry.row)] for entry in tree.order.of([entry for entry, _ in lines.values()])]
    for entry, node in ordered:
        is_last = node is ordered[-1][1]
        mark = "" if entry.is_open is None else "▼ " if entry.is_open else "▶ "
        branch = "" if parent is None else "└─ " if is_last else "├─ "
        found.append(replace(entry, prefix=indent + branch + mark))
        if entry.is_open:
            deeper = indent if parent is None else indent + ("   " if is_last else "│  ")
            _grow(found, node.children, tree, deeper, entry.key)
