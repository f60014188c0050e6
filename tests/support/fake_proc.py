"""A /proc that is a dictionary, for tests of the readers."""

import errno
import os
from collections.abc import Mapping
from typing import Any, TypeVar

T = TypeVar("T")

INITIAL = "pid:[4026531836]"
BOOT_S = 1_700_000_000

ENOENT = FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT))
ESRCH = ProcessLookupError(errno.ESRCH, os.strerror(errno.ESRCH))
EACCES = PermissionError(errno.EACCES, os.strerror(errno.EACCES))


def stat_line(
    pid: int, name: bytes = b"python", *, state: str = "S", parent: int = 1, user: int = 0, system: int = 0,
    nice: int = 0, threads: int = 1, start: int = 5000, pages: int = 256, memory: str = "0 0 0 0",
) -> bytes:  # fmt: skip
    """Return the 52 fields of proc_pid_stat(5). ``memory``: where command line and environment begin and end."""
    times = f"{user} {system} 7 8 20 {nice} {threads} 0 {start}"
    rest = f"2990080 {pages} 18446744073709551615 1 2 3 0 0 0 0 0 0 1 0 0 17 1 0 0 0 0 0 0 0 0 {memory} 0"
    return b"%d (%s) %s\n" % (pid, name, f"{state} {parent} {pid} {pid} 0 -1 4194304 1 2 3 4 {times} {rest}".encode())


class FakeProc:
    """``files``, ``links`` and ``directories`` by path; an OSError as a value is raised. ``reads``: paths, in order."""

    def __init__(self, files: Mapping[str, Any] | None = None) -> None:
        self.files: dict[str, bytes | OSError] = {
            "stat": b"cpu  1 2 3 4 5 6 7 8 0 0\nintr 5\nbtime %d\n" % BOOT_S,
            "1/stat": stat_line(1, b"init", parent=0),
        } | dict(files or {})
        self.links: dict[str, str | OSError] = {"self/ns/pid": INITIAL}
        self.directories: dict[str, list[str] | OSError] = {}
        self.reads: list[str] = []
        self.now_ticks = 1_000_000_000  # every start is long ago

    def add(self, pid: int, *, uid: int = 1000, command: bytes = b"python\0train.py\0", **fields: Any) -> None:
        """Add a process, or bring an old one up to date."""
        self.files |= {
            f"{pid}/stat": stat_line(pid, **fields),
            f"{pid}/status": b"Name:\tx\nUmask:\t0022\nUid:\t%d\t0\t0\t0\nGid:\t7\t7\t7\t7\n" % uid,
            f"{pid}/cmdline": command,
        }

    def tell(self, pid: int, *, cgroup: str | OSError = "0::/", environ: bytes | OSError = b"") -> None:
        """Give a process a cgroup and an environment."""
        self.files[f"{pid}/cgroup"] = cgroup if isinstance(cgroup, OSError) else f"{cgroup}\n".encode()
        self.files[f"{pid}/environ"] = environ

    def add_children(self, pid: int, *children: int) -> None:
        """Let the first thread of a process have forked these."""
        self.files[f"{pid}/task/{pid}/children"] = " ".join(map(str, (*children, ""))).encode()

    def add_threads(self, pid: int, ticks: Mapping[int, int]) -> None:
        """Give a process these threads, by tid the user time of each."""
        self.directories[f"{pid}/task"] = [str(tid) for tid in ticks]
        self.files |= {f"{pid}/task/{tid}/stat": stat_line(tid, user=spent) for tid, spent in ticks.items()}

    def open_files(self, pid: int, *targets: str) -> None:
        """Let a process hold these files open."""
        self.directories[f"{pid}/fd"] = [str(n) for n in range(len(targets))]
        self.links |= {f"{pid}/fd/{n}": target for n, target in enumerate(targets)}

    def remove(self, pid: int) -> None:
        """End a process."""
        self.files = {path: content for path, content in self.files.items() if not path.startswith(f"{pid}/")}

    def read(self, path: str) -> bytes:
        self.reads.append(path)
        return _given(self.files, path)

    def reread(self, path: str) -> bytes:
        """Return the content of a file."""
        return self.read(path)

    def forget(self, path: str) -> None:
        """Do nothing: no file is kept open."""

    def ticks(self) -> int:
        """Return the present clock tick."""
        return self.now_ticks

    def list(self, path: str) -> list[str]:
        return _given(self.directories, path)

    def link(self, path: str) -> str:
        return _given(self.links, path)


def _given(table: Mapping[str, T | OSError], path: str) -> T:
    value = table.get(path, ENOENT)
    if isinstance(value, OSError):
        raise value
    return value
