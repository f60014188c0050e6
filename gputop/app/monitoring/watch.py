"""Watch: observe the box for some time, and report findings with a status that a script can use."""

import sys
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Final

from msgspec import Struct

from gputop.app.alerting.takers import takers_of
from gputop.app.backend.backend import BackendRequest
from gputop.app.backend.operations.choice import open_operations
from gputop.app.errors import NO_DRIVER, OK
from gputop.app.interrupts import StopRequest
from gputop.app.monitoring.frames import frames, open_source
from gputop.app.monitoring.hang_insight import HangInsight
from gputop.app.settings import settings_file
from gputop.app.terminal import print_json, warn
from gputop.core.detection.judge import worst
from gputop.core.detection.timeline import Episode, Timeline
from gputop.core.model.finding import Finding, Stage
from gputop.core.model.sample import Frame, GpuState
from gputop.core.model.units import duration_text
from gputop.core.query.selection import why_no_gpus
from gputop.core.text.text import clean
from gputop.lazy_imports import collect_seldom
from gputop.report.timeline import timeline
from gputop.wire.server import Rhythm

STATUS: Final = {None: OK, Stage.OBSERVATION: OK, Stage.SUSPECT: 1, Stage.ALARM: 2}

News = Callable[[Frame, Sequence[Finding]], None]


class WatchRequest(Struct, frozen=True, kw_only=True):
    """A watch of ``duration_s``. ``receivers``: of the findings, by name or as KIND:WHERE."""

    backend: BackendRequest
    duration_s: float
    format: str
    has_observations: bool
    receivers: tuple[str, ...] = ()


class Watch(Struct, frozen=True, kw_only=True):
    """The findings of a watch. ``began_s``: since the epoch; ``status``: the exit status.

    ``judged_in_s``: how much longer it should have been to judge; None if it was long enough.
    """

    host: str
    began_s: float
    length_s: float
    frames: int
    status: int
    judged_in_s: float | None
    problems: tuple[str, ...]
    findings: tuple[Episode, ...]


def watch(request: WatchRequest) -> int:
    """Watch until the time is over or a signal ends it, print the findings, and return the exit status."""
    take, end_taking = takers_of(request.receivers)
    source = open_source(request.backend, is_once=False)
    rhythm = Rhythm(source)
    stop = StopRequest(rhythm.hurry)
    warn(f"watching for {duration_text(request.duration_s)}; press Ctrl-C to stop and print the findings so far")
    step = frames(source, request.backend, waits=True, notify=warn)
    insight = _insight(request.backend)
    collect_seldom()
    until = time.monotonic() + request.duration_s

    def is_over() -> bool:
        return stop.is_wanted or (time.monotonic() >= until and not (insight and insight.is_waiting))

    def weighed() -> Frame:
        return insight.weighed(step()) if insight else step()

    found = watched(weighed, rhythm.wait, is_over, partial(_tell, take))
    end_taking()
    if request.format == "json":
        print_json(found)
    else:
        print(_text(found, has_observations=request.has_observations))
    for problem in found.problems:
        warn(clean(problem))
    return found.status


def _insight(request: BackendRequest) -> HangInsight | None:
    """Return what asks where hangs hang, if the settings request it."""
    if not settings_file.settled().settings.insight_on_alarm:
        return None
    return HangInsight(open_operations(request).explain)


def watched(
    step: Callable[[], Frame],
    wait: Callable[[], None],
    is_over: Callable[[], bool],
    news: News,
    clock: Callable[[], float] = time.monotonic,
) -> Watch:
    """Watch until ``is_over``. ``news``: receives the findings of a frame that are new, or graver than before.

    ``clock``: for the length; that of the host may be set while gputop watches.
    """
    found, count, gravest = Timeline(), 0, None
    first: Frame | None = None
    ranks: dict[tuple[object, ...], int] = {}
    while True:
        frame, now = step(), clock()
        count += 1
        if first is None:
            first, began = frame, now
        found.add(now - began, frame.time_s, frame.findings)
        news(frame, [one for one in frame.findings if one.stage.rank > ranks.get(one.key, -1)])
        ranks |= {one.key: max(one.stage.rank, ranks.get(one.key, -1)) for one in frame.findings}
        gravest = worst([*frame.findings, *((gravest,) if gravest else ())])
        if is_over():
            break
        wait()
    why_not = _why_not(frame, now - began)
    is_found = gravest is not None and (gravest.stage is not Stage.OBSERVATION or frame.judged_in_s is None)
    return Watch(
        host=frame.host.name,
        began_s=first.time_s,
        length_s=now - began,
        frames=count,
        status=NO_DRIVER if why_not and not is_found else STATUS[gravest.stage if gravest else None],
        judged_in_s=frame.judged_in_s,
        problems=(*frame.problems, *((why_not,) if why_not else ())),
        findings=found.episodes,
    )


def _tell(take: Callable[[Frame], None], frame: Frame, new: Sequence[Finding]) -> None:
    """Send the findings of a frame to receivers, and show the new ones on a terminal."""
    take(frame)
    if not sys.stderr.isatty():
        return
    clock = time.strftime("%H:%M:%S", time.localtime(frame.time_s))
    for one in new:
        print(f"{clock} {one.stage.value:11} {one.code:18} {one.subject.label}: {one.summary}", file=sys.stderr)


def _text(found: Watch, *, has_observations: bool) -> str:
    """Return a watch as lines: its findings, and a sum of them."""
    shown = [one for one in found.findings if has_observations or one.finding.stage is not Stage.OBSERVATION]
    rest = len(found.findings) - len(shown)
    counts = [sum(one.finding.stage is stage for one in found.findings) for stage in (Stage.ALARM, Stage.SUSPECT)]
    sum_ = f"{_counted(counts[0], 'alarm')}, {_counted(counts[1], 'suspect')} in {duration_text(found.length_s)}"
    hint = f"; to see {_counted(rest, 'observation')}: --observations" if rest else ""
    return (timeline(shown) + "\n" if shown else "") + sum_ + hint


def _why_not(frame: Frame, length_s: float) -> str:
    """Return why gputop could not judge at the end; empty if it could."""
    if not frame.gpus:
        return why_no_gpus(frame)
    if not any(gpu.state is GpuState.OK for gpu in frame.gpus):
        return "no GPU answers"
    return too_short(length_s, frame.judged_in_s)


def too_short(length_s: float, judged_in_s: float | None) -> str:
    """Return the sentence that a time was too short to judge; empty if it was not."""
    if judged_in_s is None:
        return ""
    return (
        f"not judged yet: {duration_text(length_s)} is too short, gputop needs {duration_text(length_s + judged_in_s)}"
    )


def _counted(count: int, what: str) -> str:
    return f"{count} {what}" if count == 1 else f"{count} {what}s"
