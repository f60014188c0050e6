"""gputop without a command: the screen, and its sampler as a child process."""

import argparse
from typing import Final

from gputop.app.monitoring.screen import ScreenRequest, has_terminal, show_screen
from gputop.cli.args.requests import request_of

_THEMES: Final = ("auto", "dark", "light", "high-contrast", "monochrome", "16-colour")
_DENSITIES: Final = ("auto", "compact", "detailed")


def add(parser: argparse.ArgumentParser) -> None:
    """Add the screen's options."""
    group = parser.add_argument_group("the screen")
    group.add_argument(
        "--theme", choices=_THEMES,
        metavar="THEME", help=f"colours: {', '.join(_THEMES)} (default auto: depends on the terminal)",
    )  # fmt: skip
    group.add_argument(
        "--density", choices=_DENSITIES, metavar="DENSITY",
        help=f"size of the GPU panel: {', '.join(_DENSITIES)} (default auto: depends on the space)",
    )  # fmt: skip
    group.add_argument("--ascii", action="store_true", help="draw with ASCII characters only")
    group.add_argument("--served", action="store_true", help=argparse.SUPPRESS)  # by `gputop serve`, on a pipe


def run(options: argparse.Namespace) -> int:
    """Show the screen; without a suitable terminal print a snapshot instead."""
    request = request_of(options, ScreenRequest)
    if not options.remotes:
        return show_screen(request)
    if len(options.remotes) > 1:
        from gputop.app.remote.hosts_screen import show_hosts

        return show_hosts(request, options.remotes)
    if not has_terminal():
        from gputop.app.remote.command import run_there

        return run_there(options.remotes, options.words)
    from gputop.app.remote.screen import show_remote_screen

    return show_remote_screen(request, options.remotes[0])
