"""gputop schema: the JSON Schema of a frame or of a diagnosis."""

import argparse
import json

from gputop.cli.args.exits import OK
from gputop.cli.args.options import add_ending
from gputop.report.schema import doctor_schema, schema


def add(parser: argparse.ArgumentParser) -> None:
    """Add the command's argument."""
    parser.add_argument(
        "what", nargs="?", choices=("frame", "doctor"), default="frame", metavar="WHAT",
        help="frame (default): the output of snapshot and stream; doctor: the output of doctor",
    )  # fmt: skip
    add_ending(parser, "gputop schema doctor")


def run(options: argparse.Namespace) -> int:
    """Print the schema."""
    print(json.dumps(doctor_schema() if options.what == "doctor" else schema(), indent=2))
    return OK
