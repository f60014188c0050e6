"""gputop analyse: the findings of today's detectors in a recording."""

import argparse
import sys
import time

from gputop.app.monitoring.analysis import analyse
from gputop.cli.args.exits import BAD_INPUT, OK, fail, warn
from gputop.cli.args.options import add_ending, add_json
from gputop.core.model.units import duration_text
from gputop.core.text.text import clean
from gputop.lazy_imports import collect_seldom
from gputop.report.timeline import timeline
from gputop.wire.codec import Problem
from gputop.wire.encoder import encode
from gputop.wire.tape.reader import open_tape


def add(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    parser.add_argument("file", metavar="FILE", help="a recording made by gputop record")
    parser.add_argument(
        "--format", choices=("table", "json"), default="table", metavar="FORMAT", help="table (default) or json"
    )
    add_json(parser)
    add_ending(
        parser,
        "gputop analyse night.tape --json | jq -r '.findings[].finding.summary'",
        status="0 done, with or without findings; 2 bad input",
    )


def run(options: argparse.Namespace) -> int:
    """Judge all frames and print the findings."""
    tape = open_tape(options.file)
    if isinstance(tape, Problem):
        fail(BAD_INPUT, tape.text)
    collect_seldom()
    began_s = time.monotonic()
    found = analyse(tape, clean(options.file), warn)
    took_s = max(1e-6, time.monotonic() - began_s)
    if options.format == "json":
        sys.stdout.buffer.write(encode(found))
        return OK
    for problem in found.problems:
        print(f"gputop: {problem}", file=sys.stderr)
    print(timeline(found.findings) or "no findings")
    span = duration_text(round(tape.length_s))
    sum_ = f"{len(found.findings)} findings in {found.frames} frames of {span}"
    print(f"gputop: {sum_}, read in {took_s:.1f}s: {tape.length_s / took_s:.0f} times real time", file=sys.stderr)
    return OK
