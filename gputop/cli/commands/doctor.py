"""gputop doctor: the health of this host."""

import argparse
import sys

from gputop.app.backend.backend import BackendRequest
from gputop.app.monitoring.doctor import DoctorRequest, encoded, examine, text
from gputop.cli.args.exits import USAGE
from gputop.cli.args.options import add_demo, add_ending, whole
from gputop.cli.args.parser import Parser


def add(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    Parser.usage_status = USAGE  # of all parsers: an unknown option is reported by the outermost one
    parser.add_argument("--json", action="store_true", help="one line of JSON")
    parser.add_argument(
        "--expect",
        type=whole(0),
        metavar="N",
        help="expected number of GPUs (default: expected_gpus of the configuration)",
    )
    add_demo(parser, box="dying")
    parser.description = (
        "Check the driver, GPUs and configuration of this host, and suggest fixes for problems.\n"
        "gputop changes nothing and executes no fix."
    )
    add_ending(
        parser,
        "gputop doctor --expect 8",
        "gputop doctor --json | jq -r '.checks[] | select(.severity == \"fail\") | .code'",
        status="0 healthy, 1 warnings, 2 act now, 3 no GPU to check, 64 bad options",
    )


def run(options: argparse.Namespace) -> int:
    """Collect the facts, judge them and print the diagnosis."""
    plugins = {found.entry.name: found.rejected for found in options.plugins}
    request = DoctorRequest(backend=BackendRequest(demo=options.demo), expected=options.expect, plugins=plugins)
    diagnosis = examine(request)
    sys.stdout.buffer.write(encoded(diagnosis) if options.json else text(diagnosis, sys.stdout))
    return diagnosis.status
