"""gputop schema: the JSON Schema of a frame, a diagnosis or an explanation."""

import argparse

from gputop.app.errors import OK
from gputop.app.terminal import print_schema
from gputop.cli.args.options import add_ending


def add(parser: argparse.ArgumentParser) -> None:
    """Add the command's argument."""
    parser.add_argument(
        "what", nargs="?", choices=("frame", "doctor", "explain"), default="frame", metavar="WHAT",
        help="frame (default): the output of snapshot and stream; doctor, explain: the output of that command",
    )  # fmt: skip
    add_ending(parser, "gputop schema doctor", "gputop schema explain")


def run(options: argparse.Namespace) -> int:
    """Print the schema."""
    print_schema(options.what)
    return OK
