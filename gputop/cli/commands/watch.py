"""gputop watch: watch for a while, print the findings, and exit with a status for scripts."""

import argparse
import sys
import time
from collections.abc import Sequence
from typing import Final

from gputop.app.monitoring.watch import WatchRequest, encoded, text, watch
from gputop.cli.args.exits import USAGE, warn
from gputop.cli.args.options import add_common, add_ending, add_json, duration
from gputop.cli.args.parser import Parser
from gputop.cli.args.requests import backend_request, filters
from gputop.core.model.finding import Finding
from gputop.core.model.sample import Frame
from gputop.core.text.text import clean

USUAL_S: Final = 60.0


def add(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    Parser.usage_status = USAGE
    parser.description = (
        "Watch for a while, then print what is wrong. A hang becomes an alarm after 5 minutes; a leak needs 10"
        " minutes to differ from warm-up."
    )
    parser.add_argument(
        "--for",
        dest="duration",
        type=duration,
        default=USUAL_S,
        metavar="DURATION",
        help="how long to watch, such as 90s, 10m, 1h (default 1m)",
    )
    parser.add_argument(
        "--format", choices=("table", "json"), default="table", metavar="FORMAT", help="table (default) or json"
    )
    add_json(parser)
    parser.add_argument(
        "--observations", action="store_true", help="also print observations: worth knowing, nothing to fix"
    )
    add_common(parser)
    add_ending(
        parser,
        "gputop watch --for 10m --json | jq -r '.findings[].finding.summary'",
        status="0 no findings, 1 suspects, 2 alarms, 3 could not watch, 64 bad options",
    )


def run(options: argparse.Namespace) -> int:
    """Watch, print, and return the exit status of the worst finding."""
    request = WatchRequest(backend=backend_request(options), where=filters(options), duration_s=options.duration)
    found = watch(request, warn, _tell)
    if options.format == "json":
        sys.stdout.buffer.write(encoded(found))
    else:
        print(text(found, has_observations=options.observations))
    for problem in found.problems:
        warn(clean(problem))
    return found.status


def _tell(frame: Frame, new: Sequence[Finding]) -> None:
    """Show new findings on a terminal."""
    if not sys.stderr.isatty():
        return
    clock = time.strftime("%H:%M:%S", time.localtime(frame.time_s))
    for one in new:
        print(f"{clock} {one.stage.value:11} {one.code:18} {one.subject.label}: {one.summary}", file=sys.stderr)
