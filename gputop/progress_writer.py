"""The writer of progress reports: `gputop.report(step=…, total=…, loss=…)` writes one small file per process.

It runs in training loops of users: it imports very little, works at most once a second, and only waits for a write to
a RAM disk. A shell can write the file too; see docs/progress.md.
"""

import os
import sys
import time
from atexit import register
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any, Final, SupportsFloat

EVERY_S: Final = 1.0
FOLDER_VARIABLE: Final = "GPUTOP_PROGRESS_DIR"
_OPEN_FOLDER: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_CREATE: Final = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_STALE_S: Final = 86_400.0
_MOST_DEVICES: Final = 16
_MEMORY: Final = (
    ("allocated", "allocated_bytes.all.current"),
    ("reserved", "reserved_bytes.all.current"),
    ("peak", "allocated_bytes.all.peak"),
    ("retries", "num_alloc_retries"),
    ("ooms", "num_ooms"),
)
_LARGEST: Final = 2.0**53  # up to here a float represents every integer


def folders(uid: int, environment: Mapping[str, str]) -> list[str]:
    """Return the folders for the files of a user, the first choice first. ``environment``: as os.environ.

    The runtime directory disappears when its user logs out, and a job of cron or Slurm may have none.
    """
    chosen = environment.get(FOLDER_VARIABLE, "")
    if chosen.startswith("/"):
        return [chosen]
    runtime = environment.get("XDG_RUNTIME_DIR", "")
    found = [runtime + "/gputop"] if runtime.startswith("/") else []
    found += [f"/run/user/{uid}/gputop", f"/tmp/gputop-{uid}"]  # noqa: S108 - made 0700, and its owner is checked
    return list(dict.fromkeys(found))


class Reporter:
    """Writes the reports of this process. ``clock``: monotonic seconds; ``environment``: as os.environ."""

    def __init__(
        self, clock: Callable[[], float] = time.monotonic, environment: Mapping[str, str] = os.environ
    ) -> None:
        self._clock = clock
        self._environment = environment
        self._due = 0.0
        self._pid = 0  # a child of fork has a file of its own
        self._name = ""
        self._folder = ""

    def report(
        self,
        step: SupportsFloat | None = None,
        total: SupportsFloat | None = None,
        loss: SupportsFloat | None = None,
        *,
        memory: bool = False,
    ) -> None:
        """Write the given numbers, at most once a second; the last step is always written.

        A number is converted only when it is written: the value of a tensor on a GPU waits for the GPU. Raises only
        errors of this conversion.
        """
        now, pid = self._clock(), os.getpid()
        is_last = step is not None and step == total
        if pid == self._pid and now < self._due and not is_last:
            return
        if pid != self._pid:
            self._pid, self._name, self._folder = pid, _file_name(pid), ""
        self._due = now + EVERY_S
        values = (
            ("step", _number(step)),
            ("total", _number(total)),
            ("loss", _number(loss)),
            ("cuda", _torch_memory() if memory else ""),
        )
        self._write("{" + ", ".join(f'"{name}": {text}' for name, text in values if text) + "}\n")

    def clear(self) -> None:
        """Remove the file of this process."""
        if self._folder and self._pid == os.getpid():
            with suppress(OSError):
                os.unlink(f"{self._folder}/{self._name}")

    def _write(self, text: str) -> None:
        if self._folder:
            try:
                return _put(self._folder, self._name, text)
            except OSError:
                self._folder = ""  # the user logged out, so the runtime directory no longer exists
        for folder in folders(os.geteuid(), self._environment):
            with suppress(OSError):
                _put(folder, self._name, text)
                self._folder = folder
                return _sweep(folder)
        return None


def report(
    step: SupportsFloat | None = None,
    total: SupportsFloat | None = None,
    loss: SupportsFloat | None = None,
    *,
    memory: bool = False,
) -> None:
    """Write the numbers; see `gputop.report`."""
    _OF_THIS_PROCESS.report(step, total, loss, memory=memory)


def _number(value: SupportsFloat | None) -> str:
    """Return a number as JSON; empty if JSON has no such number, such as an infinite loss."""
    if value is None:
        return ""
    number = float(value)
    if number - number != 0:  # infinite, or not a number
        return ""
    return str(int(number)) if abs(number) < _LARGEST and number == int(number) else repr(number)


def _torch_memory() -> str:
    """Return the counters of PyTorch's allocator per device as JSON; empty unless the program uses torch with CUDA."""
    torch: Any = sys.modules.get("torch")
    try:
        if torch is None or not torch.cuda.is_initialized():
            return ""
        devices = []
        for device in range(min(torch.cuda.device_count(), _MOST_DEVICES)):
            stats = torch.cuda.memory_stats(device)
            if stats.get("reserved_bytes.all.peak"):
                values = ", ".join(f'"{name}": {int(stats[key])}' for name, key in _MEMORY)
                devices.append(f'"{device}": {{{values}}}')
    except Exception:  # noqa: BLE001 - torch is foreign, and a report must not end a training
        return ""
    return f"{{{', '.join(devices)}}}" if devices else ""


def _file_name(pid: int) -> str:
    """Return ``PID-START.json``. The start time, in clock ticks since boot, excludes earlier processes of the pid."""
    try:
        with open("/proc/self/stat", "rb") as stat:
            start = stat.read().rpartition(b")")[2].split()[19].decode()
    except (OSError, IndexError):
        return f"{pid}.json"
    return f"{pid}-{start}.json"


def _put(folder: str, name: str, text: str) -> None:
    """Replace a file atomically. Raises OSError, also if the folder belongs to another user."""
    with suppress(FileExistsError):
        os.mkdir(folder, 0o700)
    place = os.open(folder, _OPEN_FOLDER)
    try:
        found = os.fstat(place)
        if found.st_uid != os.geteuid() or found.st_mode & 0o022:
            raise PermissionError(folder)
        draft = f".{name}"
        with suppress(FileNotFoundError):
            os.unlink(draft, dir_fd=place)  # left by a process that was killed while it wrote
        file = os.open(draft, _CREATE, 0o600, dir_fd=place)
        try:
            os.write(file, text.encode())
        finally:
            os.close(file)
        os.rename(draft, name, src_dir_fd=place, dst_dir_fd=place)
    finally:
        os.close(place)


def _sweep(folder: str) -> None:
    """Remove the files of exited processes, a day after their last report."""
    before = time.time() - _STALE_S
    for name in os.listdir(folder):
        pid = name.lstrip(".").partition(".")[0].partition("-")[0]
        with suppress(OSError):
            path = f"{folder}/{name}"
            if pid.isdigit() and os.lstat(path).st_mtime < before and not os.path.exists(f"/proc/{pid}"):
                os.unlink(path)


_OF_THIS_PROCESS: Final = Reporter()
register(_OF_THIS_PROCESS.clear)
