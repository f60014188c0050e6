"""Names of the system calls in which programs wait, by number."""

import os
from typing import Final

_X86_64: Final = {
    0: "read", 1: "write", 7: "poll", 16: "ioctl", 17: "pread64", 18: "pwrite64", 19: "readv", 20: "writev",
    23: "select", 24: "sched_yield", 34: "pause", 35: "nanosleep", 42: "connect", 43: "accept", 44: "sendto",
    45: "recvfrom", 46: "sendmsg", 47: "recvmsg", 61: "wait4", 73: "flock", 74: "fsync", 75: "fdatasync", 2: "open",
    3: "close", 4: "stat", 5: "fstat", 6: "lstat", 9: "mmap", 11: "munmap", 10: "mprotect", 12: "brk", 28: "madvise",
    40: "sendfile", 56: "clone", 57: "fork", 58: "vfork", 59: "execve", 60: "exit", 72: "fcntl", 87: "unlink",
    128: "rt_sigtimedwait", 130: "rt_sigsuspend", 162: "sync", 202: "futex", 219: "restart_syscall",
    230: "clock_nanosleep", 231: "exit_group", 232: "epoll_wait", 247: "waitid", 257: "openat", 262: "newfstatat",
    270: "pselect6", 271: "ppoll", 281: "epoll_pwait", 299: "recvmmsg", 332: "statx", 426: "io_uring_enter",
    435: "clone3", 441: "epoll_pwait2", 449: "futex_waitv",
}  # fmt: skip
_GENERIC: Final = {  # aarch64, riscv64
    22: "epoll_pwait", 25: "fcntl", 29: "ioctl", 32: "flock", 56: "openat", 57: "close", 61: "getdents64", 63: "read",
    64: "write", 65: "readv", 66: "writev", 67: "pread64", 68: "pwrite64", 71: "sendfile", 72: "pselect6", 73: "ppoll",
    79: "newfstatat", 80: "fstat", 81: "sync", 82: "fsync", 83: "fdatasync", 93: "exit", 94: "exit_group",
    95: "waitid", 98: "futex", 101: "nanosleep", 115: "clock_nanosleep", 124: "sched_yield", 128: "restart_syscall",
    133: "rt_sigsuspend", 137: "rt_sigtimedwait", 202: "accept", 203: "connect", 206: "sendto", 207: "recvfrom",
    211: "sendmsg", 212: "recvmsg", 214: "brk", 215: "munmap", 220: "clone", 221: "execve", 222: "mmap",
    226: "mprotect", 233: "madvise", 242: "accept4", 243: "recvmmsg", 260: "wait4", 291: "statx",
    426: "io_uring_enter", 435: "clone3", 441: "epoll_pwait2", 449: "futex_waitv",
}  # fmt: skip
_TABLES: Final = {"x86_64": _X86_64, "aarch64": _GENERIC, "riscv64": _GENERIC}


def system_call(raw: bytes, machine: str | None = None) -> str:
    """Return the name from the text of /proc/PID/syscall; its number if it has no name here, empty outside of one."""
    first = raw.split(b" ", 1)[0].strip()
    if not first.isdigit():
        return ""  # "running", or -1 outside of a system call
    number = int(first[:6])
    return _TABLES.get(machine or os.uname().machine, {}).get(number, f"number {number}")
