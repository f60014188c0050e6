"""gputop snapshot: the current state, once."""

import argparse
from typing import Final

from gputop.app.errors import OK
from gputop.app.monitoring.snapshot import SnapshotRequest, snapshot
from gputop.cli.args.options import add_common, add_ending, add_host_details, add_json, add_reveal, seconds
from gputop.cli.args.requests import request_of
from gputop.core.text.text import excerpt

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
        "--sort", type=_column, metavar="COLUMN", help="sort the processes of the table: --sort GPU-MEM"
    )
    parser.add_argument(
        "--columns", action="extend", type=_columns, metavar="COLUMN",
        help="columns of the processes in the table, in this order: --columns PID,USER,JOB,COMMAND",
    )  # fmt: skip
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
        "gputop snapshot --sort GPU-MEM --columns PID,USER,JOB,GPU-MEM",
        "gputop snapshot --json | jq '.gpus[0].missing'",
        status="0 done, 2 bad input, 3 no driver",
    )


def run(options: argparse.Namespace) -> int:
    """Read once or twice and print."""
    snapshot(request_of(options, SnapshotRequest))
    return OK


def _columns(text: str) -> list[str]:
    return [_column(name) for name in text.split(",")]


def _column(text: str) -> str:
    """Return the key of a column, given by its title or key."""
    from gputop.core.processes.columns import COLUMNS

    keys = {name: column.key for column in COLUMNS for name in (column.key, column.title.lower())}
    if text.lower() not in keys:
        titles = ", ".join(column.title for column in COLUMNS)
        raise argparse.ArgumentTypeError(f"{excerpt(text)!r} is not a column. Columns: {titles}")
    return keys[text.lower()]
