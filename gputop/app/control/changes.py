"""Signals and nice values for the processes that the user chose."""

import time

from gputop.app.control.escalation import Escalation
from gputop.app.control.process_change import ProcessesRequest, change_processes, new_id
from gputop.core.protocol.command import Renice, SendSignal
from gputop.core.protocol.targets import targets


class SignalRequest(ProcessesRequest, frozen=True, kw_only=True):
    """A signal, by its name. ``escalate_s``: then SIGKILL for those that still run; None: no SIGKILL."""

    signal: str
    escalate_s: float | None = None


class ReniceRequest(ProcessesRequest, frozen=True, kw_only=True):
    """A nice value, from -20 to 19."""

    nice: int


def send_signal(request: SignalRequest) -> int:
    """List the processes, ask, and send the signal; return the exit status."""
    act = None if request.escalate_s is None else Escalation(request.escalate_s, time.monotonic, time.sleep).run
    return change_processes(
        request, lambda found: SendSignal(id=new_id(), signal=request.signal, targets=targets(found)), act
    )


def renice(request: ReniceRequest) -> int:
    """List the processes, ask, and set the nice value; return the exit status."""
    return change_processes(request, lambda found: Renice(id=new_id(), nice=request.nice, targets=targets(found)))
