"""gputop free: the free GPUs."""

import argparse

from gputop.app.monitoring.free import FreeRequest, free_gpus
from gputop.cli.args.options import add_ending, add_json, add_place
from gputop.cli.args.requests import request_of
from gputop.core.model.load import BUSY_PERCENT


def add(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    parser.description = (
        "List the free GPUs and MIG instances. A GPU is free if no process computes on it, its utilization (the higher"
        f" of two readings) is at most {BUSY_PERCENT:g} %, and no process that gputop cannot see holds its memory. A"
        " GPU whose processes cannot be read is not free. To choose GPUs for a program: gputop pick."
    )
    add_ending(
        parser,
        "gputop free --wait && tput bel",
        "gputop free --json | jq -r '.free[].place'",
        status="0 at least one is free, 1 none (reasons on standard error), 2 bad input, 3 no driver",
    )
    parser.add_argument(
        "--wait", dest="waits", action="store_true", help="check again at every interval until one is free"
    )
    parser.add_argument(
        "--format", choices=("table", "json"), default="table", metavar="FORMAT", help="table (default) or json"
    )
    add_json(parser)
    add_place(parser)


def run(options: argparse.Namespace) -> int:
    """Read twice, or until one is free, and print the free ones."""
    return free_gpus(request_of(options, FreeRequest))
