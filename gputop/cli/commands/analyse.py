"""gputop analyse: what the detectors of today find on a tape, whatever was found when it was recorded."""

import argparse
import sys
import time

from msgspec import Struct

from gputop.app.monitoring.judging import judge
from gputop.cli.args.exits import BAD_INPUT, OK, fail, warn
from gputop.cli.args.options import add_ending, add_json
from gputop.core.detection.timeline import Episode, Timeline
from gputop.core.model.units import duration_text
from gputop.core.text.text import clean
from gputop.lazy_imports import collect_seldom
from gputop.report.timeline import timeline
from gputop.wire.codec import Problem
from gputop.wire.encoder import encode
from gputop.wire.tape.reader import Tape, open_tape


class Analysis(Struct, frozen=True, kw_only=True):
    """What was found on a tape. ``began_s``: since the epoch; ``problems``: of the tape itself."""

    tape: str
    host: str
    began_s: float
    length_s: float
    frames: int
    problems: tuple[str, ...]
    findings: tuple[Episode, ...]


def add(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    parser.add_argument("file", metavar="FILE", help="a recording: what gputop record wrote")
    parser.add_argument(
        "--format", choices=("table", "json"), default="table", metavar="FORMAT", help="table (default) or json"
    )
    add_json(parser)
    add_ending(
        parser,
        "gputop analyse night.tape --json | jq -r '.findings[].finding.summary'",
        status="0 done, whatever was found; 2 bad input",
    )


def run(options: argparse.Namespace) -> int:
    """Judge all frames and print what was found."""
    tape = open_tape(options.file)
    if isinstance(tape, Problem):
        fail(BAD_INPUT, tape.text)
    collect_seldom()
    began_s = time.monotonic()
    found = analysed(tape, clean(options.file))
    took_s = max(1e-6, time.monotonic() - began_s)
    if options.format == "json":
        sys.stdout.buffer.write(encode(found))
        return OK
    for problem in found.problems:
        print(f"gputop: {problem}", file=sys.stderr)
    print(timeline(found.findings) or "nothing was found")
    span = duration_text(round(tape.length_s))
    sum_ = f"{len(found.findings)} findings in {found.frames} frames of {span}"
    print(f"gputop: {sum_}, read in {took_s:.1f}s: {tape.length_s / took_s:.0f} times real time", file=sys.stderr)
    return OK


def analysed(tape: Tape, name: str) -> Analysis:
    """Judge a tape. What was found when it was recorded counts for nothing."""
    judge_, found, frames = judge(is_once=False, tell=warn), Timeline(), 0
    for moment in tape.play():
        frame = moment.frame
        found.add(moment.at_s, frame.time_s, judge_.judge(frame, frame.jobs))
        frames += 1
    return Analysis(
        tape=name,
        host=clean(tape.header.host),
        began_s=tape.began_s,
        length_s=tape.length_s,
        frames=frames,
        problems=tuple(tape.problems),
        findings=found.episodes,
    )
