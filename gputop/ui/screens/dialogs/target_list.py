"""Frozen list of the targets of a change, as lines."""

from collections.abc import Mapping, Sequence
from typing import Final, overload

from msgspec import Struct

from gputop.core.model.process_id import ProcessId
from gputop.core.model.sample import HostProcess, Presence
from gputop.core.model.units import NOTHING, bytes_text, duration_text
from gputop.core.text.cells import width
from gputop.core.text.fit import fit, fit_right
from gputop.core.text.ranges import ranges
from gputop.ui.render.line import Line
from gputop.ui.state.signal_targets import TargetSelection, gpu_bytes

SENT: Final = "→"
_WIDE: Final = 44  # with the age
_WIDER: Final = 52  # with the nice value


class Shape(Struct, frozen=True):
    """Width of the list; ``has_inner``: whether it has a column of pids inside containers; ``has_ranks``: of ranks."""

    width: int
    has_inner: bool = False
    has_ranks: bool = False


def head(shape: Shape) -> Line:
    """Return the column titles."""
    titles = ("PID", "IN-PID", "RANK", "GPU", "USER", "AGE", "GPU-MEM", "S", "NI", "COMMAND")
    return Line(((" " + _columns(titles, shape), "head"),), "text")


def shape_of(targets: Sequence[HostProcess], width: int) -> Shape:
    """Return the shape with the columns that these processes need."""
    has_inner = any(one.inner_pid is not None for one in targets)
    return Shape(width, has_inner=has_inner, has_ranks=any(one.owner.rank is not None for one in targets))


class Listed(Sequence[Line]):
    """A line per process, and its obstacle, if any, on a line below. Each line is made when it is read.

    ``via_launcher``: of `TargetSelection.via_launcher`; with such targets, the recipients of the signal have a mark.
    """

    def __init__(
        self,
        selection: TargetSelection,
        targets: Sequence[HostProcess],
        via_launcher: Mapping[ProcessId, HostProcess],
        shape: Shape,
    ) -> None:
        self._selection, self._via_launcher, self._shape = selection, via_launcher, shape
        self._selected_ids = {one.id for one in selection.selected} if len(selection.selected) < len(targets) else set()
        self._held: list[tuple[HostProcess, str]] = []  # an empty text: the line of the process itself
        is_said_above = bool(foreign_owners(selection, targets))
        for one in targets:
            self._held.append((one, ""))
            obstacle = selection.obstacle(one)
            if obstacle and not is_said_above:
                self._held.append((one, obstacle))

    def __len__(self) -> int:
        return len(self._held)

    @overload
    def __getitem__(self, at: int) -> Line: ...

    @overload
    def __getitem__(self, at: slice) -> list[Line]: ...

    def __getitem__(self, at: int | slice) -> Line | list[Line]:
        if isinstance(at, slice):
            return [self._line(*held) for held in self._held[at]]
        return self._line(*self._held[at])

    def _line(self, one: HostProcess, obstacle: str) -> Line:
        if obstacle:
            return Line((("   └ ", "faint"), (fit(obstacle, max(4, self._shape.width - 5)), "warm")))
        is_spared = one.id in self._via_launcher
        mark = (SENT if self._via_launcher and not is_spared else " ", "accent")
        ink = "muted" if is_spared else "title" if one.id in self._selected_ids else "text"
        return Line((mark, (_columns(_texts(self._selection, one), self._shape), ink)))


def foreign_owners(selection: TargetSelection, targets: Sequence[HostProcess]) -> str:
    """Return the owners of the targets if changes of all of them need root; else nothing."""
    owners = {selection.foreign_owner(one) for one in targets}
    return "" if "" in owners else ", ".join(sorted(owners))


def window(all_lines: Sequence[Line], top: int, room: int) -> tuple[list[Line], int]:
    """Return the lines that fit, and the top they begin at; the last line counts the hidden ones."""
    if len(all_lines) <= room:
        return list(all_lines), 0
    shown = max(1, room - 1)
    top = max(0, min(top, len(all_lines) - shown))
    rest = len(all_lines) - shown
    more = Line(((f"lines {top + 1}-{top + shown} of {shown + rest}: PgUp PgDn", "muted"),))
    return [*all_lines[top : top + shown], more], top


def _texts(selection: TargetSelection, one: HostProcess) -> tuple[str, ...]:
    age = None if one.started_s is None else max(0.0, selection.frame.time_s - one.started_s)
    nice, inner, rank = (
        NOTHING if value is None else str(value) for value in (one.nice, one.inner_pid, one.owner.rank)
    )
    gpus = ranges(tuple(use.gpu_index for use in one.gpus)) or NOTHING
    command = one.command if one.presence is Presence.ALIVE else one.presence.text
    return (
        str(one.pid), inner, rank, gpus, one.user or NOTHING, duration_text(age), bytes_text(gpu_bytes(one)),
        one.state or NOTHING, nice, command,
    )  # fmt: skip


def _columns(texts: tuple[str, ...], shape: Shape) -> str:
    pid, inner, rank, gpus, user, age, memory, state, nice, command = texts
    taken = 7 * shape.has_inner + 5 * shape.has_ranks
    head = fit_right(pid, 7) + " " + (fit_right(inner, 6) + " " if shape.has_inner else "")
    head += (fit_right(rank, 4) + " " if shape.has_ranks else "") + f"{fit_right(gpus, 3)} {fit(user, 8)} "
    head += fit_right(age, 6) + " " if shape.width >= _WIDE + taken else ""
    head += f"{fit_right(memory, 7)} {fit(state, 1)} "
    if shape.width >= _WIDER + taken:
        head += fit_right(nice, 3) + " "
    room = shape.width - 1 - width(head)
    return head + fit(_shortened(command, room), max(1, room))


def _shortened(command: str, room: int) -> str:
    """Return the command, without the program's directory if that does not fit."""
    program, blank, rest = command.partition(" ")
    name = program.rpartition("/")[2]
    return name + blank + rest if len(command) > room and name else command
