"""Changes of single keys in a TOML file; every other line stays as it is. Imported only to save."""

from collections.abc import Mapping, MutableMapping

import tomlkit
from tomlkit.container import Container
from tomlkit.exceptions import TOMLKitError
from tomlkit.items import AoT, Comment, Item, Key, Table, Whitespace

from gputop.app.settings.toml_file import loads
from gputop.core.settings.settings import Value
from gputop.core.settings.toml import path_of, value_text


def edited(text: str, changes: Mapping[str, Value | None]) -> str:
    """Return the text with these values under these keys (``keys.quit``); None removes a key.

    Raises TomlError for a text that is not TOML, and ValueError for one that cannot be changed.
    """
    loads(text)  # Python's parser names the line of a mistake
    try:
        for path, value in changes.items():
            text = _changed(text, path, value)
    except TOMLKitError as error:
        raise ValueError(str(error)) from None
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    return text


def _changed(text: str, path: str, value: Value | None) -> str:
    document = tomlkit.parse(text)
    table, _, name = path.rpartition(".")
    if table and table not in document:
        document[table] = tomlkit.table()
    held: object = document[table] if table else document
    if not isinstance(held, MutableMapping):
        raise ValueError(f"{table} is not a table")  # noqa: TRY004 - of a file, not of a caller
    if value is None:
        held.pop(name, None)
    elif name in held or not _inserted(held, name, value):
        held[name] = tomlkit.value(value_text(value))
    changed: str = tomlkit.dumps(document)
    return changed


def _inserted(table: object, name: str, value: Value) -> bool:
    """Insert a new key at its place among the comments; return False if it may go last."""
    body = table.body if isinstance(table, Container) else table.value.body if isinstance(table, Table) else []
    at = _place(body, name)
    if at is not None:
        body.insert(at, (tomlkit.key(name), tomlkit.value(value_text(value))))
    return at is not None


def _place(body: list[tuple[Key | None, Item]], name: str) -> int | None:
    """Return the place of a new key: below its commented default, or above the comment of the next table."""
    for at, (_, item) in enumerate(body):
        key, equals, _ = item.as_string().lstrip("# ").partition("=")
        if isinstance(item, Comment) and equals and path_of(key) == name:
            item.trivia.trail = "\n"  # the comment may be the last line of the file
            return at + 1
    end = next((at for at, (_, item) in enumerate(body) if isinstance(item, (Table, AoT))), len(body))
    last = end
    while end and isinstance(body[end - 1][1], (Comment, Whitespace)):
        end -= 1
    return end if end < last else None
