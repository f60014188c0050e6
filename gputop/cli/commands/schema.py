"""gputop schema: the JSON Schema of a frame, or of a diagnosis."""

import argparse
import json
from typing import Any

from gputop.cli.args.exits import OK
from gputop.cli.args.options import add_ending


def add(parser: argparse.ArgumentParser) -> None:
    """Add what there is a schema of."""
    parser.add_argument(
        "what", nargs="?", choices=("frame", "doctor"), default="frame", metavar="WHAT",
        help="frame (default): what snapshot and stream print; doctor: what doctor prints",
    )  # fmt: skip
    add_ending(parser, "gputop schema doctor")


def run(options: argparse.Namespace) -> int:
    """Print it."""
    print(json.dumps(_schema(options.what), indent=2))
    return OK


def _schema(what: str) -> dict[str, Any]:
    if what == "doctor":
        from gputop.report.doctor_schema import doctor_schema

        return doctor_schema()
    from gputop.report.schema import schema

    return schema()
