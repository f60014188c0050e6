"""gputop explain: where processes hang that make no progress."""

import argparse

from gputop.app.monitoring.explain import ExplainRequest, explain
from gputop.cli.args.options import add_demo, add_ending
from gputop.cli.args.requests import request_of


def add(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    parser.description = (
        "Say where processes hang. The verdict comes first, then what each source knows: the Python stacks of all"
        " ranks (py-spy, if it is installed), the collective operations that NCCL and PyTorch count, CUDA MPS, and the"
        " kernel."
    )
    parser.add_argument(
        "names", nargs="+", metavar="WHAT",
        help="pid of any process, label (on the screen) or key (in JSON) of a job, or code of a present finding, such"
        " as stuck.collective",
    )  # fmt: skip
    parser.add_argument(
        "--native", action="store_true",
        help="also show frames of C and C++; py-spy then pauses each process for some milliseconds",
    )  # fmt: skip
    parser.add_argument(
        "--read-only", action="store_true", default=argparse.SUPPRESS,
        help="ask no process for a new dump of the PyTorch Flight Recorder",
    )  # fmt: skip
    parser.add_argument("--json", dest="is_json", action="store_true", help="one line of JSON")
    add_demo(parser)
    add_ending(
        parser,
        "gputop explain 4711",
        "gputop explain stuck --demo trouble",
        "gputop explain 84213 --json | jq -r .verdict",
        status="0 a source answered, 2 bad input, 3 nothing is known, 4 no such process",
    )


def run(options: argparse.Namespace) -> int:
    """Ask, print, and return the exit status."""
    return explain(request_of(options, ExplainRequest))
