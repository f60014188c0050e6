"""The source PyTorch Flight Recorder: a new dump by the pipe of each rank, else the dump that a timeout has left."""

import os
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final

from msgspec import Struct

from gputop.core.insight.explanation import SourceReport, SourceState
from gputop.core.insight.flight import RankDump, judge_flight
from gputop.core.insight.flight_dump import FlightDump
from gputop.core.insight.member import Member
from gputop.core.insight.source import as_root
from gputop.core.model.units import duration_text
from gputop.core.text.text import excerpt
from gputop.machine.insight.dump_file import Seen, read_dump, reason_of, seen
from gputop.machine.insight.dump_request import DumpRequests
from gputop.machine.insight.identity import is_same
from gputop.machine.proc.environment import variables
from gputop.machine.proc.patient import proc_of_this_machine
from gputop.machine.proc.procfs import Proc
from gputop.machine.proc.root import Files
from gputop.machine.proc.stat import parse_boot_s, parse_stat, parse_uid

NAME: Final = "flight"
TITLE: Final = "PyTorch Flight Recorder"
_PIPE: Final = "TORCH_NCCL_DEBUG_INFO_PIPE_FILE"
_STEMS: Final = ("TORCH_FR_DUMP_TEMP_FILE", "TORCH_NCCL_DEBUG_INFO_TEMP_FILE")
_VARIABLES: Final = frozenset({"RANK", _PIPE, *_STEMS, "XDG_CACHE_HOME", "HOME"})
_OLD_STEM: Final = "/tmp/nccl_trace_rank_"  # noqa: S108 - PyTorch's own; the owner of a file is checked
_WAIT_S: Final = 15.0  # PyTorch's own limit
_POLL_S: Final = 0.2
_TOGETHER_S: Final = 60.0  # dumps of the same event; older ones say nothing about it
_SLACK_S: Final = 2.0  # the boot time has a resolution of 1 s
_MOST_MEMBERS: Final = 64
_CLOCK_TICKS: Final = os.sysconf("SC_CLK_TCK")
_NO_RANK: Final = "it has no RANK in its environment, so it is no rank of PyTorch"
_REMEDY: Final = f"start the job with {_PIPE} and TORCH_FR_BUFFER_SIZE=2000 (NCCL only)"


class _Rank(Struct, frozen=True):
    """A member that may have a dump. ``paths``: where it may be; ``pipe``: empty without one."""

    member: Member
    rank: int
    uid: int
    started_s: float
    pipe: str
    paths: tuple[str, ...]


class _Found(Struct, frozen=True):
    """A dump. ``time_s``: when it was written."""

    rank: _Rank
    dump: FlightDump
    time_s: float


class FlightRecorder:
    """Asks the Flight Recorder. ``clock``: monotonic seconds; ``wall``: since the epoch.

    ``requests``: asks ranks for a new dump, which makes them write a file; None: read what there is.
    """

    def __init__(
        self, proc: Proc | None = None, *, clock: Callable[[], float] = time.monotonic,
        wall: Callable[[], float] = time.time, pause: Callable[[float], None] = time.sleep, wait_s: float = _WAIT_S,
        requests: DumpRequests | None = None,
    ) -> None:  # fmt: skip
        self._proc = proc or proc_of_this_machine()
        self._clock = clock
        self._wall = wall
        self._pause = pause
        self._wait_s = wait_s
        self._requests = requests

    def ask(self, members: Sequence[Member], native: bool) -> SourceReport:  # noqa: ARG002, FBT001 - as all sources
        """Return the last collectives of the members."""
        problems: list[str] = []
        hidden: list[int] = []
        ranks = [rank for member in members[:_MOST_MEMBERS] if (rank := self._rank(member, problems, hidden))]
        self._wait(self._request(ranks, problems))
        dumps = [found for rank in ranks if (found := self._newest(rank, problems))]
        if not dumps:
            note = problems[0] if problems else "no rank has written a dump"
            return SourceReport(
                name=NAME, title=TITLE, state=SourceState.UNAVAILABLE, note=note, remedy=as_root(hidden) or _REMEDY,
                lines=tuple(problems[1:] and problems),
            )  # fmt: skip
        return self._report(dumps, [rank.rank for rank in ranks], problems)

    def _report(self, dumps: Sequence[_Found], ranks: Iterable[int], problems: list[str]) -> SourceReport:
        newest_s = max(found.time_s for found in dumps)
        together = [found for found in dumps if newest_s - found.time_s <= _TOGETHER_S]
        absent = sorted(set(ranks) - {found.rank.rank for found in together})
        if absent:
            problems.insert(0, f"no dump of the same minute from rank {', '.join(map(str, absent))}")
        age_s = max(0.0, self._wall() - newest_s)
        details, claims = judge_flight(
            [RankDump(found.rank.rank, found.rank.member.pid, found.dump) for found in together], age_s
        )
        if age_s > _TOGETHER_S:
            problems.insert(0, f"the dump is {duration_text(age_s)} old")
        return SourceReport(
            name=NAME, title=TITLE, state=SourceState.ANSWERED, note="; ".join(problems)[:500], claims=claims,
            details=details,
        )  # fmt: skip

    def _rank(self, member: Member, problems: list[str], hidden: list[int]) -> _Rank | None:
        """Return where a member has its dumps; None if it has exited or is unreadable, as those in ``hidden`` are."""
        files = Files(self._proc)
        try:
            chosen = variables(self._proc, member.pid, _VARIABLES)
        except OSError as error:
            problems.append(f"{member.label}: its environment cannot be read: {error.strerror}")
            hidden.append(member.pid)
            return None
        text = chosen.get("RANK", "")
        rank = int(text) if text.isascii() and text.isdigit() and len(text) < 8 else member.rank
        uid = parse_uid(files.raw(f"{member.pid}/status"))
        stat = parse_stat(files.raw(f"{member.pid}/stat"))
        boot_s = parse_boot_s(files.raw("stat"))
        if rank is None or uid is None or stat is None or boot_s is None or not is_same(self._proc, member):
            problems.append(f"{member.label}: {_NO_RANK}" if rank is None else f"{member.label} has exited")
            return None
        place = self._root(member)
        paths = tuple(f"{place}{stem}{rank}" for stem in _stems(chosen))
        pipe = f"{place}{chosen[_PIPE]}{rank}.pipe" if chosen.get(_PIPE, "").startswith("/") else ""
        return _Rank(member, rank, uid, boot_s + stat.start_ticks / _CLOCK_TICKS, pipe, paths)

    def _root(self, member: Member) -> str:
        """Return the root directory of a member in a container; empty for our own."""
        files = Files(self._proc)
        there = files.target(f"{member.pid}/ns/mnt")
        return "" if there in {"", files.target("self/ns/mnt")} else f"/proc/{member.pid}/root"

    def _request(self, ranks: Iterable[_Rank], problems: list[str]) -> dict[str, Seen | None]:
        """Ask each rank that has a pipe for a dump; return the present states of their files."""
        reachable = [rank for rank in ranks if rank.pipe]
        if self._requests is None or not reachable:
            return {}
        awaited: dict[str, Seen | None] = {}
        self._requests.begin()
        for rank in reachable:
            before = {path: seen(path) for path in rank.paths[:1]}
            if reason := self._requests.ask(rank.member, rank.pipe, rank.uid):
                problems.append(f"{rank.member.label}: {reason}")
            else:
                awaited |= before
        if problem := self._requests.end():
            problems.append(problem)
        return awaited

    def _wait(self, awaited: Mapping[str, Seen | None]) -> None:
        """Wait until all files are newer and complete, or the time is over."""
        until = self._clock() + self._wait_s
        left, last = dict(awaited), dict(awaited)
        while left and self._clock() < until:
            self._pause(_POLL_S)
            for path, before in list(left.items()):
                now = seen(path)
                if now not in {None, before} and now == last[path]:
                    del left[path]
                last[path] = now

    def _newest(self, rank: _Rank, problems: list[str]) -> _Found | None:
        """Return the newest dump that a member has written since it started."""
        files = [(found.mtime_ns / 1e9, path) for path in rank.paths if (found := seen(path))]
        for time_s, path in sorted(files, reverse=True):
            if time_s < rank.started_s - _SLACK_S:
                problems.append(f"{rank.member.label}: {excerpt(path, 100)} is of an earlier job")
                continue
            try:
                return _Found(rank, read_dump(path, rank.uid), time_s)
            except (OSError, ValueError) as error:
                problems.append(f"{rank.member.label}: {excerpt(path, 100)}: {reason_of(error)}")
        return None


def _stems(chosen: Mapping[str, str]) -> Iterable[str]:
    """Return the beginnings of the names of dumps, the most likely first."""
    cache = chosen.get("XDG_CACHE_HOME") or f"{chosen.get('HOME', '')}/.cache"
    named = [chosen[name] for name in _STEMS if chosen.get(name)]
    stems = [*(named or [f"{cache}/torch/comm_lib_trace_rank_"]), *([] if named else [_OLD_STEM])]
    return [stem for stem in stems if stem.startswith("/")]
