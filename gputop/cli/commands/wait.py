"""gputop wait: until a GPU is free, a process or job has ended, or there is a finding."""

import argparse
from typing import Final

from gputop.app.monitoring.wait import WaitRequest, wait
from gputop.cli.args.options import add_common, add_ending, add_json, duration
from gputop.cli.args.requests import request_of
from gputop.core.text.text import excerpt

_FORMS: Final = "free, free:GPU, ended:PID, ended:JOB or finding"


def add(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    parser.description = (
        "Wait until one of these happens, and print it. free: a GPU is free (see gputop free). ended: a process or job"
        " has ended; for the name of a job, press J on the screen. finding: there is a suspect or an alarm"
        " (see gputop watch)."
    )
    parser.add_argument("goals", nargs="+", type=_goal, metavar="WHAT", help=_FORMS)
    parser.add_argument(
        "--for", dest="limit_s", type=duration, metavar="DURATION", help="wait at most this long, such as 90s, 10m, 8h"
    )
    parser.add_argument(
        "--notify", dest="notifies", action="store_true",
        help="also notify you by the channels of the settings: bell, terminal, desktop, command",
    )  # fmt: skip
    parser.add_argument("--format", choices=("text", "json"), default="text", metavar="FORMAT", help="text or json")
    add_json(parser)
    add_common(parser)
    add_ending(
        parser,
        "gputop wait free:3 --notify",
        "gputop wait ended:4711 finding --for 8h",
        status="0 it happened, 1 the time is over, 2 bad input, 3 no driver",
    )


def run(options: argparse.Namespace) -> int:
    """Wait, print what happened, and return the exit status."""
    return wait(request_of(options, WaitRequest))


def _goal(text: str) -> str:
    event, colon, name = text.partition(":")
    if (event == "free" and (name or not colon)) or (event == "ended" and name) or text == "finding":
        return text
    raise argparse.ArgumentTypeError(f"{excerpt(text)!r} is not {_FORMS}")
