"""Requests for new dumps of the Flight Recorder: each rank that gets one writes a file, so the audit log has it."""

import os
from typing import Final

from gputop.core.insight.member import Member
from gputop.core.protocol.command import Target
from gputop.core.protocol.outcome import Result, Status
from gputop.core.text.text import excerpt
from gputop.machine.control.audit import Audit, audit_of_this_user
from gputop.machine.control.handle import TargetError, TargetOpener
from gputop.machine.control.kernel import Kernel
from gputop.machine.insight.dump_file import ask_for_dump, reason_of
from gputop.machine.proc.procfs import RealProc
from gputop.machine.proc.visibility import is_ours
from gputop.machine.processes.reader import resolve_user

_ID: Final = "explain"
_WHAT: Final = "dump of the PyTorch Flight Recorder"


class DumpRequests:
    """Asks ranks for dumps. ``opener`` checks that a member is still the same process."""

    def __init__(self, opener: TargetOpener, audit: Audit) -> None:
        self._opener = opener
        self._audit = audit

    def begin(self) -> None:
        """Open the audit log."""
        self._audit.begin_other(_ID, _WHAT)

    def ask(self, member: Member, pipe: str, uid: int) -> str:
        """Ask a rank by its pipe, which must belong to its user; return why that failed, or an empty text."""
        target = Target(member.pid, member.start_ticks)
        try:
            with self._opener.open(target) as handle:
                self._audit.intend(handle)
                reason = _asked(pipe, uid)
                status = Status.FAILED if reason else Status.DONE
                result = Result(pid=target.pid, start_ticks=target.start_ticks, status=status, detail=reason)
                self._audit.conclude(result, handle)
        except TargetError as error:
            return error.detail
        return reason

    def end(self) -> str:
        """Close the audit log; return why it is incomplete, or an empty text."""
        return self._audit.end()


def _asked(pipe: str, uid: int) -> str:
    try:
        ask_for_dump(pipe, uid)
    except (OSError, ValueError) as error:
        return f"pipe {excerpt(pipe, 100)}: {reason_of(error)}"
    return ""


def requests_of_this_machine() -> DumpRequests:
    """Return the requests of this user."""
    proc = RealProc()
    opener = TargetOpener(proc, resolve_user, Kernel(), frozenset({os.getpid()}), is_ours=lambda: is_ours(proc))
    user = resolve_user(os.geteuid()) or str(os.geteuid())
    return DumpRequests(opener, audit_of_this_user(user, os.environ))
