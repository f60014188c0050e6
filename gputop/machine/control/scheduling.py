"""Nice value, I/O class and CPUs of a process: of all its threads, because the kernel keeps them per thread."""

from collections.abc import Callable
from typing import Final

from msgspec import Struct

from gputop.core.protocol.command import Change, IoClass, Renice, SetAffinity, SetIoClass, io_class_text
from gputop.core.text.ranges import ranges
from gputop.machine.control.kernel import KernelCalls

_NICEST, _LEAST_NICE = 19, -20
_MOST_CPUS: Final = 8192  # NR_CPUS of the largest kernels
_ROUNDS: Final = 3
_IO_CLASSES: Final = (IoClass.NONE, IoClass.REALTIME, IoClass.BEST_EFFORT, IoClass.IDLE)  # indexed by their numbers
_CLASS_BITS: Final = 13
_LEVELS: Final = 8


class Setting(Struct, frozen=True):
    """A value that each thread has: how to read it as text, and how to set it."""

    read: Callable[[int], str]
    write: Callable[[int], None]


def setting(change: Change, kernel: KernelCalls, pid: int) -> Setting:
    """Return the setting of a change. Raises ValueError with a message for impossible values, and OSError."""
    match change:
        case Renice():
            return _nice(change, kernel, pid)
        case SetIoClass():
            return _io_class(change, kernel)
        case SetAffinity():
            return _affinity(change, kernel)
        case _:
            raise ValueError("not a setting of a thread")


class Applied(Struct, frozen=True):
    """The value of the first thread before and after, and all threads that were set."""

    before: str
    after: str
    tids: frozenset[int]


def apply(wanted: Setting, pid: int, threads: Callable[[], set[int]]) -> Applied:
    """Set a value for all threads.

    renice(1) and top(1) set only the first thread, which is not what users expect. Another round finds threads that
    start during the first; threads that exit are skipped. Raises OSError.
    """
    before = wanted.read(pid)
    done: set[int] = set()
    for _ in range(_ROUNDS):
        fresh = threads() - done
        if not fresh:
            break
        for tid in sorted(fresh):
            _write(wanted, tid, pid)
        done |= fresh
    return Applied(before, wanted.read(pid), frozenset(done))


def _write(wanted: Setting, tid: int, pid: int) -> None:
    try:
        wanted.write(tid)
    except ProcessLookupError:
        if tid == pid:
            raise


def _nice(change: Renice, kernel: KernelCalls, pid: int) -> Setting:
    if not change.is_relative and not _LEAST_NICE <= change.nice <= _NICEST:
        raise ValueError(f"nice values go from {_LEAST_NICE} to {_NICEST}")
    value = change.nice + (kernel.nice(pid) if change.is_relative else 0)
    value = max(_LEAST_NICE, min(_NICEST, value))
    return Setting(lambda tid: str(kernel.nice(tid)), lambda tid: kernel.set_nice(tid, value))


def _io_class(change: SetIoClass, kernel: KernelCalls) -> Setting:
    if not 0 <= change.level < _LEVELS:
        raise ValueError(f"levels of an I/O class go from 0 to {_LEVELS - 1}")
    has_levels = change.io_class in (IoClass.REALTIME, IoClass.BEST_EFFORT)
    value = _IO_CLASSES.index(change.io_class) << _CLASS_BITS | (change.level if has_levels else 0)
    return Setting(lambda tid: io_text(kernel.io_priority(tid)), lambda tid: kernel.set_io_priority(tid, value))


def io_text(value: int) -> str:
    """Return a kernel I/O priority as text."""
    number = value >> _CLASS_BITS
    return io_class_text(_IO_CLASSES[number], value % _LEVELS) if number < len(_IO_CLASSES) else str(value)


def _affinity(change: SetAffinity, kernel: KernelCalls) -> Setting:
    if not change.cpus or not all(0 <= cpu < _MOST_CPUS for cpu in change.cpus):
        raise ValueError("choose at least one CPU that exists")
    return Setting(lambda tid: ranges(kernel.cpus(tid)), lambda tid: kernel.set_cpus(tid, change.cpus))
