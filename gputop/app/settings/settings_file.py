"""The configuration file: reading it, merging it with the environment, saving changes."""

import os
import re
from collections.abc import Collection, Mapping
from functools import cache
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from gputop.core.settings.settings import Problem, Settings, Value, from_environment, may_mean_read_only, parse
from gputop.core.settings.toml import lines_of
from gputop.core.text.text import clean, excerpt
from gputop.machine.files.places import config_file
from gputop.machine.files.private import read_file

_DOUBT: Final = "gputop changes nothing until you fix that: it may have meant read_only"
_PLACE: Final = re.compile(r" \(at line (\d+), column \d+\)")


class Written(Struct, frozen=True, kw_only=True):
    """The content of a file, not yet checked. ``lines``: line of each key; ``problem``: why the content is unknown."""

    file: str
    values: Mapping[str, object] = {}
    lines: Mapping[str, int] = {}
    problem: Problem | None = None


class Settled(Struct, frozen=True, kw_only=True):
    """The current settings, and a line for each mistake. ``is_in_doubt``: read_only is only assumed, to be safe."""

    settings: Settings
    problems: tuple[str, ...] = ()
    is_in_doubt: bool = False


def written(file: str) -> Written:
    """Read a file; a missing file is empty and no problem."""
    try:
        text = read_file(file).decode()
    except FileNotFoundError:
        return Written(file=file)
    except (OSError, UnicodeDecodeError) as error:
        return Written(file=file, problem=Problem(path="", message=f"cannot be read: {_why(error)}"))
    from gputop.app.settings.toml_file import TomlError, loads

    try:
        return Written(file=file, values=loads(text), lines=lines_of(text))
    except TomlError as error:
        return Written(file=file, problem=_syntax(str(error)))


@cache
def first_written(file: str) -> Written:
    """Read a file once per process: all readers see the same content."""
    return written(file)


def load(file: str, actions: Collection[str] | None = None) -> tuple[Settings, tuple[Problem, ...]]:
    """Return the settings of a file, and its mistakes."""
    return _understood(written(file), actions)


def settled(
    variables: Mapping[str, str] = os.environ,
    actions: Collection[str] | None = None,
    said: Written | None = None,
) -> Settled:
    """Return the settings of the file, overridden by those of the environment. ``said``: the file, if already read.

    If a mistake may have meant read_only, it is on: gputop must not do what its user wanted to forbid.
    """
    said = written(config_file(variables)) if said is None else said
    from_file, wrong_in_file = _understood(said, actions)
    settings, wrong_variables = from_environment(variables, _safe(from_file, wrong_in_file))
    settings = _safe(settings, wrong_variables)
    problems = (*(f"{clean(said.file)}: {problem}" for problem in wrong_in_file), *map(str, wrong_variables))
    if not (settings.read_only and may_mean_read_only((*wrong_in_file, *wrong_variables))):
        return Settled(settings=settings, problems=problems)
    return Settled(settings=settings, problems=(*problems, _DOUBT), is_in_doubt=True)


def save(changes: Mapping[str, Value | None], file: str | None = None) -> str | None:
    """Store these values under these keys (``sort``, ``keys.quit``; None removes a key) and keep all other lines.

    The file changes atomically, keeps its mode, and is created if missing. A link of this user, for example into a
    repository of dotfiles, stays one. Returns the reason of a failure.
    """
    from gputop.app.settings.toml_edit import edited
    from gputop.app.settings.toml_file import TomlError
    from gputop.machine.files.private import change_file

    target = file or config_file()
    try:
        change_file(target, lambda content: edited(content.decode(), changes).encode())
    except TomlError as error:
        return f"{excerpt(target)} was not changed. Fix it first: {_syntax(str(error))}"
    except (OSError, ValueError) as error:
        return f"{excerpt(target)} was not changed: {_why(error)}"
    return None


def _understood(said: Written, actions: Collection[str] | None) -> tuple[Settings, tuple[Problem, ...]]:
    if said.problem:
        return Settings(), (said.problem,)
    settings, problems = parse(said.values, lines=said.lines, actions=actions)
    return settings, tuple(replace(problem, path=excerpt(problem.path)) for problem in problems)


def _safe(settings: Settings, problems: Collection[Problem]) -> Settings:
    return replace(settings, read_only=True) if may_mean_read_only(problems) else settings


def _syntax(message: str) -> Problem:
    place = _PLACE.search(message)
    line = int(place[1]) if place else None
    return Problem(path="", message=f"this is not TOML: {excerpt(_PLACE.sub('', message))}", line=line)


def _why(error: Exception) -> str:
    return error.strerror or str(error) if isinstance(error, OSError) else str(error)
