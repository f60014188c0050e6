"""The relatives of GPU processes that use no GPU: launchers above them, data loaders below."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Final

from gputop.core.model.sample import HostProcess, Presence
from gputop.core.processes.program import program_of
from gputop.machine.proc.procfs import Proc
from gputop.machine.processes.tracked import TrackedProcess

_DEEPEST: Final = 16
_MOST: Final = 1024  # relatives below GPU processes
_CUT: Final = "many processes without a GPU belong to those on GPUs, and some of them are not shown"
_NO_RELATIVE: Final = 4  # a child that is none takes the place of so many: it is read for nothing
_MOST_OUTSIDE: Final = 65_536
_CHILDREN_EVERY_S: Final = 5
_CROWD: Final = 100  # processes whose children are read per second; with more of them a round takes longer
_SEARCH_EVERY_S: Final = 5.0  # in a crowd that stays the same: a search takes 2 µs for each process
_OUTSIDE_S: Final = 60.0  # a pid may be reused
_UNREAD: Final[tuple[float, tuple[int, ...]]] = (0.0, ())

Follow = Callable[[int], TrackedProcess]


class Family:
    """Remembers which processes do not belong to a family, and the children of each; reads children every 5 s.

    In a crowd it searches every 5 s, and earlier if a process or relative has begun, exited or a new parent.
    A child is seen if the first thread of its parent forked it: each thread has its own file of children.
    ``left_out``: whether the last search ended early, as a sentence.
    """

    def __init__(self, proc: Proc) -> None:
        self._proc = proc
        self.left_out: tuple[str, ...] = ()
        self._outside: dict[int, float] = {}  # by pid: until when that is believed
        self._children: dict[int, tuple[float, tuple[int, ...]]] = {}  # by pid: when to ask again, and who they are
        self._known: dict[int, int] = {}  # parents by pid, in the last search
        self._found: dict[int, int] = {}  # its relatives: start ticks by pid
        self._search_due = 0.0

    def find(self, processes: Iterable[HostProcess], follow: Follow, now: float) -> dict[int, TrackedProcess]:
        """Return the relatives by pid. ``follow`` reads a process."""
        alive = [one for one in processes if one.presence is Presence.ALIVE]
        known = {one.pid: one.parent_pid for one in alive if one.parent_pid is not None}
        if len(known) > _CROWD and known == self._known and now < self._search_due:
            found = {pid: follow(pid) for pid in self._found}
            if _starts(found) == self._found:
                return found
        found = self._search(alive, known, follow, now)
        self._known, self._found, self._search_due = known, _starts(found), now + _SEARCH_EVERY_S
        return found

    def _search(
        self, alive: list[HostProcess], known: dict[int, int], follow: Follow, now: float
    ) -> dict[int, TrackedProcess]:
        by_user: dict[str | None, list[int]] = {}
        for one in alive:
            if one.pid in known and not program_of(one.command).is_border:  # a desktop has started everything
                by_user.setdefault(one.user, []).append(one.pid)
        found: dict[int, TrackedProcess] = {}
        for parent in set(known.values()):
            self._climb(parent, known, found, follow, now)
        launchers = [pid for pid, held in found.items() if program_of(held.command).leads]
        groups = [*by_user.values(), launchers]
        self._take_turns(deque(self._descend(parents, known, found, follow, now) for parents in groups))
        if len(self._children) > len(known) + len(found):
            held = known.keys() | found.keys()
            self._children = {pid: children for pid, children in self._children.items() if pid in held}
        return found

    def _climb(
        self, pid: int, known: dict[int, int], found: dict[int, TrackedProcess], follow: Follow, now: float
    ) -> None:
        for _ in range(_DEEPEST):
            if pid <= 1 or pid in known or pid in found or now < self._outside.get(pid, 0.0):
                return
            one = follow(pid)
            if one.is_undescribed:
                return
            if one.stat is None or one.presence is not Presence.ALIVE or program_of(one.command).is_border:
                self._close(pid, now)
                return
            found[pid] = one
            pid = one.stat.parent_pid

    def _take_turns(self, walks: deque[Iterator[int]]) -> None:
        """Let each walk read one child in turn, until all have ended or the reading has read enough.

        The walks are those of different users: a user with thousands of children does not hide those of the others.
        """
        room = _MOST
        while walks and room > 0:
            walk = walks.popleft()
            cost = next(walk, 0)
            if cost:
                room -= cost
                walks.append(walk)
        self.left_out = (_CUT,) if walks else ()

    def _descend(
        self, parents: list[int], known: dict[int, int], found: dict[int, TrackedProcess], follow: Follow, now: float
    ) -> Iterator[int]:
        """Find the children of processes, and theirs; pause after each child that was read, and return its cost."""
        for parent in parents:  # grows during the walk
            due_s, children = self._children.get(parent, _UNREAD)
            for pid in children if now < due_s else self._reread(parent, due_s, now):
                if pid in known or pid in found or now < self._outside.get(pid, 0.0):
                    continue
                one = follow(pid)
                if one.is_undescribed or not _is_child(one, parent):
                    yield _NO_RELATIVE
                elif program_of(one.command).is_border:
                    self._close(pid, now)
                    yield _NO_RELATIVE
                else:
                    found[pid] = one
                    parents.append(pid)
                    yield 1

    def _reread(self, pid: int, due_s: float, now: float) -> tuple[int, ...]:
        try:
            children = tuple(map(int, self._proc.read(f"{pid}/task/{pid}/children").split()))
        except (OSError, ValueError):
            children = ()
        every_s = max(_CHILDREN_EVERY_S, len(self._children) // _CROWD)
        early_s = 0 if due_s else pid % every_s  # the processes take turns
        self._children[pid] = (now + every_s - early_s, children)
        return children

    def _close(self, pid: int, now: float) -> None:
        if len(self._outside) >= _MOST_OUTSIDE:
            self._outside.clear()
        self._outside[pid] = now + _OUTSIDE_S


def _starts(found: Mapping[int, TrackedProcess]) -> dict[int, int]:
    """Return the start ticks of those that are alive, by pid."""
    alive = {pid: one.stat for pid, one in found.items() if one.presence is Presence.ALIVE}
    return {pid: stat.start_ticks for pid, stat in alive.items() if stat is not None}


def _is_child(one: TrackedProcess, parent: int) -> bool:
    return one.stat is not None and one.stat.parent_pid == parent and one.presence is Presence.ALIVE
