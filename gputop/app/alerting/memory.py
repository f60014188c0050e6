"""The file in which the state of a receiver survives a restart: what it knows, and what it must still get."""

import fcntl
import os
import time
from collections.abc import Callable
from hashlib import blake2b
from typing import Final

import msgspec
from msgspec import Struct

from gputop.app.backend.backend import BackendRequest
from gputop.core.notification.outbox import KeptAlert
from gputop.core.settings.receivers import Receiver
from gputop.core.text.text import clean
from gputop.machine.files.places import state_directory
from gputop.machine.files.private import append_at, open_directory, read_file, replace_file
from gputop.machine.small_file import MOST_BYTES

_VERSION: Final = 1
_LONGEST_S: Final = 7 * 86_400.0  # after that, a present finding is news


class _State(Struct, frozen=True):
    version: int
    saved_s: float
    alerts: tuple[msgspec.Raw, ...] = ()


class AlertMemory:
    """The file of a receiver. Its lock is held until the process ends: two of them would overwrite each other."""

    def __init__(self, path: str, lock: int) -> None:
        self._path = path
        self._lock = lock
        self._problem = ""

    def load(self) -> tuple[KeptAlert, ...]:
        """Return what was saved; nothing if that is unusable."""
        try:
            state = msgspec.json.decode(read_file(self._path), type=_State)
            is_usable = state.version == _VERSION and abs(time.time() - state.saved_s) < _LONGEST_S
            return tuple(msgspec.json.decode(one, type=KeptAlert) for one in state.alerts if is_usable)
        except (OSError, msgspec.DecodeError):
            return ()

    def save(self, kept: tuple[KeptAlert, ...]) -> str:
        """Save as much as the file may have. Return why it cannot be saved, once."""
        alerts: list[msgspec.Raw] = []
        size = 0
        for one in kept:
            encoded = msgspec.json.encode(one)
            size += len(encoded) + 1
            if size > MOST_BYTES - 100:
                break
            alerts.append(msgspec.Raw(encoded))
        try:
            replace_file(self._path, msgspec.json.encode(_State(_VERSION, time.time(), tuple(alerts))))
        except OSError as error:
            before, self._problem = self._problem, error.strerror or str(error)
            return "" if before == self._problem else f"cannot keep what was sent in {self._path}: {self._problem}"
        self._problem = ""
        return ""


def memory_of(backend: BackendRequest, report: Callable[[str], None], receiver: Receiver) -> AlertMemory | None:
    """Return the memory of a receiver of the findings of a machine; None, with a report, if there can be none."""
    folder = f"{state_directory(os.environ)}/alerts"
    name = _name(backend, receiver)
    try:
        place = open_directory(folder)
        try:
            lock = append_at(place, f"{name}.lock")
        finally:
            os.close(place)
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(lock)
        report(f"receiver {receiver.name}: another gputop sends to it too, so it gets each message twice")
        return None
    except OSError as error:
        why = error.strerror or error
        report(
            f"receiver {receiver.name}: cannot keep what was sent in {clean(folder)}: {why}. A restart sends it again"
        )
        return None
    return AlertMemory(f"{folder}/{name}.json", lock)


def _name(backend: BackendRequest, receiver: Receiver) -> str:
    """Return a name that differs for another receiver, address, machine or part of it."""
    one = receiver
    of_receiver = (one.kind.value, one.url, one.url_file, one.to, one.command, one.stage.value, one.codes)
    of_machine = (backend.demo, backend.source, backend.selection, backend.where)
    return blake2b(msgspec.json.encode((of_receiver, of_machine)), digest_size=12).hexdigest()
