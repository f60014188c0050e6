"""gputop snapshot: what is now, once."""

import argparse
import os
import sys
import time
from typing import Final

from gputop.cli.args.exits import OK, warn
from gputop.cli.args.options import add_common, add_ending, add_json, seconds
from gputop.cli.backend.monitoring import monitored, opened
from gputop.core.model.sample import Frame
from gputop.wire.encoder import encode

FIRST_WAIT_S: Final = 1.0
_FORMATS: Final = ("table", "json", "csv", "csv-processes")


def add(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    parser.add_argument(
        "--format", choices=_FORMATS, default="table", metavar="FORMAT",
        help="table (default), json, csv (a row for each GPU), csv-processes (a row for each process)",
    )  # fmt: skip
    add_json(parser)
    parser.add_argument(
        "--wait", type=seconds(0), default=FIRST_WAIT_S, metavar="SECONDS",
        help="time between the two readings that rates need (default 1); 0: one reading, no rates",
    )  # fmt: skip
    add_common(parser, repeats=False)
    add_ending(
        parser,
        "gputop snapshot --where 'user:ann gpu_mem>10GiB'",
        "gputop snapshot --json | jq '.gpus[0].missing'",
        status="0 done, 2 bad input, 3 no driver",
    )


def run(options: argparse.Namespace) -> int:
    """Read once or twice and print."""
    source = opened(options, is_once=True)
    step = monitored(source, options, is_once=True, tell=warn)
    if options.wait:
        source.read()  # what rates start from
        time.sleep(options.wait)
    frame = step()
    if options.format == "json":
        sys.stdout.buffer.write(encode(frame))
    else:
        sys.stdout.write(_text(frame, options.format))
    return OK


def _text(frame: Frame, form: str) -> str:
    if form.startswith("csv"):
        from gputop.report.csv import csv

        return csv(frame, "processes" if form == "csv-processes" else "gpus")
    from gputop.report.grid import look
    from gputop.report.table import table

    return table(frame, *look(sys.stdout, os.environ)) + "\n"
