"""gputop config: the configuration file."""

import argparse
import os
import sys
from typing import Final

from gputop.app.settings import config_path, settings_file
from gputop.cli.args.exits import BAD_INPUT, OK, fail
from gputop.cli.args.options import add_ending
from gputop.core.settings.toml import commented, effective
from gputop.core.text.text import clean

_WHAT: Final = {
    "path": "print the path of the file",
    "init": "write a file that explains every setting, all commented out; never overwrite one",
    "check": "print the mistakes in the file, with line and nearest correct word",
    "show": "print the settings in force: those of the file, overridden by GPUTOP_… variables",
}

_STATUS: Final = {
    "init": "0 written, 2 not written",
    "check": "0 no mistakes, or no file; 2 mistakes",
}


def add(parser: argparse.ArgumentParser) -> None:
    """Add the actions."""
    actions = parser.add_subparsers(metavar="WHAT", dest="what", required=True)
    for name, about in _WHAT.items():
        action = actions.add_parser(name, help=about, description=f"{about[0].upper()}{about[1:]}.")
        add_ending(action, f"gputop config {name}", status=_STATUS.get(name, ""))
    add_ending(parser, "gputop config init", "gputop config check")


def run(options: argparse.Namespace) -> int:
    """Run the action."""
    steps = {"path": _path, "init": _init, "check": _check, "show": _show}
    return steps[options.what]()


def _path() -> int:
    print(config_path.path())
    return OK


def _init() -> int:
    file = config_path.path()
    try:
        settings_file.create(file, commented())
    except FileExistsError:
        fail(BAD_INPUT, f"{clean(file)} exists and was not changed. To see the settings in force: gputop config show")
    except OSError as error:
        fail(BAD_INPUT, f"cannot write {clean(file)}: {error.strerror}")
    print(f"wrote {clean(file)}")
    return OK


def _check() -> int:
    file = config_path.path()
    if _is_absent(file):
        print(f"{clean(file)}: no such file; the defaults are in force. To write one: gputop config init")
        return OK
    _, problems = settings_file.load(file, _actions())
    for problem in problems:
        print(f"{clean(file)}: {problem}", file=sys.stderr)
    if problems:
        return BAD_INPUT
    print(f"{clean(file)}: no mistakes")
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


def _show() -> int:
    held = settings_file.settled(actions=_actions())
    for problem in held.problems:
        print(f"gputop: {problem}", file=sys.stderr)
    print(effective(held.settings), end="")
    return OK


def _actions() -> dict[str, str]:
    """Return the ids of actions for [keys], each with its place."""
    from gputop.ui.input.tape_actions import EVERY

    return {action.id: action.place for action in EVERY}
