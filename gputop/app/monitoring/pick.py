"""Pick: the freest GPUs, for CUDA_VISIBLE_DEVICES."""

import os
import sys
import time
from collections.abc import Callable
from typing import Final

from msgspec import Struct

from gputop.app.backend.backend import BackendRequest
from gputop.app.errors import OK, UNKNOWN, BadRequestError, UseCaseError
from gputop.app.monitoring.frames import open_source
from gputop.app.terminal import warn
from gputop.core.model.sample import Frame
from gputop.core.model.units import bytes_text
from gputop.core.monitor import Monitor
from gputop.core.query.pick import Pick, Wish, pick
from gputop.core.query.place import Candidate
from gputop.core.query.selection import NO_ANSWER
from gputop.core.text.text import clean

_NOT_ENOUGH: Final = 1
_NOT_STARTED: Final = {True: 127, False: 126}  # as of a shell: not found, cannot be run


class PickRequest(Struct, frozen=True, kw_only=True):
    """A pick. ``waits``: until there are enough free GPUs. ``command``: to become, instead of printing the GPUs."""

    backend: BackendRequest
    wish: Wish
    waits: bool = False
    format: str = "env"
    command: tuple[str, ...] | None = None


def pick_gpus(request: PickRequest) -> int:
    """Read twice, or until there are enough GPUs; print the choice, or become the command. Return the exit status."""
    command = request.command
    if command is not None:
        command = command[1:] if command[:1] == ("--",) else command
        if not command:
            raise BadRequestError("--exec needs a command")
    backend, wish = request.backend, request.wish
    require_all_processes(backend, "pick")
    source = open_source(backend, is_once=True)
    found = picked(Monitor(source).step, wish, lambda: time.sleep(backend.every_s), warn, waits=request.waits)
    if command is None and (found.chosen or request.format == "json"):
        print(_text(found, request.format))
    if not found.chosen:
        warn(_in_the_way(found, wish))
        return UNKNOWN if found.problem == NO_ANSWER else _NOT_ENOUGH
    for line in _explained(found):
        warn(line)
    for one in found.obstacles:
        if one.is_failure:
            warn(f"GPU {one.place} was not considered: {one.reason}")
    if command is not None:
        _become(command, found)
    return OK


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
            notify(_in_the_way(found, wish))
            notify("waiting")
            has_told = True
        before = now


def _text(found: Pick, form: str) -> str:
    """Return the chosen GPUs as JSON, indices, UUIDs, or a variable for a shell."""
    if form == "json":
        import msgspec

        return msgspec.json.encode(found).decode()
    if form == "index":
        return ",".join(one.place for one in found.chosen)
    return ("CUDA_VISIBLE_DEVICES=" if form == "env" else "") + _uuids(found)


def require_all_processes(backend: BackendRequest, command: str) -> None:
    """Refuse a selection of processes. Raises BadRequestError."""
    if not backend.has_all_processes:
        text = f"{command} counts all processes, so it does not accept --user, --only-compute and --where"
        raise BadRequestError(text)


def _explained(found: Pick) -> list[str]:
    """Return a line per chosen GPU: what is on it; and that it is not free."""
    free = sum(one.is_free for one in found.chosen)
    lines = [f"chose {_described(one)}" for one in found.chosen]
    if free < len(found.chosen):
        lines[-1] += f"; {f'only {free} of them' if free else 'none of them' if len(lines) > 1 else 'no GPU'} is free"
    return lines


def _described(one: Candidate) -> str:
    busy = "utilization unknown" if one.utilization_percent is None else f"{one.utilization_percent:.0f} % busy"
    count = f"{one.processes or 'no'} process{'' if one.processes == 1 else 'es'}"
    return f"GPU {one.place}: {bytes_text(one.free_bytes)} free, {busy}, {count}"


def _in_the_way(found: Pick, wish: Wish) -> str:
    """Return how many GPUs were found, and a line for each obstacle."""
    lines = [f"{found.suitable} of {wish.count} GPUs found{': ' + found.problem if found.problem else ''}"]
    return "\n".join([*lines, *(f"  GPU {one.place}: {one.reason}" for one in found.obstacles)])


def _become(command: tuple[str, ...], found: Pick) -> None:
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
