"""The source ``stacks``: the Python stacks of all processes at once, by py-spy, in groups of equal ones."""

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Final, TypeAlias

from msgspec import Struct

from gputop.core.insight.explanation import SourceReport, SourceState
from gputop.core.insight.grouping import claims_of, grouped
from gputop.core.insight.member import Member
from gputop.core.insight.names import Names, Who
from gputop.core.insight.source import as_root
from gputop.core.insight.stacks import Stacks, UnreadStack
from gputop.machine.insight import py_spy
from gputop.machine.insight.identity import stat_of
from gputop.machine.insight.py_spy import Refusal, Stack
from gputop.machine.proc.procfs import Reader, RealProc
from gputop.machine.proc.stat import parse_uid

_TRIES: Final = 3
_AT_ONCE: Final = 8
_MOST_REASONS: Final = 3
_STOPPED: Final = frozenset({"T", "t"})
_RUNS: Final = frozenset({"R", "S"})
_EXITED: Final = frozenset({"Z", "X"})
_BLOCKED: Final = "D"
_ABSENT: Final = ("py-spy is not installed", "pip install py-spy")
_ABSENT_FOR_ROOT: Final = (
    "root has no py-spy in a directory that root alone can write to",
    "sudo pip install py-spy",
)
_SCOPE: Final = "/proc/sys/kernel/yama/ptrace_scope"

Dump: TypeAlias = Callable[[int, bool, bool], Stack | Refusal]
"""py-spy on a pid, with native frames or not, blocking or not."""


class User(Struct, frozen=True):
    """The user of gputop. ``uid``; ``ptrace_scope``: the restriction of the kernel, 0 without one."""

    uid: int
    ptrace_scope: int = 0


def ask(members: Sequence[Member], native: bool = False) -> SourceReport:  # noqa: FBT001, FBT002 - the form of a source
    """Return the stacks of processes of this machine."""
    path = py_spy.find(os.environ)
    if path is None:
        note, remedy = _ABSENT_FOR_ROOT if os.geteuid() == 0 else _ABSENT
        return SourceReport(
            name="stacks", title="Python stacks", state=SourceState.UNAVAILABLE, note=note, remedy=remedy
        )

    def dump(pid: int, is_native: bool, is_blocking: bool) -> Stack | Refusal:  # noqa: FBT001 - a Dump
        return py_spy.dump(path, pid, is_native=is_native, is_blocking=is_blocking)

    return report_of(members, RealProc(), dump, User(os.geteuid(), _ptrace_scope()), is_native=native)


def report_of(members: Sequence[Member], proc: Reader, dump: Dump, user: User, *, is_native: bool) -> SourceReport:
    """Return the stacks of processes, some of which are read at the same time."""
    read = _Reading(proc, dump, user, is_native=is_native)
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        found = dict(zip(members, pool.map(read.stack, members), strict=True))
    stacks = {member.pid: (one.thread, one.frames) for member, one in found.items() if isinstance(one, Stack)}
    unread = tuple(one for one in found.values() if isinstance(one, UnreadStack))
    groups = grouped(stacks)
    sudo = [each.pid for each in unread if each.remedy.startswith("sudo ")]
    other = next((each.remedy for each in unread if each.remedy), "")
    return SourceReport(
        name="stacks",
        title="Python stacks",
        state=SourceState.ANSWERED if groups else SourceState.UNAVAILABLE,
        note=_note(unread, Names(members)),
        remedy=as_root(sudo) or other,
        claims=claims_of(groups),
        details=Stacks(groups=groups, unread=unread),
    )


class _Reading:
    """Reads one stack after the other; several threads may use it."""

    def __init__(self, proc: Reader, dump: Dump, user: User, *, is_native: bool) -> None:
        self._proc = proc
        self._dump = dump
        self._user = user
        self._is_native = is_native

    def stack(self, member: Member) -> Stack | UnreadStack:
        """Return the stack of a process that is the same one before and after."""
        state = self._state(member)
        if state is None or state in _EXITED:
            return UnreadStack(pid=member.pid, reason="ended")
        if state == _BLOCKED:
            return UnreadStack(pid=member.pid, reason="blocked in the kernel, where no stack can be read")
        found = self._tried(member, state)
        if self._state(member) is None:
            return UnreadStack(pid=member.pid, reason="ended")
        return self._refused(member, found.text) if isinstance(found, Refusal) else found

    def _tried(self, member: Member, state: str) -> Stack | Refusal:
        """Return a stack that was read without pausing the process, if that succeeds, or else with a short pause."""
        if self._is_native and state in _STOPPED:
            return Refusal("native frames of a stopped process cannot be read")
        found: Stack | Refusal = Refusal("")
        for _ in range(0 if self._is_native else _TRIES):
            found = self._dump(member.pid, False, False)
            if isinstance(found, Stack) or _is_final(found.text):
                return found
        if self._state(member) not in _RUNS:
            return found  # py-spy cannot pause it, and might wait for ever
        return self._dump(member.pid, self._is_native, True)

    def _state(self, member: Member) -> str | None:
        try:
            stat = stat_of(self._proc, member)
        except OSError:
            return None
        return None if stat is None else stat.state

    def _refused(self, member: Member, text: str) -> UnreadStack:
        """Return why there is no stack, and the command that has it."""
        pid = member.pid
        if "python version" in text.lower():
            return UnreadStack(pid=pid, reason="no Python, or a Python that py-spy does not know")
        if not _is_denied(text):
            return UnreadStack(pid=pid, reason=f"py-spy: {text}")
        if self._user.uid == 0:
            reason = "the kernel refuses root: the container has no capability SYS_PTRACE"
            return UnreadStack(pid=pid, reason=reason, remedy="docker run --cap-add SYS_PTRACE …")
        if self._uid(pid) not in (None, self._user.uid):
            return UnreadStack(pid=pid, reason=f"owned by {_named(member.user)}", remedy=as_root([pid]))
        scope = self._user.ptrace_scope
        reason = f"kernel.yama.ptrace_scope is {scope}: only root may read stacks" if scope else "the kernel refuses"
        return UnreadStack(pid=pid, reason=reason, remedy=as_root([pid]))

    def _uid(self, pid: int) -> int | None:
        try:
            return parse_uid(self._proc.read(f"{pid}/status"))
        except OSError:
            return None


def _is_denied(text: str) -> bool:
    lower = text.lower()
    return "permission denied" in lower or "operation not permitted" in lower or "os error 13" in lower


def _is_final(text: str) -> bool:
    """Say whether another try cannot help."""
    return _is_denied(text) or "python version" in text.lower()


def _named(user: str | None) -> str:
    return "another user" if not user else f"user {user}" if user.isdigit() else user


def _note(unread: Sequence[UnreadStack], names: Names) -> str:
    by_reason: dict[str, list[int]] = {}
    for each in unread:
        by_reason.setdefault(each.reason, []).append(each.pid)
    first = list(by_reason.items())[:_MOST_REASONS]
    return "; ".join(f"{names.of(Who(tuple(pids)))}: {reason}" for reason, pids in first)


def _ptrace_scope() -> int:
    try:
        with open(_SCOPE, "rb") as opened:
            return int(opened.read(8))
    except (OSError, ValueError):
        return 0
