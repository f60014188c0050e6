"""gputop watch: look for a while, say what is wrong, and end with a status that a script can use."""

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
        "Look for a while, and print what is wrong. A hang takes 5 minutes to be an alarm, a leak 10 to be told from"
        " warm-up."
    )
    parser.add_argument(
        "--for",
        dest="duration",
        type=duration,
        default=USUAL_S,
        metavar="DURATION",
        help="such as 90s, 10m, 1h (default 1m)",
    )
    parser.add_argument(
        "--format", choices=("table", "json"), default="table", metavar="FORMAT", help="table (default) or json"
    )
    add_json(parser)
    parser.add_argument(
        "--observations", action="store_true", help="print also what is worth knowing and nothing to be mended"
    )
    add_common(parser)
    add_ending(
        parser,
        "gputop watch --for 10m --json | jq -r '.findings[].finding.summary'",
        status="0 nothing is wrong, 1 suspects, 2 alarms, 3 could not look, 64 bad options",
    )


def run(options: argparse.Namespace) -> int:
    """Watch, print, and return how grave it is."""
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
