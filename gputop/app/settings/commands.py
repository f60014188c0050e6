"""The configuration file as the user sees it: its path, a new one, its mistakes, the settings in force."""

import os
import sys

from gputop.app.errors import BAD_INPUT, OK, BadRequestError
from gputop.app.settings.settings_file import load, settled
from gputop.app.terminal import warn
from gputop.core.settings.toml import commented, effective
from gputop.core.text.text import clean, excerpt
from gputop.machine.files.places import config_file
from gputop.machine.files.private import create_file


def print_path() -> int:
    """Print the path of the file."""
    print(config_file())
    return OK


def init() -> int:
    """Write a file with all settings commented out, unless there is one."""
    file = config_file()
    try:
        create_file(file, commented().encode())
    except FileExistsError:
        text = f"{clean(file)} exists and was not changed. To see the settings in force: gputop config show"
        raise BadRequestError(text) from None
    except OSError as error:
        raise BadRequestError(f"cannot write {excerpt(file)}: {error.strerror}") from None
    print(f"wrote {clean(file)}")
    return OK


def check() -> int:
    """Print the mistakes in the file; return the exit status."""
    file = config_file()
    if _is_absent(file):
        print(f"{clean(file)}: no such file; the defaults are in force. To write one: gputop config init")
        return OK
    _, problems = load(file, _actions())
    for problem in problems:
        print(f"{clean(file)}: {problem}", file=sys.stderr)
    if problems:
        return BAD_INPUT
    print(f"{clean(file)}: no mistakes")
    return OK


def show() -> int:
    """Print the settings in force."""
    held = settled(actions=_actions())
    for problem in held.problems:
        warn(problem)
    print(effective(held.settings), end="")
    return OK


def _is_absent(file: str) -> bool:
    """Return whether there is no file; a file that this user may not access can exist."""
    try:
        os.stat(file)
    except FileNotFoundError:
        return True
    except OSError:
        return False
    return False


def _actions() -> dict[str, str]:
    """Return the ids of actions for [keys], each with its place."""
    from gputop.ui.input.replay_actions import EVERY

    return {action.id: action.place for action in EVERY}
