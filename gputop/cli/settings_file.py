"""The configuration file: where it is, what it says, and how a change gets into it."""

import os
import re
from collections.abc import Collection, Mapping
from typing import Final

from msgspec.structs import replace

from gputop.cli.config_path import path
from gputop.core.settings import Problem, Settings, Value, from_environment, parse
from gputop.core.text import clean
from gputop.core.toml_text import lines_of

_PLACE: Final = re.compile(r" \(at line (\d+), column \d+\)")


def load(file: str, actions: Collection[str] | None = None) -> tuple[Settings, tuple[Problem, ...]]:
    """Return what a file settles, and what is wrong with it; without a file there is nothing wrong."""
    try:
        with open(file, "rb") as opened:
            text = opened.read().decode()
    except FileNotFoundError:
        return Settings(), ()
    except (OSError, UnicodeDecodeError) as error:
        return Settings(), (Problem(path="", message=f"cannot be read: {_why(error)}"),)
    from gputop.cli.toml_edit import TomlError, loads

    try:
        values = loads(text)
    except TomlError as error:
        return Settings(), (_syntax(str(error)),)
    settings, problems = parse(values, lines=lines_of(text), actions=actions)
    return settings, tuple(replace(problem, path=clean(problem.path)) for problem in problems)


def settled(
    variables: Mapping[str, str] = os.environ, actions: Collection[str] | None = None
) -> tuple[Settings, tuple[str, ...]]:
    """Return what the file and over it the environment settle, and a line for everything wrong with them."""
    file = path(variables)
    from_file, wrong_in_file = load(file, actions)
    settings, wrong_variables = from_environment(variables, from_file)
    return settings, (*(f"{clean(file)}: {problem}" for problem in wrong_in_file), *map(str, wrong_variables))


def save(changes: Mapping[str, Value | None], file: str | None = None) -> str | None:
    """Put these values under these keys (``sort``, ``keys.quit``; None takes a key out) and leave the rest alone.

    The file changes in one moment, keeps its mode, and is made where there is none. Returns why it was not changed.
    """
    from gputop.cli.toml_edit import TomlError, edited

    target = os.path.realpath(file or path())  # a link, into a repository of dotfiles say, stays one
    try:
        os.makedirs(os.path.dirname(target), mode=0o700, exist_ok=True)
        text, mode = _text_and_mode(target)
        _write(target, edited(text, changes), mode)
    except TomlError as error:
        return f"{clean(target)} was not changed, mend it first: {_syntax(str(error))}"
    except (OSError, TypeError, ValueError) as error:
        return f"{clean(target)} was not changed: {_why(error)}"
    return None


def create(file: str, text: str) -> None:
    """Write a new file; raises FileExistsError where there is one."""
    os.makedirs(os.path.dirname(file), mode=0o700, exist_ok=True)
    with open(file, "x", encoding="utf-8") as opened:
        opened.write(text)


def _text_and_mode(file: str) -> tuple[str, int | None]:
    try:
        with open(file, "rb") as opened:
            return opened.read().decode(), os.fstat(opened.fileno()).st_mode & 0o777
    except FileNotFoundError:
        return "", None


def _write(file: str, text: str, mode: int | None) -> None:
    """Write beside the file, then put it in its place: nobody ever reads half of it."""
    beside = f"{file}.{os.getpid()}.new"
    try:
        with open(beside, "x", encoding="utf-8", newline="") as opened:
            if mode is not None:
                os.fchmod(opened.fileno(), mode)
            opened.write(text)
            opened.flush()
            os.fsync(opened.fileno())
        os.replace(beside, file)
    except OSError:
        if os.path.exists(beside):
            os.unlink(beside)
        raise


def _syntax(message: str) -> Problem:
    place = _PLACE.search(message)
    line = int(place[1]) if place else None
    return Problem(path="", message=f"no TOML: {clean(_PLACE.sub('', message))}", line=line)


def _why(error: Exception) -> str:
    return error.strerror or str(error) if isinstance(error, OSError) else str(error)
