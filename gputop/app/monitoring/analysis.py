"""Analysis of a recording with today's detectors, independent of the findings that were recorded."""

import time
from collections.abc import Callable

from msgspec import Struct

from gputop.app.errors import NO_DRIVER, OK, BadRequestError
from gputop.app.monitoring.judging import judge
from gputop.app.monitoring.watch import too_short
from gputop.app.terminal import print_json, warn
from gputop.core.detection.timeline import Episode, Timeline
from gputop.core.model.units import duration_text
from gputop.core.text.text import clean
from gputop.lazy_imports import collect_seldom
from gputop.report.timeline import timeline
from gputop.wire.codec import Problem
from gputop.wire.tape.reader import Tape, open_tape


class AnalysisRequest(Struct, frozen=True, kw_only=True):
    """An analysis of the recording at ``path``."""

    path: str
    format: str


class Analysis(Struct, frozen=True, kw_only=True):
    """The findings in a recording. ``began_s``: since the epoch; ``problems``: of the file itself.

    ``judged_in_s``: how much longer it should have been to judge; None if it was long enough.
    """

    tape: str
    host: str
    began_s: float
    length_s: float
    frames: int
    judged_in_s: float | None
    problems: tuple[str, ...]
    findings: tuple[Episode, ...]


def analyse(request: AnalysisRequest) -> int:
    """Judge all frames, print the findings, and return the exit status."""
    tape = opened(request.path)
    collect_seldom()
    began_s = time.monotonic()
    found = analysed(tape, clean(request.path), warn)
    took_s = max(1e-6, time.monotonic() - began_s)
    why_not = too_short(found.length_s, found.judged_in_s)
    status = NO_DRIVER if why_not and not found.findings else OK
    if request.format == "json":
        print_json(found)
        return status
    for problem in found.problems:
        warn(problem)
    print(timeline(found.findings) or (why_not or "no findings"))
    sum_ = f"{len(found.findings)} findings in {found.frames} frames of {duration_text(round(tape.length_s))}"
    warn(f"{sum_}, read in {took_s:.1f}s: {tape.length_s / took_s:.0f} times real time")
    return status


def opened(path: str) -> Tape:
    """Return the recording at ``path``."""
    tape = open_tape(path)
    if isinstance(tape, Problem):
        raise BadRequestError(tape.text)
    return tape


def analysed(tape: Tape, name: str, notify: Callable[[str], None] | None = None) -> Analysis:
    """Judge all frames of a recording. ``notify``: receives one line if the configuration has mistakes."""
    judge_, found, frames = judge(is_once=False, notify=notify), Timeline(), 0
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
        judged_in_s=judge_.judged_in_s,
        problems=tuple(tape.problems),
        findings=found.episodes,
    )
