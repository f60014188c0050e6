"""Status of several processes at once: whether they still run, and their scheduling. No read here can hang."""

from collections.abc import Callable
from typing import Final, TypeVar

from gputop.core.model.sample import Presence
from gputop.core.protocol.command import ReadStatus, Target
from gputop.core.protocol.process_status import ProcessStatus, ProcessStatuses
from gputop.core.text.ranges import ranges
from gputop.machine.control.kernel import Kernel, KernelCalls
from gputop.machine.control.scheduling import io_text
from gputop.machine.proc.procfs import GONE, Proc, RealProc
from gputop.machine.proc.stat import parse_stat

T = TypeVar("T")

_ENDED: Final = "ZX"


class ProcessStatusReader:
    """Reads the status of processes. ``kernel``: None if the processes are not on this machine."""

    def __init__(self, proc: Proc, kernel: KernelCalls | None) -> None:
        self._proc = proc
        self._kernel = kernel

    def read(self, request: ReadStatus) -> ProcessStatuses:
        """Return the status of each target. Never raises.

        It reads only /proc/PID/stat, which never blocks, not even for a process that hangs.
        """
        return ProcessStatuses(id=request.id, statuses=tuple([self._seen(target) for target in request.targets]))

    def _seen(self, target: Target) -> ProcessStatus:
        is_running, state, nice = self._life(target)
        kernel = self._kernel if is_running else None
        return ProcessStatus(
            pid=target.pid,
            start_ticks=target.start_ticks,
            is_running=is_running,
            state=state,
            nice=nice,
            io_class=_told(lambda: io_text(kernel.io_priority(target.pid))) if kernel else None,
            cpus=_told(lambda: ranges(kernel.cpus(target.pid))) if kernel else None,
        )

    def _life(self, target: Target) -> tuple[bool | None, str | None, int | None]:
        """Return whether the process still runs, its state and its nice value."""
        if target.presence is not Presence.ALIVE or target.start_ticks is None:
            return None, None, None
        try:
            stat = parse_stat(self._proc.read(f"{target.pid}/stat"))
        except GONE:
            return False, None, None
        except OSError:
            return None, None, None
        if stat is None:
            return None, None, None
        if stat.start_ticks != target.start_ticks:
            return False, None, None
        return not (stat.state in _ENDED and stat.threads <= 1), stat.state, stat.nice


def process_status_of_this_machine() -> ProcessStatusReader:
    """Return the status reader of processes on this machine."""
    return ProcessStatusReader(RealProc(), Kernel())


def _told(ask: Callable[[], T]) -> T | None:
    try:
        return ask()
    except OSError:
        return None
