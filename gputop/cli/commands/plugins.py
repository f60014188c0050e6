"""gputop plugins: the installed plugins, what each adds, and why any was rejected."""

import argparse

from gputop.app.plugins import PluginsRequest, list_plugins
from gputop.cli.args.options import add_ending
from gputop.cli.args.requests import request_of


def add(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    parser.add_argument("--json", dest="is_json", action="store_true", help="one line of JSON per plugin")
    add_ending(parser, "gputop plugins", status="0 no problem, 1 a plugin or part of one was rejected or disabled")


def run(options: argparse.Namespace) -> int:
    """Print the plugins."""
    return list_plugins(request_of(options, PluginsRequest))
