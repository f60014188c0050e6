"""Command line without its Python interpreter: the script or the module says more in less room."""

import re
from typing import Final

_OPTIONS: Final = r"(?: -(?:[bBdEiIOPqsSuvx]+|[XW] ?\S+))*"
_INTERPRETED: Final = re.compile(
    rf"(?:\S*/)?(?:python|pypy)[\d.]*{_OPTIONS} (?:-m (?P<module>\S+)|(?:[^\s-]\S*/|/)?(?P<script>[^\s/-][^\s/]*))"
)


def without_interpreter(command: str) -> str:
    """Return the script or module with its arguments; the command itself if no Python interpreter runs it."""
    found = _INTERPRETED.match(command)
    if found is None:
        return command
    return (found["module"] or found["script"]) + command[found.end() :]
