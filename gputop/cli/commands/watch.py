"""gputop watch: watch for a while, print the findings, and exit with a status for scripts."""

import argparse
from typing import Final

from gputop.app.monitoring.watch import WatchRequest, watch
from gputop.cli.args.options import add_common, add_ending, add_json, duration
from gputop.cli.args.parser import USAGE, Parser
from gputop.cli.args.requests import request_of

_USUAL_S: Final = 180.0


def add(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    Parser.usage_status = USAGE
    parser.description = (
        "Watch for a while, then print the problems found. A hang becomes an alarm after 5 minutes. A leak needs 10"
        " minutes: before that it looks like warm-up."
    )
    parser.add_argument(
        "--for",
        dest="duration_s",
        type=duration,
        default=_USUAL_S,
        metavar="DURATION",
        help="how long to watch, such as 90s, 10m, 1h (default 3m)",
    )
    parser.add_argument(
        "--format", choices=("table", "json"), default="table", metavar="FORMAT", help="table (default) or json"
    )
    add_json(parser)
    parser.add_argument(
        "--observations", dest="has_observations", action="store_true",
        help="also print observations, which need no action",
    )  # fmt: skip
    parser.add_argument(
        "--notify", dest="receivers", action="append", metavar="RECEIVER",
        help="also send the problems to this receiver; the word all sends them to every receiver in the configuration"
        " file. See: gputop notify --help",
    )  # fmt: skip
    add_common(parser)
    add_ending(
        parser,
        "gputop watch --for 10m --json | jq -r '.findings[].finding.summary'",
        status="0 no findings, 1 suspects, 2 alarms, 3 could not judge (no GPU, or under 2 minutes), 64 bad options",
    )


def run(options: argparse.Namespace) -> int:
    """Watch, print, and return the exit status of the worst finding."""
    return watch(request_of(options, WatchRequest))
