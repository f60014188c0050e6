"""gputop record: frames into a file, for later."""

import argparse

from gputop.app.monitoring.record import RecordRequest, record
from gputop.cli.args.options import add_common, add_ending, add_reveal, duration
from gputop.cli.args.requests import request_of


def add(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    parser.add_argument("path", metavar="FILE", help="a new file, or - for standard output")
    parser.add_argument(
        "--for",
        dest="duration_s",
        type=duration,
        metavar="DURATION",
        help="duration, such as 90s, 10m, 1h30m (default: until Ctrl-C)",
    )
    parser.add_argument("--force", dest="is_forced", action="store_true", help="overwrite an existing file")
    add_reveal(parser)
    add_common(parser)
    add_ending(
        parser,
        "gputop record night.tape --for 8h --interval 5",
        status="0 done, 1 incomplete, 2 bad input, 3 no driver",
    )


def run(options: argparse.Namespace) -> int:
    """Record."""
    return record(request_of(options, RecordRequest))
