"""gputop watch: look for a while, say what is wrong, and end with a status that a script can use."""

import argparse
import sys
import time
from collections.abc import Callable, Sequence
from typing import Final

from msgspec import Struct

from gputop.cli.args.exits import BAD_INPUT, NO_DRIVER, OK, USAGE, warn
from gputop.cli.args.interrupts import StopRequest
from gputop.cli.args.options import add_common, add_ending, add_json, duration
from gputop.cli.args.parser import Parser
from gputop.cli.backend.monitoring import Opened, monitored, opened
from gputop.core.detection.judge import worst
from gputop.core.detection.timeline import Episode, Timeline
from gputop.core.model.finding import Finding, Stage
from gputop.core.model.sample import Frame, GpuState
from gputop.core.model.units import duration_text
from gputop.core.query.selection import why_no_gpus
from gputop.core.text.text import clean
from gputop.lazy_imports import collect_seldom
from gputop.report.timeline import timeline
from gputop.wire.encoder import encode
from gputop.wire.server import Rhythm

STATUS: Final = {None: OK, Stage.OBSERVATION: OK, Stage.SUSPECT: 1, Stage.ALARM: 2}
USUAL_S: Final = 60.0


class Watch(Struct, frozen=True, kw_only=True):
    """What was found. ``began_s``: since the epoch; ``status``: the exit status."""

    host: str
    began_s: float
    length_s: float
    frames: int
    status: int
    problems: tuple[str, ...]
    findings: tuple[Episode, ...]


def add(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    Parser.usage_status = USAGE
    parser.description = (
        "Look for a while, and print what is wrong. A hang takes 5 minutes to be an alarm, a leak 10 to be told from"
        " warm-up."
    )
    parser.add_argument(
        "--for",
        dest="duration",
        type=duration,
        default=USUAL_S,
        metavar="DURATION",
        help="such as 90s, 10m, 1h (default 1m)",
    )
    parser.add_argument(
        "--format", choices=("table", "json"), default="table", metavar="FORMAT", help="table (default) or json"
    )
    add_json(parser)
    parser.add_argument(
        "--observations", action="store_true", help="print also what is worth knowing and nothing to be mended"
    )
    add_common(parser)
    add_ending(
        parser,
        "gputop watch --for 10m --json | jq -r '.findings[].finding.summary'",
        status="0 nothing is wrong, 1 suspects, 2 alarms, 3 could not look, 64 bad options",
    )


def run(options: argparse.Namespace) -> int:
    """Watch, print, and say by the status how grave it is."""
    source = _opened(options)
    rhythm = Rhythm(source)
    end = StopRequest(rhythm.hurry)
    until = time.monotonic() + options.duration
    span = duration_text(options.duration)
    print(f"gputop: watching for {span}; Ctrl-C ends it and prints what was found so far", file=sys.stderr)
    step = monitored(source, options, tell=warn)
    collect_seldom()
    found = watch(step, rhythm.wait, lambda: end.is_wanted or time.monotonic() >= until, _tell)
    if options.format == "json":
        sys.stdout.buffer.write(encode(found))
    else:
        print(_text(found, has_observations=options.observations))
    for problem in found.problems:
        print(f"gputop: {clean(problem)}", file=sys.stderr)
    return found.status


def _opened(options: argparse.Namespace) -> Opened:
    try:
        return opened(options, is_once=False)
    except SystemExit as end:
        raise SystemExit(USAGE if end.code == BAD_INPUT else end.code) from None


def watch(
    step: Callable[[], Frame],
    wait: Callable[[], None],
    is_over: Callable[[], bool],
    tell: Callable[[Frame, Sequence[Finding]], None],
) -> Watch:
    """Look until it is over. ``tell`` gets what is new in a frame, or graver than it was."""
    found, frames, began_s, gravest = Timeline(), 0, 0.0, None
    ranks: dict[tuple[object, ...], int] = {}
    while True:
        frame = step()
        frames += 1
        began_s = began_s or frame.time_s
        found.add(frame.time_s - began_s, frame.time_s, frame.findings)
        tell(frame, [one for one in frame.findings if one.stage.rank > ranks.get(one.key, -1)])
        ranks |= {one.key: max(one.stage.rank, ranks.get(one.key, -1)) for one in frame.findings}
        gravest = worst([*frame.findings, *((gravest,) if gravest else ())])
        if is_over():
            break
        wait()
    could_look = any(gpu.state is GpuState.OK for gpu in frame.gpus)
    return Watch(
        host=frame.host.name,
        began_s=began_s,
        length_s=frame.time_s - began_s,
        frames=frames,
        status=STATUS[gravest.stage if gravest else None] if could_look or gravest else NO_DRIVER,
        problems=(*frame.problems, *(() if could_look else (_why_not(frame),))),
        findings=found.episodes,
    )


def _tell(frame: Frame, new: Sequence[Finding]) -> None:
    """Show on a terminal what comes up, while one waits for the end."""
    if not sys.stderr.isatty():
        return
    clock = time.strftime("%H:%M:%S", time.localtime(frame.time_s))
    for one in new:
        print(f"{clock} {one.stage.value:11} {one.code:18} {one.subject.label}: {one.summary}", file=sys.stderr)


def _why_not(frame: Frame) -> str:
    """Say why nothing could be judged at the end."""
    return "no GPU answers" if frame.gpus else why_no_gpus(frame)


def _text(found: Watch, *, has_observations: bool) -> str:
    shown = [one for one in found.findings if has_observations or one.finding.stage is not Stage.OBSERVATION]
    rest = len(found.findings) - len(shown)
    counts = [sum(one.finding.stage is stage for one in found.findings) for stage in (Stage.ALARM, Stage.SUSPECT)]
    sum_ = f"{_counted(counts[0], 'alarm')}, {_counted(counts[1], 'suspect')} in {duration_text(found.length_s)}"
    hint = f"; {_counted(rest, 'observation')} more: --observations" if rest else ""
    return (timeline(shown) + "\n" if shown else "") + sum_ + hint


def _counted(count: int, what: str) -> str:
    return f"{count} {what}" if count == 1 else f"{count} {what}s"
