"""A program with a limit of time and of output."""

import os
import selectors
import subprocess
import time
from collections.abc import Mapping, Sequence
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
            if grace_s:
                child.terminate()
                with suppress(subprocess.TimeoutExpired):
                    child.wait(grace_s)
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
    found = {pipe.fileno(): bytearray() for pipe in (child.stdout, child.stderr) if pipe is not None}
    out, err = found.values()
    with selectors.DefaultSelector() as selector:
        for descriptor in found:
            selector.register(descriptor, selectors.EVENT_READ)
        while selector.get_map():
            ready = selector.select(max(0.0, until - time.monotonic()))
            if not ready:
                return bytes(out), bytes(err), "took too long"
            for key, _ in ready:
                part = os.read(key.fd, _CHUNK)
                if not part:
                    selector.unregister(key.fd)
                elif found[key.fd] is out or len(err) < _MOST_WORDS:
                    found[key.fd] += part
            if len(out) > most_bytes:
                return b"", bytes(err), "sent too much"
    return bytes(out), bytes(err), ""
