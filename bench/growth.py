"""Growth of gputop's cost: with processes, GPUs, shorter intervals, and the length of its history.

    python bench/growth.py [--box COMMAND] [--json FILE]

`--box` names a program that makes boxes (bench/boxes.py describes it); without it only parts without a driver are
measured: the detectors and the history, on frames of a simulated box. docs/performance.md explains the results.
"""

import argparse
import json
import sys
import time
from collections.abc import Sequence
from math import log
from statistics import median
from typing import Any, Final

from boxes import Plan, measure
from msgspec import Struct, to_builtins
from msgspec.structs import replace
from tape import crowd, frames

from gputop.app.monitoring.judging import judge
from gputop.core.model.sample import Frame
from gputop.core.recording.gpu_history import History
from gputop.core.recording.process_history import Tracks
from gputop.lazy_imports import collect_seldom
from gputop.ui.state.view import PLOTTED

USUAL: Final = Plan(8, 200)
PROCESSES: Final = (200, 500, 1000, 2000)
GPUS: Final = (1, 4, 8, 16)
INTERVALS_S: Final = (5.0, 2.0, 1.0, 0.5)
JUDGED: Final = (100, 500, 1000, 2000)
MINUTES: Final = (1, 10, 30, 60)
WATCH: Final = ("--programs", "gputop", "--parts", "screen", "--warm-up", "3")


class Point(Struct, frozen=True):
    """A measurement: an amount of the variable, and its cost. ``at``: the amount as text; ``amount``: as a number."""

    at: str
    amount: float
    cost: float
    pss_bytes: int | None = None


class Curve(Struct, frozen=True):
    """Measurements in which one variable changes. ``unit``: of the cost."""

    what: str
    unit: str
    points: Sequence[Point]

    @property
    def exponent(self) -> float | None:
        """Return the power by which the cost grows over the last step: 1 is linear, less is flatter. None: unknown."""
        if len(self.points) < 2:
            return None
        before, last = self.points[-2:]
        return log(last.cost / before.cost) / log(last.amount / before.amount) if before.cost and last.cost else None


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--box", metavar="COMMAND", help="makes a box: COMMAND GPUS PROCESSES zero PROGRAM...")
    parser.add_argument("--json", metavar="FILE", help="also write all values to this file")
    options = parser.parse_args()
    found = curves(options.box)
    for curve in found:
        costs = ", ".join(f"{point.cost:.2f} at {point.at}" for point in curve.points)
        print(f"{curve.what}: {costs} ({curve.unit}); exponent {curve.exponent or 0:.2f}")
    if options.json:
        with open(options.json, "w") as file:
            json.dump(facts(found), file, indent=1)
    return 0


def curves(box: str | None) -> list[Curve]:
    """Measure all; without a program that makes boxes, only the parts without a driver."""
    return [*(watched(box) if box else ()), judged(), remembered()]


def facts(found: Sequence[Curve]) -> list[dict[str, Any]]:
    """Return the measurements as they are stored."""
    return [{**to_builtins(curve), "exponent": curve.exponent} for curve in found]


# --- the program, on boxes ---------------------------------------------------------------------------------------
def watched(box: str) -> list[Curve]:
    """Return the cost of screen and sampler with more processes and GPUs, and with shorter intervals."""
    unit = "% of a core"
    usual = point(box, USUAL, 1.0, "", 0)

    def like(plan: Plan, interval_s: float, at: str, amount: float) -> Point | None:
        if plan == USUAL and interval_s == 1.0:
            return usual and replace(usual, at=at, amount=amount)
        return point(box, plan, interval_s, at, amount)

    processes = [like(replace(USUAL, processes=n), 1.0, f"{n:,}", n) for n in PROCESSES]
    gpus = [like(replace(USUAL, gpus=n), 1.0, str(n), n) for n in GPUS]
    often = [like(USUAL, every_s, f"{every_s:g} s", 1 / every_s) for every_s in INTERVALS_S]
    return [
        Curve(f"processes, on {USUAL.gpus} GPUs", unit, [p for p in processes if p]),
        Curve(f"GPUs, with {USUAL.processes} processes", unit, [p for p in gpus if p]),
        Curve(f"frames: the interval, on {USUAL.gpus} x {USUAL.processes}", unit, [p for p in often if p]),
    ]


def point(box: str, plan: Plan, interval_s: float, at: str, amount: float) -> Point | None:
    """Watch the screen on a box."""
    length_s = max(8.0, 2 * interval_s)  # whole frames
    values = measure(box, plan, [*WATCH, "--interval", str(interval_s), "--seconds", str(length_s)])
    ours = (values or {}).get("screen", {}).get("gputop")
    return ours and Point(at, amount, ours["cpu_percent"], ours["pss_bytes"])


# --- detectors and history, on frames ----------------------------------------------------------------------------
def judged() -> Curve:
    """Return the cost of detectors and history with more processes."""
    points = [Point(f"{count:,}", count, _median_ms(taken(count, 24))) for count in JUDGED]
    return Curve("detectors and history: processes", "ms a frame", points)


def remembered() -> Curve:
    """Return their cost with a longer history: the same minute again and again, as if an hour passed."""
    minute, memory, points = taken(60, 60), Memory(), []
    for number in range(1, max(MINUTES) + 1):
        cost_ms = memory.spent_ms(_later(minute, 60.0 * number))
        if number in MINUTES:
            points.append(Point(f"{number} min", number, cost_ms))
    return Curve("detectors and history: minutes", "ms a frame", points)


def _median_ms(shown: Sequence[Frame]) -> float:
    """Process the frames several times in a row, and return the median; the first time everything is new."""
    memory = Memory()
    memory.spent_ms(shown)
    return median(memory.spent_ms(_later(shown, len(shown) * float(turn))) for turn in range(1, 6))


def _later(shown: Sequence[Frame], seconds: float) -> list[Frame]:
    return [replace(frame, time_s=frame.time_s + seconds) for frame in shown]


class Memory:
    """The parts that remember frames: the sampler's judge, the screen's history."""

    def __init__(self) -> None:
        self._judge, self._history, self._tracks = judge(is_once=False), History(PLOTTED), Tracks()

    def spent_ms(self, shown: Sequence[Frame]) -> float:
        """Process frames and return the CPU time of one."""
        began_s = time.process_time()
        for frame in shown:
            self._judge.judge(frame, frame.jobs)
            self._history.remember(frame)
            self._tracks.remember(frame)
        return (time.process_time() - began_s) / len(shown) * 1000


def taken(processes: int, count: int) -> list[Frame]:
    """Return frames of a box of 8 GPUs with this number of processes."""
    collect_seldom()
    others = len(next(frames(crowd(0), 1)).processes)
    return list(frames(crowd(processes - others), count))


if __name__ == "__main__":
    sys.exit(main())
