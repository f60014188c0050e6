"""The user's answers, by host, whether gputop may copy itself there: it asks once."""

import fcntl
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Final

from msgspec import DecodeError
from msgspec.json import decode, encode

from gputop.core.text.text import excerpt
from gputop.machine.files.places import state_directory
from gputop.machine.files.private import append_at, open_directory, read_file, replace_file

_MOST_KEPT: Final = 4096
_NO_ANSWERS: Final = (DecodeError, UnicodeDecodeError, RecursionError)


class Consents:
    """The answers in a file of this user; a host without one has not been asked about."""

    def __init__(self, environment: Mapping[str, str] = os.environ) -> None:
        self._path = f"{state_directory(environment)}/hosts.json"

    def of(self, host: str) -> bool | None:
        """Return whether gputop may copy itself to a host; None: ask."""
        try:
            return self._all().get(host)
        except (OSError, *_NO_ANSWERS):
            return None

    def keep(self, hosts: Iterable[str], answer: bool | None) -> str:  # noqa: FBT001 - a value to store
        """Store an answer for hosts; None removes theirs. Return why it was not stored, or an empty text."""
        changed = set(hosts)
        try:
            held = self._all()
            if all(held.get(host) is answer for host in changed):
                return ""
            with self._lock():
                others = {host: may for host, may in self._all().items() if host not in changed}
                new = others if answer is None else others | dict.fromkeys(changed, answer)
                replace_file(self._path, encode(dict(tuple(new.items())[-_MOST_KEPT:])))
        except OSError as error:
            return f"cannot store the answer in {excerpt(self._path)}: {error.strerror}"
        except _NO_ANSWERS:
            return f"{excerpt(self._path)} has no answers that gputop can read. Remove it, and gputop asks you again"
        return ""

    @contextmanager
    def _lock(self) -> Iterator[None]:
        """Keep other gputops of this user from changing the answers. Raises OSError."""
        place = open_directory(os.path.dirname(self._path))
        try:
            file = append_at(place, f"{os.path.basename(self._path)}.lock")
        finally:
            os.close(place)
        try:
            with suppress(OSError):  # a file system without locks
                fcntl.flock(file, fcntl.LOCK_EX)
            yield
        finally:
            os.close(file)

    def _all(self) -> dict[str, bool]:
        """Return the answers. Raises OSError, and the errors of a file that has none."""
        try:
            return decode(read_file(self._path), type=dict[str, bool])
        except FileNotFoundError:
            return {}
