"""The kernel calls that change a process: a narrow border, which tests replace."""

import errno
import os
import signal
from collections.abc import Iterable
from typing import Any, Final, Protocol

_IO_CALLS: Final = {  # numbers of ioprio_set and ioprio_get; neither Python nor the C library has them
    "x86_64": (251, 252),
    "aarch64": (30, 31),
    "riscv64": (30, 31),
    "ppc64le": (273, 274),
    "s390x": (282, 283),
}
_PIDFS: Final = 0x50494446  # PID_FS_MAGIC
_STATFS_BYTES: Final = 512  # more than any machine's struct statfs
_WHO_THREAD: Final = 1  # IOPRIO_WHO_PROCESS, which means a thread, as in setpriority


class KernelCalls(Protocol):
    """The calls to the kernel of this machine, or of a simulated box. All raise OSError."""

    def open(self, pid: int) -> int:
        """Return a descriptor of the process that has this pid now; ENOSYS if the kernel has no pidfds."""
        ...

    def close(self, descriptor: int) -> None:
        """Close a descriptor."""
        ...

    def inode(self, descriptor: int) -> int | None:
        """Return the number of a process, which no other process has until the next boot; None before Linux 6.9."""
        ...

    def send(self, descriptor: int, number: int) -> None:
        """Send a signal to the process of a descriptor, even if its pid was reused."""
        ...

    def kill(self, pid: int, number: int) -> None:
        """Send a signal to the process that has this pid now."""
        ...

    def nice(self, tid: int) -> int:
        """Return the nice value of a thread."""
        ...

    def set_nice(self, tid: int, nice: int) -> None:
        """Set the nice value of a thread."""
        ...

    def cpus(self, tid: int) -> tuple[int, ...]:
        """Return the CPUs that a thread may run on."""
        ...

    def set_cpus(self, tid: int, cpus: Iterable[int]) -> None:
        """Set the CPUs of a thread; EINVAL if none exists."""
        ...

    def io_priority(self, tid: int) -> int:
        """Return the I/O priority of a thread: its class from bit 13 on, its level in the lowest three."""
        ...

    def set_io_priority(self, tid: int, priority: int) -> None:
        """Set the I/O priority of a thread."""
        ...


class Kernel:
    """The kernel of this machine. All raise OSError."""

    def open(self, pid: int) -> int:
        """Return a descriptor of the process that has this pid now; ENOSYS before Linux 5.3."""
        if not hasattr(os, "pidfd_open"):
            raise OSError(errno.ENOSYS, "this Python was built without pidfds")
        return os.pidfd_open(pid)

    def close(self, descriptor: int) -> None:
        """Close a descriptor."""
        os.close(descriptor)

    def inode(self, descriptor: int) -> int | None:
        """Return the inode of a pidfd of pidfs; all pidfds of older kernels have the same."""
        return os.fstat(descriptor).st_ino if _file_system(descriptor) == _PIDFS else None

    def send(self, descriptor: int, number: int) -> None:
        """Send a signal to the process of a descriptor, even if its pid was reused."""
        signal.pidfd_send_signal(descriptor, number)

    def kill(self, pid: int, number: int) -> None:
        """Send a signal to the present process of a pid."""
        os.kill(pid, number)

    def nice(self, tid: int) -> int:
        """Return the nice value of a thread."""
        return os.getpriority(os.PRIO_PROCESS, tid)

    def set_nice(self, tid: int, nice: int) -> None:
        """Set the nice value of a thread. PRIO_PROCESS means a thread on Linux, not a process."""
        os.setpriority(os.PRIO_PROCESS, tid, nice)

    def cpus(self, tid: int) -> tuple[int, ...]:
        """Return the CPUs that a thread may run on."""
        return tuple(os.sched_getaffinity(tid))

    def set_cpus(self, tid: int, cpus: Iterable[int]) -> None:
        """Set the CPUs of a thread. The kernel drops those outside the thread's cpuset; EINVAL if none is left."""
        os.sched_setaffinity(tid, cpus)

    def io_priority(self, tid: int) -> int:
        """Return the I/O priority of a thread: its class from bit 13 on, its level in the lowest three."""
        return _call(_IO_CALLS[_machine()][1], _WHO_THREAD, tid)

    def set_io_priority(self, tid: int, priority: int) -> None:
        """Set the I/O priority of a thread."""
        _call(_IO_CALLS[_machine()][0], _WHO_THREAD, tid, priority)


def _machine() -> str:
    machine = os.uname().machine
    if machine not in _IO_CALLS:
        raise OSError(errno.ENOSYS, f"gputop does not know the I/O priority calls of {machine}")
    return machine


def _file_system(descriptor: int) -> int:
    """Return the magic number of the file system of a file; 0 if unknown."""
    import ctypes  # noqa: PLC0415 - only for a call

    answer = ctypes.create_string_buffer(_STATFS_BYTES)
    library: Any = ctypes.CDLL(None)
    library.fstatfs(descriptor, answer)
    return ctypes.c_int32.from_buffer(answer).value


def _call(number: int, *arguments: int) -> int:
    """Make a system call. Raises OSError."""
    import ctypes  # noqa: PLC0415 - only for a call

    library: Any = ctypes.CDLL(None, use_errno=True)
    answer: int = library.syscall(*(ctypes.c_long(each) for each in (number, *arguments)))
    if answer < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return answer
