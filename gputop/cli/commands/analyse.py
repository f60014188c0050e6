"""gputop analyse: the findings of today's detectors in a recording."""

import argparse

from gputop.app.monitoring.analysis import AnalysisRequest, analyse
from gputop.cli.args.options import add_ending, add_json
from gputop.cli.args.requests import request_of


def add(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    parser.add_argument("path", metavar="FILE", help="a recording made by gputop record")
    parser.add_argument(
        "--format", choices=("table", "json"), default="table", metavar="FORMAT", help="table (default) or json"
    )
    add_json(parser)
    add_ending(
        parser,
        "gputop analyse night.tape --json | jq -r '.findings[].finding.summary'",
        status="0 done, with or without findings; 2 bad input; 3 too short to judge",
    )


def run(options: argparse.Namespace) -> int:
    """Judge all frames and print the findings."""
    return analyse(request_of(options, AnalysisRequest))
