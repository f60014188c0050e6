"""gputop config: the configuration file."""

import argparse
from typing import Final

from gputop.app.settings.commands import check, init, print_path, show
from gputop.cli.args.options import add_ending

_WHAT: Final = {
    "path": "print the path of the file",
    "init": "write a file with every setting explained and commented out; never overwrite a file",
    "check": "print the mistakes in the file, each with its line and a correction",
    "show": "print the current settings: those in the file, overridden by GPUTOP_… variables",
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
    return {"path": print_path, "init": init, "check": check, "show": show}[options.what]()
