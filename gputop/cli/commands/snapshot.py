"""gputop snapshot: the current state, once."""

import argparse
from typing import Final

from gputop.app.errors import OK
from gputop.app.monitoring.snapshot import SnapshotRequest, snapshot
from gputop.cli.args.options import add_common, add_ending, add_host_details, add_json, add_reveal, seconds
from gputop.cli.args.requests import request_of

_FORMATS: Final = ("table", "json", "csv", "csv-processes", "prometheus")


def add(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    parser.add_argument(
        "--format", choices=_FORMATS, default="table", metavar="FORMAT",
        help="table (default), json, csv (one row per GPU), csv-processes (one row per process),"
        " prometheus (the series of gputop export)",
    )  # fmt: skip
    add_json(parser)
    parser.add_argument(
        "--wait", dest="wait_s", type=seconds(0), metavar="SECONDS",
        help="gputop reads twice to compute rates such as bytes per second; this is the time between (default 1). 0: no"
        " rates",
    )  # fmt: skip
    add_host_details(parser)
    add_reveal(parser)
    add_common(parser, repeats=False)
    add_ending(
        parser,
        "gputop snapshot --where 'user:ann gpu_mem>10GiB'",
        "gputop snapshot --json | jq '.gpus[0].missing'",
        status="0 done, 2 bad input, 3 no driver",
    )


def run(options: argparse.Namespace) -> int:
    """Read once or twice and print."""
    snapshot(request_of(options, SnapshotRequest))
    return OK
