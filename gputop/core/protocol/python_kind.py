"""The kind of a Python, as far as compiled parts must fit it: its version and the machine type."""

import re
from typing import Final

from msgspec import Struct

_TEXT: Final = re.compile(r"(3\.\d{1,2}) ([a-z0-9_]{1,20})", re.ASCII)


class PythonKind(Struct, frozen=True, kw_only=True):
    """A version such as 3.11, and a machine type such as x86_64 or aarch64."""

    python: str
    machine: str

    @property
    def minor(self) -> int:
        """Return 11 for 3.11."""
        return int(self.python.partition(".")[2])

    def __str__(self) -> str:
        return f"Python {self.python} on {self.machine}"


def kind_of(text: str) -> PythonKind | None:
    """Return the kind that a host reports as ``3.11 x86_64``; None for any other text."""
    found = _TEXT.fullmatch(text)
    return None if found is None else PythonKind(python=found[1], machine=found[2])
