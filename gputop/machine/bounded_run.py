"""A program with a limit of time and of output."""

import os
import selectors
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Final

from msgspec import Struct

_CHUNK: Final = 65_536
_MOST_WORDS: Final = 65_536
_NO_GROUP: Final = 65_534


class Ran(Struct, frozen=True):
    """The end of a program. ``status``: None if it was killed at a limit, which ``excess`` names."""

    status: int | None
    out: bytes
    err: bytes
    excess: str = ""


def run_bounded(
    words: Sequence[str], limit_s: float, most_bytes: int, environment: Mapping[str, str],
    *, stdin: int = subprocess.DEVNULL, user: int | None = None, can_ask: bool = False,
    grace_s: float = 0.0,
) -> Ran:  # fmt: skip
    """Run a program without a shell; kill it at a limit. ``stdin``: a descriptor, else it has no input.

    ``user``: a uid without the rights of its groups; None is our own. ``can_ask``: it keeps our terminal.
    ``grace_s``: SIGTERM comes so long before SIGKILL, to end what it began elsewhere. Raises OSError if it cannot be
    started.
    """
    until = time.monotonic() + limit_s
    pipe = subprocess.PIPE
    groups = None if user is None else ()
    with subprocess.Popen(
        words, stdin=stdin, stdout=pipe, stderr=pipe, env=dict(environment), start_new_session=not can_ask,
        user=user, group=_group(user), extra_groups=groups,
    ) as child:  # fmt: skip
        try:
            out, err, excess = _read(child, until, most_bytes)
            status = None if excess else child.wait(max(0.0, until - time.monotonic()))
        except subprocess.TimeoutExpired:
            status, excess = None, "took too long"
        finally:
            if grace_s and child.poll() is None:
                _end(child, time.monotonic() + grace_s)
            child.kill()
        return Ran(status, out, err, excess)


def _group(user: int | None) -> int | None:
    """Return the main group of a user; that of no user if it is not known."""
    if user is None:
        return None
    import pwd  # noqa: PLC0415 - seldom needed

    try:
        return pwd.getpwuid(user).pw_gid
    except KeyError:
        return _NO_GROUP


def _read(child: "subprocess.Popen[bytes]", until: float, most_bytes: int) -> tuple[bytes, bytes, str]:
    """Return stdout and stderr, and the exceeded limit; what stderr has beyond some KiB is dropped."""
    out, err = bytearray(), bytearray()
    try:
        for is_out, part in _parts(child, until):
            if is_out:
                out += part
            elif len(err) < _MOST_WORDS:
                err += part
            if len(out) > most_bytes:
                return b"", bytes(err), "sent too much"
    except subprocess.TimeoutExpired:
        return bytes(out), bytes(err), "took too long"
    return bytes(out), bytes(err), ""


def _end(child: "subprocess.Popen[bytes]", until: float) -> None:
    """Send SIGTERM, and discard the output until the end: a full pipe would block the program."""
    child.terminate()
    with suppress(subprocess.TimeoutExpired):
        for _ in _parts(child, until):
            pass
        child.wait(max(0.0, until - time.monotonic()))


def _parts(child: "subprocess.Popen[bytes]", until: float) -> Iterator[tuple[bool, bytes]]:
    """Yield the output in parts, with whether it is of stdout. Raises TimeoutExpired if it goes on for too long."""
    with selectors.DefaultSelector() as selector:
        for pipe in (child.stdout, child.stderr):
            if pipe is not None:
                selector.register(pipe, selectors.EVENT_READ)
        while selector.get_map():
            left = until - time.monotonic()
            ready = selector.select(max(0.0, left))
            if not ready or left < 0:
                raise subprocess.TimeoutExpired(child.args, 0.0)
            for key, _ in ready:
                part = os.read(key.fd, _CHUNK)
                if part:
                    yield key.fileobj is child.stdout, part
                else:
                    selector.unregister(key.fileobj)
