"""Reader of the kernel log: /dev/kmsg if permitted, else the journal."""

import errno
import os
import threading
from collections.abc import Callable, Iterator, Mapping
from typing import Final

from gputop.core.doctor.kernel_log import LogLine, is_relevant
from gputop.core.model.plausible import is_time
from gputop.core.text.text import excerpt
from gputop.machine.files.walk import program
from gputop.machine.proc.root import Files, Root
from gputop.machine.proc.stat import parse_boot_s

_JOURNAL: Final = ("journalctl", "--dmesg", "--boot", "--output=short-unix", "--no-pager", "--quiet", "--reverse")
_JOURNAL_S: Final = 1.5
_MOST: Final = 20_000
_MOST_BYTES: Final = 8 * 2**20
_MOST_DIGITS: Final = 18
_LONGEST: Final = 1000  # characters of a line; a process may choose a part of it, and patterns are searched in it
Journal = Callable[[], str]


class LogUnreadError(Exception):
    """The kernel log is not readable; the text says why."""


def kernel_log(root: Root, journal: Journal) -> tuple[LogLine, ...]:
    """Return the lines of this boot that concern GPUs. Raises `LogUnreadError`."""
    try:
        lines = _of_kmsg(root.read("dev/kmsg").decode("utf-8", "replace"), parse_boot_s(Files(root).raw("proc/stat")))
    except OSError as error:
        lines = list(_of_journal(journal()))
        if not lines:
            raise LogUnreadError(_why(root, error)) from None
    return tuple(line for line in lines if is_relevant(line.text))[-_MOST:]


def real_journal(environment: Mapping[str, str] = os.environ) -> str:
    """Return the kernel's journal lines of this boot; empty if there is no readable journal."""
    import subprocess  # noqa: PLC0415 - only where /dev/kmsg is closed

    null, raw = subprocess.DEVNULL, b""
    path = program(_JOURNAL[0], environment)
    if path is None:
        return ""
    try:
        with subprocess.Popen((path, *_JOURNAL[1:]), stdin=null, stdout=subprocess.PIPE, stderr=null) as child:
            timer = threading.Timer(_JOURNAL_S, child.kill)
            timer.start()
            if child.stdout is not None:
                raw = child.stdout.read(_MOST_BYTES)  # the newest lines, if there are more
            timer.cancel()
            child.kill()
    except OSError:
        return ""
    return "\n".join(reversed(raw.decode(errors="replace").splitlines()))


def _of_kmsg(text: str, boot_s: float | None) -> list[LogLine]:
    """Return the records: ``6,339,5140900,-;text``, the time in microseconds since the boot."""
    found = []
    for record in text.splitlines():
        head, semicolon, message = record.partition(";")
        parts = head.split(",")
        if semicolon and len(parts) > 2 and parts[2].isdecimal() and len(parts[2]) <= _MOST_DIGITS:
            time_s = None if boot_s is None else boot_s + int(parts[2]) / 1e6
            found.append(LogLine(time_s, excerpt(message, _LONGEST)))
    return found


def _of_journal(text: str) -> Iterator[LogLine]:
    """Yield the lines: ``1700000000.123456 host kernel: text``."""
    for line in text.splitlines():
        stamp, _, rest = line.partition(" ")
        _, kernel, message = rest.partition(" kernel: ")
        try:
            time_s = float(stamp)
        except ValueError:
            continue
        if kernel and is_time(time_s):
            yield LogLine(time_s, excerpt(message, _LONGEST))


def _why(root: Root, error: OSError) -> str:
    if isinstance(error, FileNotFoundError):
        return "no /dev/kmsg (in a container?) and no journal"
    if error.errno in {errno.EPERM, errno.EACCES}:
        is_restricted = Files(root).text("proc/sys/kernel/dmesg_restrict") == "1"
        reason = "kernel.dmesg_restrict is 1" if is_restricted else "no permission"
        return f"{reason}, and gputop cannot read the journal: needs root"
    return f"/dev/kmsg: {error.strerror}"
