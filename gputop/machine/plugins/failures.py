"""Failures of plugin rows while gputop ran, kept for `gputop plugins`."""

import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Final

from msgspec import DecodeError, Struct, ValidationError
from msgspec.json import decode, encode

from gputop.machine.files.places import state_directory
from gputop.machine.files.private import replace_file
from gputop.machine.small_file import read_small

_MOST_KEPT: Final = 100


class Failure(Struct, frozen=True, kw_only=True):
    """A row that was switched off. ``time_s``: when, since the epoch."""

    table: str
    key: str
    reason: str
    time_s: float


class Failures:
    """The last failure of each row. A row that works again is removed. Never raises; a full disk does no harm."""

    def __init__(self, environment: Mapping[str, str], wall: Callable[[], float] = time.time) -> None:
        self._path = f"{state_directory(environment)}/plugins.json"
        self._wall = wall

    def all(self) -> tuple[Failure, ...]:
        """Return all failures."""
        try:
            return decode(read_small(self._path), type=tuple[Failure, ...])
        except (OSError, DecodeError, ValidationError, RecursionError):
            return ()

    def failed(self, table: str, key: str, reason: str) -> None:
        """Store why a row was switched off."""
        self._write((Failure(table=table, key=key, reason=reason, time_s=self._wall()), *self._others(table, key)))

    def worked(self, table: str, key: str) -> None:
        """Remove the failure of a row that works again."""
        held, others = self.all(), self._others(table, key)
        if len(others) < len(held):
            self._write(others)

    def _others(self, table: str, key: str) -> tuple[Failure, ...]:
        return tuple(one for one in self.all() if (one.table, one.key) != (table, key))

    def _write(self, kept: tuple[Failure, ...]) -> None:
        with suppress(OSError):
            replace_file(self._path, encode(kept[:_MOST_KEPT]))
