"""The line of /proc/PID/stat and of /proc/PID/task/TID/stat."""

from typing import Final

from msgspec import Struct

_USED: Final = 22  # fields after the name; the rest stays in one piece, which proves that they are complete


class ProcessStat(Struct, frozen=True, gc=False):
    """The used fields of the line. ``cpu_ticks``: user and system time; ``start_ticks``: after the boot."""

    name: bytes
    state: str
    parent_pid: int
    cpu_ticks: int
    nice: int
    threads: int
    start_ticks: int
    resident_pages: int


def parse_stat(raw: bytes) -> ProcessStat | None:
    """Return the parsed line; None if it is truncated or malformed.

    The process chooses its own name, which may contain blanks, parentheses and newlines, so the line is split at the
    last parenthesis.
    """
    end = raw.rfind(b")")
    begin = raw.find(b"(")
    if not 0 < begin < end:
        return None
    fields = raw[end + 1 :].split(None, _USED)
    if len(fields) <= _USED:
        return None
    try:
        return ProcessStat(
            raw[begin + 1 : end],
            _state(fields[0]),
            int(fields[1]),
            int(fields[11]) + int(fields[12]),
            int(fields[16]),
            int(fields[17]),
            int(fields[19]),
            int(fields[21]),
        )
    except ValueError:
        return None


def parse_cpu_ticks(raw: bytes) -> int | None:
    """Return user and system time of a process or thread; None if the line is malformed."""
    fields = raw[raw.rfind(b")") + 1 :].split(None, 13)
    try:
        return int(fields[11]) + int(fields[12])
    except (IndexError, ValueError):
        return None


def parse_boot_s(raw: bytes) -> float | None:
    """Return when the host was booted, from the text of /proc/stat; None if it does not state it."""
    try:
        return float(raw.partition(b"\nbtime ")[2].split(None, 1)[0])
    except (IndexError, ValueError):
        return None


def parse_uid(status: bytes) -> int | None:
    """Return the real uid, from the text of /proc/PID/status; None if it makes no sense.

    The directory of a process that is not dumpable belongs to root, so its owner does not tell.
    """
    try:
        return int(status.partition(b"\nUid:")[2].split(None, 1)[0])
    except (IndexError, ValueError):
        return None


def parse_terminal(raw: bytes) -> int:
    """Return tty_nr of a process; 0 if it has no terminal or the line is malformed."""
    fields = raw[raw.rfind(b")") + 1 :].split(None, 5)
    try:
        return max(0, int(fields[4]))
    except (IndexError, ValueError):
        return 0


def parse_lengths(raw: bytes) -> tuple[int, int]:
    """Return the lengths of the command line and of the environment in the memory of the process.

    0 for a process that has none or that we may not trace, and if the line is malformed.
    """
    fields = raw[raw.rfind(b")") + 1 :].split()
    try:
        arguments, end_of_arguments, environment, end = map(int, fields[45:49])
    except ValueError:
        return 0, 0
    return max(0, end_of_arguments - arguments), max(0, end - environment)


def parse_inner_pid(status: bytes, pid: int) -> int | None:
    """Return the last pid of NSpid, that of the innermost namespace, if it is different from ours."""
    words = status.partition(b"\nNSpid:")[2].partition(b"\n")[0].split()
    inner = int(words[-1]) if words and words[-1].isdigit() else pid
    return None if inner == pid else inner


def _state(field: bytes) -> str:
    if len(field) != 1 or not field.isalpha():
        raise ValueError(field)
    return chr(field[0])
