"""Tagged processes: by identity, so that a tag never passes to the next process of a pid."""

from collections.abc import Set as AbstractSet

from gputop.core.model.process_id import ProcessId
from gputop.core.model.sample import Frame, HostProcess
from gputop.core.text.fit import fit
from gputop.ui.render.line import Line
from gputop.ui.state.rows import TableLine
from gputop.ui.state.signal_targets import all_processes

MARK = "*"


class Tags:
    """The identities of tagged processes."""

    def __init__(self) -> None:
        self.ids: frozenset[ProcessId] = frozenset()

    def toggle(self, ids: AbstractSet[ProcessId]) -> None:
        """Tag all of these; if all have a tag, untag them."""
        self.ids = self.ids - ids if ids <= self.ids else self.ids | ids

    def clear(self) -> bool:
        """Remove all tags; return whether there were any."""
        had, self.ids = bool(self.ids), frozenset()
        return had

    def keep(self, frame: Frame | None) -> None:
        """Forget processes that have exited."""
        if self.ids and frame is not None:
            self.ids &= all_processes(frame).keys()

    @property
    def text(self) -> str:
        """``3 tagged,`` for a title; empty without tags."""
        return f"{len(self.ids)} tagged, " if self.ids else ""


def process_ids(entry: TableLine) -> frozenset[ProcessId]:
    """Return the process of a line, or all processes of a group."""
    match entry.key:
        case ("process", int(pid), int() | None as start_ticks):  # of the tree, folded or not
            return frozenset({ProcessId(pid, start_ticks)})
    return frozenset(process.id for process in entry.processes)


def pointed_at(entry: TableLine, frame: Frame) -> HostProcess | None:
    """Return the process of a line; of a group the first."""
    if entry.is_group:
        return find(frame, entry.processes[0].id)
    return next((found for name in process_ids(entry) if (found := find(frame, name))), None)


def find(frame: Frame, name: ProcessId) -> HostProcess | None:
    """Return the process or relative of this identity."""
    return next((each for held in (frame.processes, frame.relatives) for each in held if each.id == name), None)


def tagged(line: Line) -> Line:
    """Return the line of a tagged process: a mark in its first cell, and one ink."""
    text = "".join(part for part, _ in line.spans)
    return Line(((MARK, "hot"), (text[1:] if text[:1].isascii() else fit(text[1:], len(text)), "warm")), line.base)
