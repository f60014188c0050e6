"""The TOML parser of Python's library. Imported only if there is a file to read."""

import sys
from collections.abc import Callable
from typing import Final

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

TomlError: Final = tomllib.TOMLDecodeError
_loads: Final[Callable[[str], dict[str, object]]] = tomllib.loads


_MOST_DOTS: Final = 50  # in a line: the time for a key grows with the square of its parts, to hours in 1 MiB


def loads(text: str) -> dict[str, object]:
    """Return the values of a file. Raises TomlError, also for a file that is nested too deeply."""
    for number, line in enumerate(text.split("\n"), 1):
        if line.count(".") > _MOST_DOTS:
            raise TomlError(f"more than {_MOST_DOTS} dots (at line {number}, column 1)")
    try:
        return _loads(text)
    except RecursionError:
        raise TomlError("it is nested too deeply") from None
