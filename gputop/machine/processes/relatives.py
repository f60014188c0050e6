"""The relatives of GPU processes that use no GPU: launchers above them, data loaders below."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
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
_OUTSIDE_S: Final = 60.0  # a pid may be reused
_UNREAD: Final[tuple[float, tuple[int, ...]]] = (0.0, ())

Follow = Callable[[int], TrackedProcess]


class Family:
    """Remembers which processes do not belong to a family, and the children of each; reads children every 5 s.

    A child is seen if the first thread of its parent forked it: each thread has its own file of children.
    ``left_out``: whether the last search ended early, as a sentence.
    """

    def __init__(self, proc: Proc) -> None:
        self._proc = proc
        self.left_out: tuple[str, ...] = ()
        self._outside: dict[int, float] = {}  # by pid: until when that is believed
        self._children: dict[int, tuple[float, tuple[int, ...]]] = {}  # by pid: when to ask again, and who they are

    def find(self, processes: Iterable[HostProcess], follow: Follow, now: float) -> dict[int, TrackedProcess]:
        """Return the relatives by pid. ``follow`` reads a process."""
        known: dict[int, int] = {}
        by_user: dict[str | None, list[int]] = {}
        for one in processes:
            if one.presence is Presence.ALIVE and one.parent_pid is not None:
                known[one.pid] = one.parent_pid
                if not program_of(one.command).is_border:  # a desktop has started everything
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


def _is_child(one: TrackedProcess, parent: int) -> bool:
    return one.stat is not None and one.stat.parent_pid == parent and one.presence is Presence.ALIVE
