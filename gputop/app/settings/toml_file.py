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


def loads(text: str) -> dict[str, object]:
    """Return the values of a file. Raises TomlError, also for a file that is nested too deeply."""
    try:
        return _loads(text)
    except RecursionError:
        raise TomlError("it is nested too deeply") from None
