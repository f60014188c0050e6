"""The explanation as sections of text, for the page and for `gputop explain`: the odd processes first."""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import Final

from gputop.core.insight.collectives import CollectiveGroup, Collectives, RankCount
from gputop.core.insight.explanation import Explanation, SourceReport, SourceState
from gputop.core.insight.kernel import KernelPlace, KernelPlaces
from gputop.core.insight.mps import MpsServer, MpsServers
from gputop.core.insight.names import Names, Who, ranks_text
from gputop.core.insight.stacks import StackFrame, StackGroup, Stacks
from gputop.core.inspection.text import Row, Section, state_text
from gputop.core.model.units import NOTHING, duration_text
from gputop.core.text.cells import width
from gputop.core.text.fit import fit

FEW_FRAMES: Final = 6
_MOST_CLIENTS: Final = 16
_LIBRARY: Final = re.compile(r".*/(?:(?:site|dist)-packages|python3\.\d+)/")


def sections(explanation: Explanation, *, most_frames: int | None = FEW_FRAMES) -> list[Section]:
    """Return the sources with their states, then a section per answer. ``most_frames``: of a stack; None is all."""
    names = Names(explanation.members, most=None)
    room = max((width(source.title) for source in explanation.sources), default=0)
    rows = tuple(Row("", f"{fit(source.title, room)}  {_state(source)}") for source in explanation.sources)
    answers = [_section(source, names, most_frames) for source in explanation.sources]
    states = [Section("sources", "Sources", rows)] if rows else []
    return [*states, *(answer for answer in answers if answer is not None)]


def lines(explanation: Explanation) -> Iterator[str]:
    """Return an explanation as plain lines: the verdict, the state of each source, then all answers."""
    yield explanation.problem or explanation.verdict
    for section in sections(explanation, most_frames=None):
        yield ""
        yield section.title + (f" ({section.note})" if section.note else "")
        yield from (f"  {row.text}" for row in section.rows)


def frame_text(frame: StackFrame) -> str:
    """Return ``DataLoader.__next__  torch/utils/data/dataloader.py:88``: the path of a library begins at its name."""
    path = _LIBRARY.sub("", frame.file)
    place = f"{path}:{frame.line}" if path and frame.line else path
    return f"{frame.function}  {place}".rstrip()


def _state(source: SourceReport) -> str:
    if source.state is SourceState.ASKED:
        return "asked…"
    took = f" in {duration_text(source.took_s)}" if source.took_s and source.took_s >= 1.0 else ""
    parts = [source.state.value + took, source.note]
    text = ": ".join(part for part in parts if part)
    purpose = "For more" if source.state is SourceState.ANSWERED else "To make it available"
    return f"{text}. {purpose}: {source.remedy}" if source.remedy else text


def _section(source: SourceReport, names: Names, most_frames: int | None) -> Section | None:
    match source.details:
        case Stacks() as stacks:
            rows = tuple(_stack_rows(stacks, names, most_frames))
        case KernelPlaces(places=places):
            rows = tuple(_kernel_rows(places, names))
        case Collectives() as collectives:
            rows = tuple(_collective_rows(collectives, most_frames))
        case MpsServers(servers=servers):
            rows = tuple(_mps_rows(servers, names))
        case None:
            rows = tuple(Row("", line) for line in source.lines)
    note = "" if not isinstance(source.details, Collectives) or source.details.age_s is None else _age(source.details)
    return Section(source.name, source.title, rows, note) if rows else None


def _age(collectives: Collectives) -> str:
    return f"written {duration_text(collectives.age_s)} ago"


def _stack_rows(stacks: Stacks, names: Names, most: int | None) -> Iterator[Row]:
    for group in stacks.groups:
        yield Row("", f"{names.of(Who(group.pids))}{_mark(group)}")
        yield from _frame_rows(group.frames, most)
    unread: dict[str, list[int]] = {}
    for each in stacks.unread:
        unread.setdefault(each.reason, []).append(each.pid)
    yield from (Row("", f"{names.of(Who(tuple(pids)))}: {reason}") for reason, pids in unread.items())


def _mark(group: StackGroup) -> str:
    thread = f", thread {group.thread}" if group.thread and group.thread != "MainThread" else ""
    return thread + (" (differs from the others)" if group.is_odd else "")


def _frame_rows(frames: Sequence[StackFrame], most: int | None, indent: str = "  ") -> Iterator[Row]:
    shown = len(frames) if most is None or len(frames) <= most + 1 else most
    for frame in frames[:shown]:
        yield Row("", f"{indent}{frame_text(frame)}")
    if len(frames) > shown:
        yield Row("", f"{indent}and {len(frames) - shown} more frames")


def _mps_rows(servers: Iterable[MpsServer], names: Names) -> Iterator[Row]:
    for server in servers:
        count = len(server.clients)
        yield Row("", f"server {server.pid}: {server.state or NOTHING}, {count} client{'' if count == 1 else 's'}")
        for client in server.clients[:_MOST_CLIENTS]:
            device = f" on {client.device}" if client.device else ""
            name = names.of(Who((client.pid,)))
            own = f" ({name})" if name != f"pid {client.pid}" else ""
            yield Row("", f"  client {client.pid}{device}{own}")
        if count > _MOST_CLIENTS:
            yield Row("", f"  and {count - _MOST_CLIENTS} more clients")
        if server.has_fault:
            yield Row("", "  It takes new clients when all of its present clients have ended.")


def _kernel_rows(places: Iterable[KernelPlace], names: Names) -> Iterator[Row]:
    held: dict[str, list[int]] = {}
    for place in places:
        held.setdefault(_kernel_text(place), []).append(place.pid)
    for text, pids in sorted(held.items(), key=lambda item: len(item[1])):
        yield Row("", f"{names.of(Who(tuple(pids)))}: {text}")


def _kernel_text(place: KernelPlace) -> str:
    if not place.state:
        return place.reason
    wait = f", waits in {place.wait_channel}" if place.wait_channel else ""
    call = f", system call {place.system_call}" if place.system_call else ""
    reason = f"; {place.reason}" if place.reason else ""
    return f"{place.state} {state_text(place.state)}{wait}{call}{reason}"


def _collective_rows(collectives: Collectives, most: int | None) -> Iterator[Row]:
    for group in collectives.groups:
        moving = {True: "; its counts grow", False: "; its counts do not grow", None: ""}[group.is_moving]
        yield Row("", f"{group.name}: {group.size} rank{'' if group.size == 1 else 's'}{moving}")
        for missing in group.missing:
            yield Row("", f"  rank {missing.rank}{_host(missing)}: {missing.status or 'missing'}")
        for ranks in _equal(group):
            is_behind = ranks[0].rank in group.behind
            numbers = tuple(one.rank for one in ranks)
            yield Row("", f"  {ranks_text(numbers)}: {_count_text(ranks[0])}{' (behind)' if is_behind else ''}")
        waiting = next((one for one in group.ranks if one.frames), None)
        if waiting is not None:
            yield Row("", f"  rank {waiting.rank} waits in")
            yield from _frame_rows(waiting.frames, most, indent="    ")


def _equal(group: CollectiveGroup) -> list[list[RankCount]]:
    """Return the ranks with equal counts together, those behind first."""

    def key(one: RankCount) -> tuple[bool, int, int, str, str]:
        entered, completed = (-1 if value is None else value for value in (one.entered, one.completed))
        return one.rank not in group.behind, entered, completed, one.operation, one.status

    return [list(ranks) for _, ranks in groupby(sorted(group.ranks, key=lambda one: (key(one), one.rank)), key)]


def _count_text(one: RankCount) -> str:
    entered = NOTHING if one.entered is None else f"{one.entered:,}"
    completed = "" if one.completed is None else f", completed {one.completed:,}"
    operation = f", {one.operation}" if one.operation else ""
    status = f", {one.status}" if one.status else ""
    return f"entered {entered}{completed}{operation}{status}"


def _host(one: RankCount) -> str:
    return f" on {one.host}" if one.host else ""
