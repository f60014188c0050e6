"""Opens the target of a change: the process that was shown, never a later process of its pid."""

import errno
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

from msgspec import Struct

from gputop.core.model.process_id import ProcessId
from gputop.core.model.sample import Presence
from gputop.core.protocol.command import Target
from gputop.core.protocol.outcome import Status
from gputop.core.text.text import decode
from gputop.machine.control.kernel import KernelCalls
from gputop.machine.proc.procfs import GONE, Proc
from gputop.machine.proc.root import Files
from gputop.machine.proc.stat import ProcessStat, parse_stat
from gputop.machine.processes.identity import ProcessNames

_KERNEL_THREAD: Final = 0x00200000  # PF_KTHREAD, in the field after nine others behind the name
_FLAGS_AT: Final = 6
_INIT: Final = 1
_ENDED: Final = "it has exited"
_NO_START: Final = "its start time is not certain yet, so a reused pid could not be detected"
_NO_START_REMEDY: Final = "It may have started just before it was listed: try again."
_FOREIGN: Final = "/proc belongs to another PID namespace, where the same pid is another process"
_FOREIGN_REMEDY: Final = "Run gputop in that namespace (docker run --pid=host), or mount the /proc of this one."
_FORBIDDEN_REMEDY: Final = "Allow pidfd_open in the sandbox (seccomp profile), or run gputop outside of it."


class TargetError(Exception):
    """A target that cannot be opened, and why; nothing was changed."""

    def __init__(self, status: Status, detail: str, remedy: str = "") -> None:
        super().__init__(detail)
        self.status = status
        self.detail = detail
        self.remedy = remedy


class PidReusedError(TargetError):
    """The target has exited, and another process has its pid."""

    def __init__(self) -> None:
        super().__init__(Status.GONE, f"{_ENDED}; another process has its pid now and was not touched")


class TargetHandle(Struct, frozen=True):
    """An open target. ``descriptor``: its pidfd; None if the kernel has none. ``command`` is cleaned."""

    target: Target
    descriptor: int | None
    stat: ProcessStat
    user: str
    command: str

    @property
    def pid(self) -> int:
        """The pid of the target."""
        return self.target.pid


class TargetOpener:
    """Opens targets. ``users`` names the user of a uid; ``protected``: pids of gputop's own processes.

    ``is_ours``: whether the pids of ``proc`` are valid in our own PID namespace; see `machine.namespace`.
    """

    def __init__(
        self,
        proc: Proc,
        users: Callable[[int], str | None],
        kernel: KernelCalls,
        protected: frozenset[int],
        *,
        is_ours: Callable[[], bool] = lambda: True,
    ) -> None:
        self._proc = proc
        self._process_names = ProcessNames(proc, users)
        self._kernel = kernel
        self._protected = protected
        self._is_ours = is_ours
        self._inodes: dict[ProcessId, int | None] = {}  # of each process since it was first opened

    @contextmanager
    def open(self, target: Target) -> Iterator[TargetHandle]:
        """Open a target for as long as the context lasts. Raises TargetError.

        The start time is compared again after the pidfd was opened. A pid that belonged to the target before and after
        belonged to it in between, so the pidfd refers to the target, and keeps doing so when the pid is reused. A
        target that is opened again must have the same inode, where the kernel has inodes of processes.
        """
        self._refuse(target)
        stat = self.confirm(target)
        self.refuse_dead(stat)
        descriptor = self._open(target.pid)
        try:
            user, command = self._process_names.user(target.pid), self._process_names.command(target.pid, stat.name)
            stat = self.confirm(target)
            self._compare_inode(target, descriptor)
            yield TargetHandle(target, descriptor, stat, user, command)
        finally:
            if descriptor is not None:
                self._kernel.close(descriptor)

    def confirm(self, target: Target) -> ProcessStat:
        """Return the stat of the target. Raises TargetError if its pid is free or reused."""
        try:
            raw = self._proc.read(f"{target.pid}/stat")
        except GONE:
            raise TargetError(Status.GONE, _ENDED) from None
        except OSError as error:
            raise TargetError(Status.REFUSED, f"/proc cannot be read: {error.strerror}") from None
        stat = parse_stat(raw)
        if stat is None:
            raise TargetError(Status.REFUSED, "its stat in /proc cannot be read")
        if stat.start_ticks != target.start_ticks:
            raise PidReusedError
        if _is_kernel_thread(raw):
            raise TargetError(Status.REFUSED, "it is a kernel thread")
        return stat

    def _refuse(self, target: Target) -> None:
        """Refuse targets that can be refused without reading /proc."""
        if target.presence is not Presence.ALIVE:
            raise TargetError(Status.REFUSED, target.presence.text)
        if target.pid < _INIT:
            raise TargetError(Status.REFUSED, "not a pid")
        if target.pid == _INIT:
            raise TargetError(Status.REFUSED, "it is init, which everything depends on")
        if target.pid in self._protected:
            raise TargetError(Status.REFUSED, "it is gputop itself", "To leave gputop, press q.")
        if target.start_ticks is None:
            raise TargetError(Status.REFUSED, _NO_START, _NO_START_REMEDY)
        if not self._is_ours():
            raise TargetError(Status.REFUSED, _FOREIGN, _FOREIGN_REMEDY)

    def refuse_dead(self, stat: ProcessStat) -> None:
        """Refuse a process that has exited, unless threads of it still run."""
        if stat.state in "ZX" and stat.threads <= 1:
            above = parse_stat(Files(self._proc).raw(f"{stat.parent_pid}/stat"))
            parent = f"{stat.parent_pid}" + (f" ({decode(above.name)})" if above else "")
            detail = f"it has exited; its parent {parent} has not collected it yet"
            raise TargetError(Status.REFUSED, detail, f"It disappears when {parent} collects it or exits.")

    def _open(self, pid: int) -> int | None:
        try:
            return self._kernel.open(pid)
        except GONE:
            raise TargetError(Status.GONE, _ENDED) from None
        except PermissionError:  # the kernel itself never says this of pidfd_open
            raise TargetError(Status.REFUSED, "the sandbox forbids pidfds", _FORBIDDEN_REMEDY) from None
        except OSError as error:
            if error.errno == errno.ENOSYS:
                return None
            raise TargetError(Status.FAILED, f"no pidfd: {error.strerror}") from None

    def _compare_inode(self, target: Target, descriptor: int | None) -> None:
        inode = None if descriptor is None else self._kernel.inode(descriptor)
        if self._inodes.setdefault(target.id, inode) != inode:
            raise PidReusedError


def _is_kernel_thread(raw: bytes) -> bool:
    fields = raw[raw.rfind(b")") + 1 :].split(None, _FLAGS_AT + 1)
    return len(fields) > _FLAGS_AT and fields[_FLAGS_AT].isdigit() and bool(int(fields[_FLAGS_AT]) & _KERNEL_THREAD)
