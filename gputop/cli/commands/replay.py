"""gputop replay: playback of a recording on the screen."""

import argparse

from gputop.app.monitoring.replay import ReplayRequest, replay
from gputop.cli.args.options import add_ending
from gputop.cli.args.requests import request_of
from gputop.cli.commands import screen


def add(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    parser.add_argument("path", metavar="FILE", help="a recording made by gputop record")
    parser.add_argument(
        "--at",
        metavar="PLACE",
        help="where to start: 12:30 (minutes:seconds), 1:02:03, 90s or 50%% (default: at the start)",
    )
    screen.add(parser)
    add_ending(parser, "gputop replay night.tape --at 1:02:03", status="0 done, 2 bad input")


def run(options: argparse.Namespace) -> int:
    """Play the recording."""
    return replay(request_of(options, ReplayRequest))
