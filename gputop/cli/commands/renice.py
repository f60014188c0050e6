"""gputop renice: change the nice value of processes on GPUs."""

import argparse

from gputop.app.control.changes import ReniceRequest, renice
from gputop.cli.args.processes import add_choice
from gputop.cli.args.requests import request_of
from gputop.core.text.text import excerpt


def add(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    parser.add_argument(
        "nice", type=_nice, metavar="NICE", help="nice value, from -20 (highest priority; needs root) to 19 (lowest)"
    )
    add_choice(parser, "gputop renice 10 --pid 4711,4712", "gputop renice 19 --user bob --dry-run")
    parser.description = (
        "List the selected GPU processes, ask for confirmation, and change the nice value of all their threads."
    )


def run(options: argparse.Namespace) -> int:
    """List, ask, renice."""
    return renice(request_of(options, ReniceRequest))


def _nice(text: str) -> int:
    if not text.removeprefix("-").isdecimal() or not -20 <= int(text) <= 19:
        raise argparse.ArgumentTypeError(f"{excerpt(text)!r} is not a nice value from -20 to 19")
    return int(text)
