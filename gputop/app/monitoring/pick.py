"""Pick: the freest GPUs, for CUDA_VISIBLE_DEVICES."""

import os
import sys
import time
from collections.abc import Callable
from typing import Final

from msgspec import Struct

from gputop.app.backend.backend import USUAL_INTERVAL_S, BackendRequest
from gputop.app.backend.choice import open_backend
from gputop.app.errors import UseCaseError
from gputop.app.monitoring.frames import open_source
from gputop.core.model.sample import Frame
from gputop.core.monitor import Monitor
from gputop.core.query.pick import Pick, Wish, pick
from gputop.core.text.text import clean

_NOT_STARTED: Final = {True: 127, False: 126}  # as of a shell: not found, cannot be run


class PickRequest(Struct, frozen=True, kw_only=True):
    """A pick. ``waits``: until there are enough free GPUs."""

    backend: BackendRequest
    wish: Wish
    waits: bool = False


def pick_gpus(request: PickRequest, notify: Callable[[str], None]) -> Pick:
    """Read twice, or until there are enough GPUs. ``notify``: receives the obstacles before a wait."""
    source = open_source(open_backend(request.backend), is_once=True)
    interval_s = request.backend.interval_s or USUAL_INTERVAL_S
    return picked(Monitor(source).step, request.wish, lambda: time.sleep(interval_s), notify, waits=request.waits)


def picked(
    step: Callable[[], Frame], wish: Wish, pause: Callable[[], None], notify: Callable[[str], None], *, waits: bool
) -> Pick:
    """Read twice and choose; with ``waits`` continue until there are enough, and report the obstacles once."""
    before = step()
    has_told = False
    while True:
        pause()
        now = step()
        found = pick(before, now, wish)
        if found.chosen or not waits:
            return found
        if not has_told:
            notify(in_the_way(found, wish))
            notify("waiting")
            has_told = True
        before = now


def text(found: Pick, form: str) -> str:
    """Return the chosen GPUs as JSON, indices, UUIDs, or a variable for a shell."""
    if form == "json":
        import msgspec

        return msgspec.json.encode(found).decode()
    if form == "index":
        return ",".join(one.place for one in found.chosen)
    return ("CUDA_VISIBLE_DEVICES=" if form == "env" else "") + _uuids(found)


def in_the_way(found: Pick, wish: Wish) -> str:
    """Return how many GPUs were found, and a line for each obstacle."""
    none = "" if found.suitable or found.obstacles else ": the driver lists none"
    lines = [f"{found.suitable} of {wish.count} GPUs found{none}"]
    return "\n".join([*lines, *(f"  GPU {one.place}: {one.reason}" for one in found.obstacles)])


def become(command: list[str], found: Pick) -> None:
    """Replace this process by the command. Raises UseCaseError with the status that a shell would give if it fails."""
    import signal

    for ignored in (signal.SIGPIPE, signal.SIGXFSZ):  # Python ignores them, and the command would inherit that
        signal.signal(ignored, signal.SIG_DFL)
    chosen = {"CUDA_DEVICE_ORDER": "PCI_BUS_ID", "CUDA_VISIBLE_DEVICES": _uuids(found)}
    sys.stdout.flush()
    try:
        os.execvpe(command[0], command, os.environ | chosen)  # noqa: S606 - the user wants this process to become it
    except OSError as error:
        status = _NOT_STARTED[isinstance(error, FileNotFoundError)]
        raise UseCaseError(status, f"cannot run {clean(command[0])}: {error.strerror}") from None


def _uuids(found: Pick) -> str:
    return ",".join(one.uuid for one in found.chosen)
