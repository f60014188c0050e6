"""gputop without a command: the screen, and its sampler as a child process."""

import argparse
import sys
from typing import Final

from gputop.app.monitoring.screen import ScreenRequest, has_terminal, show_screen
from gputop.cli.args.exits import BAD_INPUT, OK, warn
from gputop.cli.args.requests import backend_request, filters
from gputop.core.protocol.link import Down

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
        help=f"size of each GPU: {', '.join(_DENSITIES)} (default auto: depends on the space)",
    )  # fmt: skip
    group.add_argument("--ascii", action="store_true", help="draw with ASCII characters only")


def run(options: argparse.Namespace) -> int:
    """Show the screen; without a suitable terminal print a snapshot instead."""
    if not has_terminal():
        from gputop.cli.commands import snapshot

        return snapshot.show(options)
    return status_of(show_screen(request(options), warn))


def request(options: argparse.Namespace) -> ScreenRequest:
    """Return the screen that the options ask for."""
    return ScreenRequest(
        backend=backend_request(options), where=filters(options), theme=options.theme, density=options.density,
        ascii=options.ascii,
    )  # fmt: skip


def status_of(down: Down | None) -> int:
    """Return the exit status of a screen; if its sampler does not work, print the reason."""
    if down is None:
        return OK
    print(down.reason, file=sys.stderr)  # the sampler's own message
    return BAD_INPUT if down.status is None else down.status
