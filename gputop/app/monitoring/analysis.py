"""Analysis of a recording with today's detectors, independent of the findings that were recorded."""

from collections.abc import Callable

from msgspec import Struct

from gputop.app.monitoring.judging import judge
from gputop.core.detection.timeline import Episode, Timeline
from gputop.core.text.text import clean
from gputop.wire.tape.reader import Tape


class Analysis(Struct, frozen=True, kw_only=True):
    """The findings in a recording. ``began_s``: since the epoch; ``problems``: of the file itself."""

    tape: str
    host: str
    began_s: float
    length_s: float
    frames: int
    problems: tuple[str, ...]
    findings: tuple[Episode, ...]


def analyse(tape: Tape, name: str, notify: Callable[[str], None] | None = None) -> Analysis:
    """Judge all frames of a recording. ``notify``: receives one line if the configuration has mistakes."""
    judge_, timeline, frames = judge(is_once=False, notify=notify), Timeline(), 0
    for moment in tape.play():
        frame = moment.frame
        timeline.add(moment.at_s, frame.time_s, judge_.judge(frame, frame.jobs))
        frames += 1
    return Analysis(
        tape=name,
        host=clean(tape.header.host),
        began_s=tape.began_s,
        length_s=tape.length_s,
        frames=frames,
        problems=tuple(tape.problems),
        findings=timeline.episodes,
    )
