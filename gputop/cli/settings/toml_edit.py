"""Changes single keys of a TOML file and leaves every other line as it is."""

import sys
from collections.abc import Callable, Mapping
from typing import Final

from gputop.core.settings.settings import Value
from gputop.core.settings.toml import key_text, lines_of, path_of, value_text

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

TomlError: Final = tomllib.TOMLDecodeError
_loads: Final[Callable[[str], dict[str, object]]] = tomllib.loads


def loads(text: str) -> dict[str, object]:
    """Return what a file says. Raises TomlError, also where it is nested without end."""
    try:
        return _loads(text)
    except RecursionError:
        raise TomlError("it is nested too deeply") from None


def edited(text: str, changes: Mapping[str, Value | None]) -> str:
    """Return the text with these values under these keys (``keys.quit``); None takes a key out.

    Raises ValueError where that cannot be done line by line; what comes back says exactly the old and the changes.
    """
    lines = text.split("\n")
    for path, value in changes.items():
        start = lines_of("\n".join(lines)).get(path)
        if start is not None:
            _replace(lines, start - 1, value)
        elif value is not None:
            _insert(lines, path, value)
    result = "\n".join(lines)
    if loads(result) != _expected(loads(text), changes):
        raise ValueError("its lines are too intricate to be changed one by one")
    return result


def _replace(lines: list[str], start: int, value: Value | None) -> None:
    end = _end(lines, start)
    if value is None:
        del lines[start:end]
        return
    key = lines[start].partition("=")[0].rstrip()
    lines[start:end] = [f"{key} = {value_text(value)}{_remark(lines[start]) if end == start + 1 else ''}"]


def _end(lines: list[str], start: int) -> int:
    """Return the line after the value that begins at ``start``; it may take several."""
    for end in range(start + 1, len(lines) + 1):
        if _read("\n".join(lines[start:end])) is not None:
            return end
    raise ValueError("a value of it does not end")


def _remark(line: str) -> str:
    """Return the comment behind a value, with the blanks before it."""
    whole = loads(line)
    for at, sign in enumerate(line):
        if sign == "#" and _read(line[:at]) == whole:
            return line[len(line[:at].rstrip()) :]
    return ""


def _insert(lines: list[str], path: str, value: Value) -> None:
    table, _, name = path.rpartition(".")
    text = f"{key_text(name)} = {value_text(value)}"
    first, end = _section(lines, table)
    if first is None:
        lines[len(lines) :] = ["", f"[{key_text(table)}]", text, ""]
        return
    for number in range(first, end):
        bare = lines[number].lstrip("# ")
        if lines[number].startswith("#") and "=" in bare and path_of(bare.partition("=")[0]) == name:
            lines.insert(number + 1, text)  # below its commented default
            return
    while end > first and (not lines[end - 1].strip() or (table == "" and lines[end - 1].startswith("#"))):
        end -= 1  # what stands right above a table belongs to it
    lines.insert(end, text)


def _section(lines: list[str], table: str) -> tuple[int | None, int]:
    """Return the first line of a table's body and the one after its last; "" is what stands before all tables."""
    headers = [number for number, line in enumerate(lines) if line.lstrip().startswith("[") and _read(line) is not None]
    starts = {path_of(lines[number].partition("]")[0]): number + 1 for number in headers} | {"": 0}
    first = starts.get(table)
    later = [number for number in headers if first is not None and number >= first]
    return first, later[0] if later else len(lines)


def _read(text: str) -> dict[str, object] | None:
    """Return what a part of a file says; None where it is no whole part."""
    try:
        return loads(text)
    except TomlError:
        return None


def _expected(old: dict[str, object], changes: Mapping[str, Value | None]) -> dict[str, object]:
    for path, value in changes.items():
        table, _, name = path.rpartition(".")
        held = old.setdefault(table, {}) if table else old
        if not isinstance(held, dict):
            raise TypeError(f"{table} is no table")
        if value is None:
            held.pop(name, None)
        else:
            held[name] = list(value) if isinstance(value, tuple) else value
    return old
