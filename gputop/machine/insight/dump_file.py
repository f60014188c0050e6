"""A dump of the Flight Recorder as a file of its user: opened with care, and read by a process of its own."""

import errno
import os
import stat
import sys
from typing import Final

from msgspec import DecodeError, Struct
from msgspec.json import Decoder

from gputop.core.insight.flight_dump import FlightDump
from gputop.core.text.text import decode
from gputop.machine.bounded_run import run_bounded
from gputop.machine.insight.flight_child import MOST_BYTES

_OPEN: Final = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
_WRITE: Final = os.O_WRONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
_LIMIT_S: Final = 15.0
_MOST_OUT: Final = 8 << 20
_READER: Final = (  # without the working directory on its path
    "import sys; sys.path[:] = filter(None, sys.path); "
    "from gputop.machine.insight.flight_child import main; sys.exit(main())"
)
_DECODER: Final = Decoder(FlightDump)


class Seen(Struct, frozen=True):
    """The state of a file. It is complete once two readings are equal."""

    mtime_ns: int
    size: int


def seen(path: str) -> Seen | None:
    """Return the state of a file; None without one."""
    try:
        found = os.stat(path, follow_symlinks=False)
    except OSError:
        return None
    return Seen(found.st_mtime_ns, found.st_size)


def read_dump(path: str, uid: int) -> FlightDump:
    """Return the dump in a file of a user. Raises OSError, and ValueError with the reason for another file."""
    file = os.open(path, _OPEN)
    try:
        found = os.fstat(file)
        if not stat.S_ISREG(found.st_mode):
            raise ValueError("it is not a regular file")
        _check_owner(found, uid)
        if found.st_size > MOST_BYTES:
            raise ValueError(f"it is larger than {MOST_BYTES >> 20} MiB")
        return _parsed(file)
    finally:
        os.close(file)


def ask_for_dump(path: str, uid: int) -> None:
    """Write a byte to the pipe of a rank, which then writes a dump. Raises OSError and ValueError like `read_dump`."""
    pipe = os.open(path, _WRITE)
    try:
        found = os.fstat(pipe)
        if not stat.S_ISFIFO(found.st_mode):
            raise ValueError("it is not a pipe")
        _check_owner(found, uid)
        os.write(pipe, b"1")
    finally:
        os.close(pipe)


def reason_of(error: OSError | ValueError) -> str:
    """Return why a file or pipe was not used."""
    if not isinstance(error, OSError):
        return str(error)
    words = {errno.ELOOP: "it is a link", errno.ENXIO: "the process does not read it"}
    return words.get(error.errno or 0) or error.strerror or str(error)


def _check_owner(found: os.stat_result, uid: int) -> None:
    if found.st_uid != uid:
        raise ValueError("it belongs to another user than the process")


def _parsed(file: int) -> FlightDump:
    ran = run_bounded([sys.executable, "-c", _READER], _LIMIT_S, _MOST_OUT, os.environ, stdin=file)
    if ran.status != 0:
        lines = ran.err.splitlines()
        raise ValueError(decode(lines[-1][:200]) if lines and ran.status == 1 else ran.excess or "it ended its reader")
    try:
        return _DECODER.decode(ran.out)
    except (DecodeError, RecursionError):
        raise ValueError("it is damaged") from None
