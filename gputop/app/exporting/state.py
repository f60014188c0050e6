"""The file in which the totals of users and jobs survive a restart of the exporter."""

import os
from collections.abc import Callable

import msgspec
from msgspec import Struct

from gputop.app.terminal import warn
from gputop.core.text.text import clean
from gputop.core.usage.accounts import TREE
from gputop.core.usage.ledger import Kept
from gputop.machine.files.places import state_directory
from gputop.machine.files.private import read_file, replace_file
from gputop.machine.small_file import read_small
from gputop.machine.worker import Worker

EVERY_S = 60.0
SOON_S = 5.0
_PATIENCE_S = 5.0
_BOOT = "/proc/sys/kernel/random/boot_id"


class State(Struct, frozen=True):
    """The content of the file. ``boot``: trees of processes are known by pids of this boot only."""

    boot: str
    kept: tuple[Kept, ...] = ()
    version: int = 1


class StateFile:
    """Keeps totals, in a thread of its own: a slow disk must not delay samples. A failure is reported once.

    ``path``: None keeps nothing. ``is_read``: whether a client has read totals since they were kept. Such totals are
    saved soon: if gputop is killed and restarts below them, Prometheus takes that for a counter that began at 0.
    """

    def __init__(
        self, path: str | None, kept: Callable[[], tuple[Kept, ...]], is_read: Callable[[], bool] = lambda: False
    ) -> None:
        self._path = path
        self._kept = kept
        self._is_read = is_read
        self._saved_s = 0.0
        self._is_reported = False
        self._worker = Worker(self._save)

    def follow(self, now: float) -> None:
        """Begin to save if it is time to. ``now``: monotonic seconds."""
        self._worker.take(0)
        if now - self._saved_s >= (SOON_S if self._is_read() else EVERY_S):
            self._saved_s = now
            self._worker.ask(now)

    def close(self) -> None:
        """Save for the last time."""
        self._worker.take(_PATIENCE_S)
        self._worker.ask(0.0)
        self._worker.take(_PATIENCE_S)

    def _save(self, _: float) -> None:
        if self._path is None:
            return
        try:
            replace_file(self._path, msgspec.json.encode(State(boot_id(), self._kept())))
        except OSError as error:
            if not self._is_reported:
                warn(f"cannot keep the counters in {clean(self._path)}: {error.strerror or error}")
            self._is_reported = True


def state_path() -> str:
    """Return the path of the file."""
    return f"{state_directory(os.environ)}/export.json"


def load(path: str) -> tuple[Kept, ...]:
    """Return the totals of an earlier exporter; none, with a warning, if the file is unusable."""
    try:
        state = msgspec.json.decode(read_file(path), type=State)
    except FileNotFoundError:
        return ()
    except (OSError, msgspec.DecodeError, RecursionError) as error:
        warn(f"the counters begin at 0: cannot use {clean(path)}: {getattr(error, 'strerror', None) or error}")
        return ()
    is_same_boot = state.boot == boot_id()
    return tuple(each for each in state.kept if is_same_boot or each.account.kind != TREE)


def boot_id() -> str:
    """Return the id of this boot; empty if unknown."""
    try:
        return read_small(_BOOT).decode("ascii", "replace").strip()
    except OSError:
        return ""
