"""Progress of jobs, from small files that any user can write, so nothing in them is trusted.

A file counts for a process if it belongs to the process's user, and contains its pid and start time, or its pid alone
and is younger than the process. The pid may be that of the process's own PID namespace.
"""

import os
import re
import stat
from collections import deque
from collections.abc import Callable, Collection, Iterable, Mapping
from functools import partial
from itertools import islice
from operator import itemgetter
from typing import Annotated, Final, Protocol, TypeAlias

from msgspec import DecodeError, Meta, Raw, Struct
from msgspec.json import Decoder

from gputop.core.model.progress import Progress, TorchMemory
from gputop.machine.timed_calls import TimedCalls
from gputop.progress_writer import FOLDER_VARIABLE, folders

_OPEN_FOLDER: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_OPEN_FILE: Final = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_NAME: Final = r"([0-9]{1,10})(?:-([0-9]{1,18}))?\.json"  # compiled for the first file: most hosts have none
_LARGEST_FILE: Final = 4096
_LARGEST: Final = 1e15
_MOST_NAMES: Final = 1024  # per folder, of whatever kind: a listing must not take time for the names of strangers
_MOST_FILES: Final = 4096  # in all folders together
_LEAST_FILES: Final = 32  # that each folder may have nevertheless
_MOST_DEVICES: Final = 16
_MOST_USERS: Final = 64
_OTHERS_WRITE: Final = 0o022
_ABSENT_S: Final = 5.0  # do not look for a missing folder in every sample
_FUTURE_S: Final = 5.0
_APART_S: Final = 5.0
_PATIENCE_S: Final = 0.3  # for a folder on a file system that does not answer
_HASTE_S: Final = 0.05  # for the folder after it
_POINTS: Final = 60
_SLACK_S: Final = 2.0  # the boot time has a resolution of 1 s


_Bytes: TypeAlias = Annotated[int, Meta(ge=0, le=2**50)]


class Reporter(Struct, frozen=True):
    """A process that may have reported. ``inner_pid``: its pid in its own PID namespace, if that is different."""

    pid: int
    uid: int | None
    start_ticks: int | None
    started_s: float | None
    inner_pid: int | None = None


class Reports(Protocol):
    """A source of progress reports."""

    @property
    def pids(self) -> Collection[int]:
        """The pids that some file names."""
        ...

    def read_new(self, uids: Iterable[int], now: float) -> None:
        """Read new reports of these users. ``now``: monotonic seconds. Never raises."""
        ...

    def of(self, reporter: Reporter) -> Progress | None:
        """Return the last report of a process."""
        ...


class _Content(Struct):
    """The content of a file. Other keys are ignored."""

    step: int | float | None = None
    total: int | float | None = None
    loss: int | float | None = None
    cuda: Raw = Raw()


class _Memory(Struct):
    """The memory of a device."""

    allocated: _Bytes
    reserved: _Bytes
    peak: _Bytes = 0
    retries: _Bytes = 0
    ooms: _Bytes = 0


class _File:
    """The state of a file: the process that it names, its stat at the last reading, and its points for the rate."""

    __slots__ = ("pid", "points", "progress", "start_ticks", "stat_key", "uid")

    def __init__(self, pid: int, start_ticks: int | None) -> None:
        self.pid, self.start_ticks = pid, start_ticks
        self.stat_key: tuple[int, ...] = ()
        self.uid = -1
        self.progress: Progress | None = None
        self.points: deque[tuple[float, float]] = deque(maxlen=_POINTS)  # time and step, 5 s apart


class ProgressReader:
    """Lists a folder of each user with each sample, and reads the changed files. ``wall``: epoch seconds."""

    def __init__(
        self,
        wall: Callable[[], float],
        environment: Mapping[str, str],
        places: Callable[[int], Iterable[str]] | None = None,
        patience_s: float = _PATIENCE_S,
    ) -> None:
        self._wall = wall
        self._own = os.geteuid()
        self._environment = environment
        self._places = places or self._usual_places
        self._patience_s = patience_s
        self._calls = TimedCalls()
        self._is_slow = False
        self._absent: dict[str, float] = {}
        self._files: dict[str, dict[str, _File]] = {}  # by folder and name
        self.pids: dict[int, list[_File]] = {}
        self._decoder = Decoder(_Content)

    def read_new(self, uids: Iterable[int], now: float) -> None:
        """Read new reports of these users. Never raises."""
        wanted: dict[str, set[int]] = {}
        for uid in sorted(uids)[:_MOST_USERS]:
            for place in self._places(uid):
                wanted.setdefault(place, {0}).add(uid)
        most = max(_LEAST_FILES, _MOST_FILES // max(1, len(wanted)))
        files = {place: found for place, owners in wanted.items() if (found := self._folder(place, owners, now, most))}
        self._absent = {place: due for place, due in self._absent.items() if due > now}
        self._files = files
        self.pids = {}
        for found in files.values():
            for file in found.values():
                self.pids.setdefault(file.pid, []).append(file)

    def of(self, reporter: Reporter) -> Progress | None:
        """Return the last report of a process."""
        report = [
            file.progress
            for pid in {reporter.pid, reporter.inner_pid}
            for file in self.pids.get(pid or 0, ())
            if file.progress and file.uid == reporter.uid and _is_of(reporter, file, file.progress)
        ]
        return max(report, key=lambda progress: progress.time_s, default=None)

    def _usual_places(self, uid: int) -> Iterable[str]:
        """Return where a user's files may be; our own environment counts for us, a configured folder for all users."""
        chosen = {FOLDER_VARIABLE: self._environment.get(FOLDER_VARIABLE, "")}
        return folders(uid, self._environment if uid == self._own else chosen)

    def _folder(self, place: str, owners: Collection[int], now: float, most: int) -> dict[str, _File]:
        """Return the files in a folder, at most ``most``. It must belong to one of the owners, and be theirs alone."""
        if self._absent.get(place, 0.0) > now:
            return {}
        before = self._files.get(place, {})
        timeout_s = min(self._patience_s, _HASTE_S) if self._is_slow else self._patience_s
        try:
            found = self._calls.make(place, partial(self._read_folder, place, owners, before, most), timeout_s)
        except OSError as error:
            self._is_slow = isinstance(error, (TimeoutError, BlockingIOError))
            self._absent[place] = now + _ABSENT_S
            return {}
        self._is_slow = False
        return found

    def _read_folder(
        self, place: str, owners: Collection[int], before: Mapping[str, _File], most: int
    ) -> dict[str, _File]:
        """Read the files in a folder, in a thread: its file system may hang. Raises OSError if it cannot be opened."""
        found: dict[str, _File] = {}
        folder = _opened(place, owners)
        try:
            for name in _names(folder):
                file = before.get(name) or _named(name)
                if file and len(found) < most:
                    found[name] = file
                    self._read(folder, name, file)
        except OSError:
            return found
        finally:
            os.close(folder)
        return found

    def _read(self, folder: int, name: str, file: _File) -> None:
        """Read a file if it changed. A file that is unreadable or malformed changes nothing."""
        try:
            seen = os.stat(name, dir_fd=folder, follow_symlinks=False)
            stat_key = (seen.st_ino, seen.st_mtime_ns, seen.st_size, seen.st_uid, seen.st_mode)
            if stat_key == file.stat_key:
                return
            if seen.st_uid != file.uid:
                file.progress, file.uid = None, seen.st_uid
            file.stat_key = stat_key
            raw = _content(folder, name, seen.st_uid)
        except OSError:
            return
        report = self._parsed(raw) if raw else None
        at_s = seen.st_mtime_ns / 1e9
        if report is not None and at_s <= self._wall() + _FUTURE_S:
            file.progress = _with_rate(report, at_s, file.points)

    def _parsed(self, raw: bytes) -> _Content | None:
        try:
            report = self._decoder.decode(raw)
        except (DecodeError, UnicodeDecodeError, OverflowError, RecursionError):
            return None
        values = (report.step, report.total, report.loss)
        is_good = all(value is None or abs(value) <= _LARGEST for value in values)  # infinity and NaN are not
        return report if is_good and (report.step or 0) >= 0 and (report.total or 0) >= 0 else None


def _opened(place: str, owners: Collection[int]) -> int:
    """Open a folder. Raises OSError, also for one that a stranger made: it would take time in each sample."""
    folder = os.open(place, _OPEN_FOLDER)
    found = os.fstat(folder)
    if found.st_uid in owners and not found.st_mode & _OTHERS_WRITE:
        return folder
    os.close(folder)
    raise PermissionError(place)


def _names(folder: int) -> list[str]:
    """Return the first names in a folder; it may have millions. Raises OSError."""
    with os.scandir(folder) as entries:
        return [entry.name for entry in islice(entries, _MOST_NAMES)]


def _named(name: str) -> _File | None:
    found = re.fullmatch(_NAME, name)
    return _File(int(found[1]), int(found[2]) if found[2] else None) if found else None


def _is_of(reporter: Reporter, file: _File, progress: Progress) -> bool:
    """Return whether a file belongs to this owner of the pid, and not to an earlier one."""
    if file.start_ticks is not None:
        return file.start_ticks == reporter.start_ticks
    return reporter.started_s is not None and progress.time_s >= reporter.started_s - _SLACK_S


def _content(folder: int, name: str, uid: int) -> bytes | None:
    """Return the content of a file; None if the file was replaced. Raises OSError."""
    file = os.open(name, _OPEN_FILE, dir_fd=folder)
    try:
        found = os.fstat(file)
        is_plain = stat.S_ISREG(found.st_mode) and found.st_nlink == 1
        if not is_plain or found.st_uid != uid or found.st_size > _LARGEST_FILE:
            return None
        return os.read(file, _LARGEST_FILE)
    finally:
        os.close(file)


def _with_rate(report: _Content, at_s: float, points: deque[tuple[float, float]]) -> Progress:
    """Return a report with its rate since the oldest of the last points; restart after a step backwards."""
    rate = None
    if report.step is not None:
        if points and (report.step < points[-1][1] or at_s < points[-1][0]):
            points.clear()
        first_s, first_step = points[0] if points else (at_s, report.step)
        rate = (report.step - first_step) / (at_s - first_s) if at_s - first_s >= 1 else None
        if not points or at_s - points[-1][0] >= _APART_S:
            points.append((at_s, float(report.step)))
    return Progress(
        time_s=at_s,
        step=report.step,
        total=report.total,
        loss=report.loss,
        rate_per_s=rate or None,
        torch=_torch(report.cuda),
    )


def _torch(raw: Raw) -> tuple[TorchMemory, ...]:
    """Return the memory of PyTorch; nothing if another program uses the key for something else."""
    if not bytes(raw):
        return ()
    try:
        devices = Decoder(dict[str, _Memory]).decode(raw)
    except (DecodeError, RecursionError):
        return ()
    numbered = sorted(
        ((int(name), one) for name, one in devices.items() if re.fullmatch("[0-9]{1,3}", name)), key=itemgetter(0)
    )
    return tuple(
        TorchMemory(
            device=device, allocated=one.allocated, reserved=one.reserved, peak=one.peak, retries=one.retries,
            ooms=one.ooms,
        )
        for device, one in numbered[:_MOST_DEVICES]
    )  # fmt: skip
