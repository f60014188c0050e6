"""The explanation as sections of text, for the page and for `gputop explain`: the odd processes first."""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import Final

from gputop.core.insight.collectives import CollectiveGroup, Collectives, RankCount
from gputop.core.insight.explanation import Explanation, SourceReport, SourceState
from gputop.core.insight.kernel import KernelPlace, KernelPlaces
from gputop.core.insight.member import Member
from gputop.core.insight.mps import MpsServer, MpsServers
from gputop.core.insight.stacks import StackFrame, StackGroup, Stacks
from gputop.core.inspection.text import Row, Section, state_text
from gputop.core.model.units import NOTHING, duration_text
from gputop.core.text.cells import width
from gputop.core.text.fit import fit
from gputop.core.text.ranges import ranges

FEW_FRAMES: Final = 6
_MOST_CLIENTS: Final = 16
_LIBRARY: Final = re.compile(r".*/(?:(?:site|dist)-packages|python3\.\d+)/")


def sections(explanation: Explanation, *, most_frames: int | None = FEW_FRAMES) -> list[Section]:
    """Return the sources with their states, then a section per answer. ``most_frames``: of a stack; None is all."""
    by_pid = {member.pid: member for member in explanation.members}
    room = max((width(source.title) for source in explanation.sources), default=0)
    rows = tuple(Row("", f"{fit(source.title, room)}  {_state(source)}") for source in explanation.sources)
    answers = [_section(source, by_pid, most_frames) for source in explanation.sources]
    states = [Section("sources", "Sources", rows)] if rows else []
    return [*states, *(answer for answer in answers if answer is not None)]


def lines(explanation: Explanation) -> Iterator[str]:
    """Return an explanation as plain lines: the verdict, the state of each source, then all answers."""
    yield explanation.problem or explanation.verdict
    for section in sections(explanation, most_frames=None):
        yield ""
        yield section.title + (f" ({section.note})" if section.note else "")
        yield from (f"  {row.text}" for row in section.rows)


def who(pids: Iterable[int], members: dict[int, Member]) -> str:
    """Return ``rank 5``, ``ranks 0-4,6-7``, or ``pids 12, 14`` for processes without ranks."""
    pids = tuple(pids)
    ranks = [members[pid].rank for pid in pids if pid in members]
    known = tuple(rank for rank in ranks if rank is not None)
    if len(known) == len(pids) and known:
        return _ranks(known)
    return f"pid{'' if len(pids) == 1 else 's'} {', '.join(map(str, pids))}"


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


def _section(source: SourceReport, members: dict[int, Member], most_frames: int | None) -> Section | None:
    match source.details:
        case Stacks() as stacks:
            rows = tuple(_stack_rows(stacks, members, most_frames))
        case KernelPlaces(places=places):
            rows = tuple(_kernel_rows(places, members))
        case Collectives() as collectives:
            rows = tuple(_collective_rows(collectives, most_frames))
        case MpsServers(servers=servers):
            rows = tuple(_mps_rows(servers, members))
        case None:
            rows = tuple(Row("", line) for line in source.lines)
    note = "" if not isinstance(source.details, Collectives) or source.details.age_s is None else _age(source.details)
    return Section(source.name, source.title, rows, note) if rows else None


def _age(collectives: Collectives) -> str:
    return f"written {duration_text(collectives.age_s)} ago"


def _stack_rows(stacks: Stacks, members: dict[int, Member], most: int | None) -> Iterator[Row]:
    for group in stacks.groups:
        yield Row("", f"{who(group.pids, members)}{_mark(group)}")
        yield from _frame_rows(group.frames, most)
    for unread in stacks.unread:
        remedy = f". To read it: {unread.remedy}" if unread.remedy else ""
        yield Row("", f"{who((unread.pid,), members)}: {unread.reason}{remedy}")


def _mark(group: StackGroup) -> str:
    thread = f", thread {group.thread}" if group.thread and group.thread != "MainThread" else ""
    return thread + (" (differs from the others)" if group.is_odd else "")


def _frame_rows(frames: Sequence[StackFrame], most: int | None, indent: str = "  ") -> Iterator[Row]:
    shown = len(frames) if most is None or len(frames) <= most + 1 else most
    for frame in frames[:shown]:
        yield Row("", f"{indent}{frame_text(frame)}")
    if len(frames) > shown:
        yield Row("", f"{indent}and {len(frames) - shown} more frames")


def _mps_rows(servers: Iterable[MpsServer], members: dict[int, Member]) -> Iterator[Row]:
    for server in servers:
        count = len(server.clients)
        yield Row("", f"server {server.pid}: {server.state or NOTHING}, {count} client{'' if count == 1 else 's'}")
        for client in server.clients[:_MOST_CLIENTS]:
            device = f" on {client.device}" if client.device else ""
            own = f" ({members[client.pid].label})" if client.pid in members else ""
            yield Row("", f"  client {client.pid}{device}{own}")
        if count > _MOST_CLIENTS:
            yield Row("", f"  and {count - _MOST_CLIENTS} more clients")
        if server.has_fault:
            yield Row("", "  It takes new clients when all of its present clients have ended.")


def _kernel_rows(places: Iterable[KernelPlace], members: dict[int, Member]) -> Iterator[Row]:
    held: dict[str, list[int]] = {}
    for place in places:
        held.setdefault(_kernel_text(place), []).append(place.pid)
    for text, pids in sorted(held.items(), key=lambda item: len(item[1])):
        yield Row("", f"{who(pids, members)}: {text}")


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
        yield Row("", f"{group.name}: {group.size} ranks{moving}")
        for missing in group.missing:
            yield Row("", f"  rank {missing.rank}{_host(missing)}: {missing.status or 'missing'}")
        for ranks in _equal(group):
            is_behind = ranks[0].rank in group.behind
            numbers = tuple(one.rank for one in ranks)
            yield Row("", f"  {_ranks(numbers)}: {_count_text(ranks[0])}{' (behind)' if is_behind else ''}")
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


def _ranks(ranks: Sequence[int]) -> str:
    return f"rank{'' if len(ranks) == 1 else 's'} {ranges(tuple(ranks))}"
