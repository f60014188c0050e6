"""gputop inspect: the details of one process."""

import argparse
from typing import Final

from gputop.app.monitoring.inspect import InspectRequest, inspect
from gputop.cli.args.options import add_demo, add_ending, seconds, whole
from gputop.cli.args.requests import request_of

_WAIT_S: Final = 1.0


def add(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    parser.add_argument("pid", type=whole(1), metavar="PID", help="pid of any process, with or without a GPU")
    parser.add_argument(
        "--json", dest="is_json", action="store_true", help="one line of JSON, with the reason for each missing part"
    )
    parser.add_argument(
        "--reveal",
        action="store_true",
        help="show secrets in the environment and the command line instead of masking them",
    )
    parser.add_argument(
        "--wait", dest="wait_s", type=seconds(0), default=_WAIT_S, metavar="SECONDS",
        help="gputop reads twice to compute rates such as bytes per second; this is the time between (default 1). 0: no"
        " rates",
    )  # fmt: skip
    add_demo(parser)
    status = "0 done, 2 bad input, 3 not known whether it exists, 4 no such process"
    add_ending(parser, "gputop inspect 4711 --json | jq .limits", status=status)


def run(options: argparse.Namespace) -> int:
    """Inspect and print."""
    return inspect(request_of(options, InspectRequest))
