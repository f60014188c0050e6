"""gputop doctor: the health of this host."""

import argparse

from gputop.app.monitoring.doctor import DoctorRequest, doctor
from gputop.cli.args.options import add_demo, add_ending, whole
from gputop.cli.args.parser import USAGE, Parser
from gputop.cli.args.requests import request_of


def add(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    Parser.usage_status = USAGE  # of all parsers: an unknown option is reported by the outermost one
    parser.add_argument("--json", dest="is_json", action="store_true", help="one line of JSON")
    parser.add_argument(
        "-q", "--quiet", dest="is_quiet", action="store_true", help="print only problems; nothing if there are none"
    )
    parser.add_argument(
        "--expect",
        dest="expected",
        type=whole(0),
        metavar="N",
        help="expected number of GPUs (default: expected_gpus in the configuration file)",
    )
    add_demo(parser, box="dying")
    parser.description = (
        "Check the driver, GPUs and configuration of this host, and suggest fixes for problems.\n"
        "gputop only reports: it changes nothing and applies no fix."
    )
    add_ending(
        parser,
        "gputop doctor --expect 8 --quiet",
        "gputop doctor --json | jq -r '.checks[] | select(.severity == \"fail\") | .code'",
        status="0 healthy, 1 warnings, 2 act now, 3 no GPU to check, 64 bad options",
    )


def run(options: argparse.Namespace) -> int:
    """Collect the facts, judge them and print the diagnosis."""
    return doctor(request_of(options, DoctorRequest))
