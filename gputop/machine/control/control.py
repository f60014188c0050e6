"""The control: the only place that changes the machine. It checks the target, acts, and writes the audit log."""

import errno
import os
from collections.abc import Callable, Iterable
from typing import Final

from gputop.core.mig.answers import MigProgress
from gputop.core.protocol.command import (
    Change,
    ChangeMig,
    ProcessChange,
    Renice,
    SendSignal,
    SetAffinity,
    SetIoClass,
    Target,
    wording,
)
from gputop.core.protocol.outcome import Outcome, Result, Status, refused
from gputop.core.protocol.signals import signal_number
from gputop.machine.control.audit import Audit, audit_of_this_user
from gputop.machine.control.handle import PidReusedError, TargetError, TargetHandle, TargetOpener
from gputop.machine.control.kernel import Kernel, KernelCalls
from gputop.machine.control.mig import MigControl, partitioner_of_this_machine
from gputop.machine.control.mps import MpsWork, ends_at_once
from gputop.machine.control.scheduling import apply, setting
from gputop.machine.mps.daemon import daemon_of, server_runs
from gputop.machine.proc.procfs import GONE, Proc, RealProc
from gputop.machine.proc.root import Files
from gputop.machine.proc.visibility import is_ours
from gputop.machine.processes.reader import resolve_user

_VERBS: Final = {
    SendSignal: "signal",
    Renice: "renice",
    SetIoClass: "change the I/O class of",
    SetAffinity: "change the CPUs of",
}
_NO_PIDFD: Final = "this kernel has no pidfds, so gputop compared the start time just before"
_WAITS: Final = "in uninterruptible sleep: the signal takes effect when its kernel call returns"
_STOPPED: Final = "stopped: the signal takes effect after SIGCONT"
_TRACED: Final = "traced: its debugger gets the signal first"
_TAKEN_OVER: Final = "the process exited and its pid was reused; the new process may have been changed"
_STRAYED: Final = "threads exited and their ids were reused; these threads may have been changed: {}"
_LOOK: Final = "To see them: cat {}"
_AT_ONCE: Final = frozenset({"SIGKILL", "SIGCONT", "SIGSTOP"})  # take effect in a stopped process as well


class Control:
    """Carries out changes one at a time, from one thread at a time. ``own_user``: None for root."""

    def __init__(
        self,
        proc: Proc,
        kernel: KernelCalls,
        opener: TargetOpener,
        audit: Audit,
        own_user: str | None,
        *,
        mig: MigControl | None = None,
        mps: MpsWork | None = None,
    ) -> None:
        self._proc = proc
        self._kernel = kernel
        self._opener = opener
        self._audit = audit
        self._own_user = own_user
        self._mig = mig
        self._mps = mps or MpsWork(lambda *_: None)

    def execute(self, change: Change) -> Outcome:
        """Carry out a change on its targets in their order. Never raises: an error is a result.

        An audit log that cannot be written does not stop a change, since a runaway job must be ended; the outcome
        says so.
        """
        if isinstance(change, ChangeMig):
            if self._mig is None:
                return refused(change, "this control has no driver")
            self._audit.begin(change)
            results = self._mig.settle(change, self._audit)
        else:
            self._audit.begin(change)
            self._mps.begin()
            results = tuple([self._settle(change, target) for target in change.targets])
        return Outcome(id=change.id, what=wording(change), results=results, note=self._audit.end())

    def living(self, targets: Iterable[Target]) -> tuple[Target, ...]:
        """Return the targets that still run; a zombie does not."""
        return tuple(target for target in targets if self._lives(target))

    def _lives(self, target: Target) -> bool:
        try:
            self._opener.refuse_dead(self._opener.confirm(target))
        except TargetError:
            return False
        return True

    def _settle(self, change: ProcessChange, target: Target) -> Result:
        handle: TargetHandle | None = None
        try:
            with self._opener.open(target) as handle:
                self._audit.intend(handle)
                result = self._act(change, handle)
        except TargetError as error:
            result = _result(target, error.status, error.detail, error.remedy)
        self._audit.conclude(result, handle)
        return result

    def _act(self, change: ProcessChange, handle: TargetHandle) -> Result:
        try:
            return self._signal(change, handle) if isinstance(change, SendSignal) else self._set(change, handle)
        except ValueError as error:
            return _result(handle.target, Status.REFUSED, str(error))
        except GONE:
            return _result(handle.target, Status.GONE, "it exited before the change")
        except PermissionError as error:
            return self._denied(_VERBS[type(change)], handle, error)
        except OSError as error:
            return _result(handle.target, Status.FAILED, _reason(_VERBS[type(change)], handle, error))

    def _signal(self, change: SendSignal, handle: TargetHandle) -> Result:
        number = signal_number(change.signal)
        work = self._end_work(number, handle)
        if handle.descriptor is not None:
            self._kernel.send(handle.descriptor, number)
            return _result(handle.target, Status.DONE, work or _effect(handle.stat.state, change.signal))
        self._opener.confirm(handle.target)
        self._kernel.kill(handle.pid, number)
        return _result(handle.target, Status.DONE, work or _NO_PIDFD)

    def _end_work(self, number: int, handle: TargetHandle) -> str:
        """End the GPU work of an MPS client that the signal would end at once; return what happened, if anything."""
        status = Files(self._proc).raw(f"{handle.pid}/status")
        if not ends_at_once(number, status):
            return ""
        return self._mps.end(handle, self._audit, lambda: self._check_right(handle))

    def _check_right(self, handle: TargetHandle) -> None:
        """Raise what a signal would raise, without a signal."""
        self._opener.confirm(handle.target)
        if handle.descriptor is None:
            self._kernel.kill(handle.pid, 0)
        else:
            self._kernel.send(handle.descriptor, 0)

    def _set(self, change: ProcessChange, handle: TargetHandle) -> Result:
        """Set a value of all threads. The kernel takes no pidfd here, so the target is checked before and after.

        A pid or a thread id may be reused between the two checks. That cannot be prevented; the result reports it.
        """
        self._opener.confirm(handle.target)
        applied = apply(setting(change, self._kernel, handle.pid), handle.pid, lambda: self._tids(handle.pid))
        try:
            self._opener.confirm(handle.target)
        except PidReusedError:
            return _result(handle.target, Status.FAILED, _TAKEN_OVER, _look(handle.pid))
        if strayed := self._strayed(applied.tids, handle.pid):
            numbers = ", ".join(map(str, strayed))
            return _result(handle.target, Status.FAILED, _STRAYED.format(numbers), _look(*strayed))
        count = len(applied.tids)
        return Result(
            pid=handle.pid,
            start_ticks=handle.target.start_ticks,
            status=Status.DONE,
            detail=f"all {count} threads" if count > 1 else "",
            before=applied.before,
            after=applied.after,
        )

    def _tids(self, pid: int) -> set[int]:
        return {int(name) for name in self._proc.list(f"{pid}/task")}

    def _strayed(self, tids: frozenset[int], pid: int) -> list[int]:
        """Return the threads that exited and whose ids now belong to other threads; usually none."""
        ended = tids - self._tids(pid)
        return [tid for tid in sorted(ended) if Files(self._proc).raw(f"{tid}/stat")]

    def _denied(self, verb: str, handle: TargetHandle, error: OSError) -> Result:
        if self._own_user is None:
            remedy = "Root lacks this permission here (container, user namespace): run gputop outside of it."
        elif handle.user == self._own_user:
            remedy = "This needs root: run gputop with sudo."
        else:
            remedy = f"Run gputop with sudo, or ask {handle.user}."
        return _result(handle.target, Status.NOT_PERMITTED, _reason(verb, handle, error), remedy)


def control_of_this_machine(
    protected: frozenset[int], progress: Callable[[MigProgress], None] = lambda _: None
) -> Control:
    """Return the control of this machine. ``protected``: pids of gputop itself.

    ``progress`` gets the progress of a change of a MIG layout.
    """
    proc, kernel = RealProc(), Kernel()
    own_user = resolve_user(os.geteuid()) or str(os.geteuid())
    opener = TargetOpener(proc, resolve_user, kernel, protected, is_ours=lambda: is_ours(proc))
    audit = audit_of_this_user(own_user, os.environ)
    mig = MigControl(partitioner_of_this_machine, progress)
    mps = MpsWork(lambda pid, until_s: daemon_of(proc, pid, until_s), lambda: server_runs(proc))
    return Control(proc, kernel, opener, audit, own_user if os.geteuid() else None, mig=mig, mps=mps)


def _look(*pids: int) -> str:
    return _LOOK.format(" ".join(f"/proc/{pid}/status" for pid in pids))


def _effect(state: str, name: str) -> str:
    """Return when the signal takes effect, if not at once."""
    if state == "D":
        return _WAITS
    if state == "T" and name not in _AT_ONCE:
        return _STOPPED
    return _TRACED if state == "t" and name != "SIGKILL" else ""


def _reason(verb: str, handle: TargetHandle, error: OSError) -> str:
    if error.errno == errno.EINVAL and verb == _VERBS[SetAffinity]:
        why = "none of these CPUs exists, or its cpuset allows none"
    elif isinstance(error, PermissionError):
        why = "permission denied"
    else:
        why = error.strerror or str(error)
    return f"cannot {verb} a process of {handle.user}: {why}"  # no pid: equal failures are grouped


def _result(target: Target, status: Status, detail: str = "", remedy: str = "") -> Result:
    return Result(pid=target.pid, start_ticks=target.start_ticks, status=status, detail=detail, remedy=remedy)
