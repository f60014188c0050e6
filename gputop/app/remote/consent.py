"""The user's answers, by host, whether gputop may copy itself there: it asks once."""

import os
from collections.abc import Iterable, Mapping
from typing import Final

from msgspec import DecodeError, ValidationError
from msgspec.json import decode, encode

from gputop.core.text.text import excerpt
from gputop.machine.files.places import state_directory
from gputop.machine.files.private import read_file, replace_file

_MOST_KEPT: Final = 4096


class Consents:
    """The answers in a file of this user; a host without one has not been asked about."""

    def __init__(self, environment: Mapping[str, str] = os.environ) -> None:
        self._path = f"{state_directory(environment)}/hosts.json"

    def of(self, host: str) -> bool | None:
        """Return whether gputop may copy itself to a host; None: ask."""
        return self._all().get(host)

    def keep(self, hosts: Iterable[str], answer: bool | None) -> str:  # noqa: FBT001 - a value to store
        """Store an answer for hosts; None removes theirs. Return why it was not stored, or an empty text."""
        held = self._all()
        others = {host: may for host, may in held.items() if host not in set(hosts)}
        new = others if answer is None else others | dict.fromkeys(hosts, answer)
        if new == held:
            return ""
        try:
            replace_file(self._path, encode(dict(tuple(new.items())[-_MOST_KEPT:])))
        except OSError as error:
            return f"cannot store the answer in {excerpt(self._path)}: {error.strerror}"
        return ""

    def _all(self) -> dict[str, bool]:
        try:
            return decode(read_file(self._path), type=dict[str, bool])
        except (OSError, DecodeError, ValidationError, RecursionError):
            return {}
