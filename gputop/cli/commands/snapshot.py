"""gputop snapshot: the current state, once."""

import argparse
import sys
from typing import Final

from gputop.app.monitoring.snapshot import FIRST_WAIT_S, SnapshotRequest, encoded, snapshot, text
from gputop.cli.args.exits import OK, warn
from gputop.cli.args.options import add_common, add_ending, add_host_details, add_json, seconds
from gputop.cli.args.requests import backend_request, filters

_FORMATS: Final = ("table", "json", "csv", "csv-processes")


def add(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    parser.add_argument(
        "--format", choices=_FORMATS, default="table", metavar="FORMAT",
        help="table (default), json, csv (one row per GPU), csv-processes (one row per process)",
    )  # fmt: skip
    add_json(parser)
    parser.add_argument(
        "--wait", type=seconds(0), default=FIRST_WAIT_S, metavar="SECONDS",
        help="time between the two readings for rates (default 1); 0: one reading, no rates",
    )  # fmt: skip
    add_host_details(parser)
    add_common(parser, repeats=False)
    add_ending(
        parser,
        "gputop snapshot --where 'user:ann gpu_mem>10GiB'",
        "gputop snapshot --json | jq '.gpus[0].missing'",
        status="0 done, 2 bad input, 3 no driver",
    )


def run(options: argparse.Namespace) -> int:
    """Read once or twice and print."""
    return show(options, options.format, options.wait, has_host_details=options.host_details)


def show(
    options: argparse.Namespace, form: str = "table", wait_s: float = FIRST_WAIT_S, *, has_host_details: bool = False
) -> int:
    """Print a snapshot."""
    request = SnapshotRequest(
        backend=backend_request(options), where=filters(options), wait_s=wait_s, has_host_details=has_host_details
    )
    frame = snapshot(request, warn)
    if form == "json":
        sys.stdout.buffer.write(encoded(frame))
    else:
        sys.stdout.write(text(frame, form, sys.stdout))
    return OK
