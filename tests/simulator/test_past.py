"""A simulated box has a past: within seconds of its start it shows what takes a real one minutes."""

from functools import cache

import pytest
from examples import NOW
from msgspec.structs import replace

from gputop.core.detection.judge import Judge
from gputop.core.detection.steady import Steady
from gputop.core.detectors.registry import detectors, made
from gputop.core.model.finding import Finding, Stage
from gputop.core.model.sample import Frame
from gputop.core.monitor import Monitor
from gputop.core.query.selection import Selection
from gputop.simulator.past import LENGTH_S, STEP_S, JudgeWithPast, Past

SHOWN = {
    "bound.compute", "bound.input", "busy.fake", "ecc.uncorrected", "idle.holder", "leak.process", "memory.full",
    "memory.unexplained", "orphan.gone", "orphan.parent", "orphan.zombie", "pcie.link", "process.stopped",
    "remap.pending", "spin.host", "stalled.process", "straggler.gpu", "stuck.collective",
    "throttle.thermal",
}  # fmt: skip


@cache
def last_of(name: str) -> Frame:
    """Return the last frame before a box begins to run."""
    past = Past(name, Selection(), NOW)
    monitor = Monitor(past, Judge(made(detectors(), {}), steady=Steady()))
    frame = monitor.step()
    while past.time_s < NOW:
        frame = monitor.step()
    return frame


def told(found: tuple[Finding, ...], stage: Stage | None = None) -> set[str]:
    return {finding.code for finding in found if stage in {None, finding.stage}}


def test_the_box_of_troubles_has_an_example_of_each() -> None:
    assert told(last_of("trouble").findings) >= SHOWN


def test_of_the_gravest_each_is_an_alarm() -> None:
    alarms = told(last_of("trouble").findings, Stage.ALARM)

    assert {"leak.process", "stuck.collective", "stalled.process", "throttle.thermal", "process.stopped"} <= alarms


def test_the_usual_box_has_something_to_show_and_nothing_to_fear_but_a_leak() -> None:
    found = last_of("training").findings

    assert {"idle.holder", "straggler.neighbour", "memory.full"} <= told(found)
    assert told(found, Stage.ALARM) == {"leak.process"}


def test_the_past_ends_when_the_box_begins_and_findings_are_as_old_as_they_are() -> None:
    frame = last_of("trouble")
    (hang,) = [finding for finding in frame.findings if finding.code == "stuck.collective"]

    assert frame.time_s == pytest.approx(NOW)
    assert NOW - 480 <= hang.since_s <= NOW - 360
    assert frame.driver.simulated == "trouble"


def test_the_judge_finds_nothing_until_the_past_is_told_and_then_all_of_it() -> None:
    now_s = NOW
    judge = JudgeWithPast(Judge(made(detectors(), {}), steady=Steady()), "dying", Selection())
    frame = last_of("dying")

    first = judge.judge(frame, frame.jobs)
    judge.wait()
    found = judge.judge(frame, frame.jobs)

    assert first == ()
    assert "process.blocked" in told(found, Stage.ALARM)
    assert min(finding.since_s for finding in found) <= now_s - LENGTH_S + 60


def test_the_past_follows_the_present_as_long_as_it_takes() -> None:
    class Slow:
        """A judge during whose work the present goes on for a minute."""

        judged_in_s = None

        def __init__(self) -> None:
            self.seen: list[float] = []

        def judge(self, sample: Frame, jobs: object) -> tuple[Finding, ...]:
            del jobs
            self.seen.append(sample.time_s)
            seen_while_behind.append(held.judged_in_s or 0.0)
            if sample.time_s == NOW - STEP_S:
                held.judge(later, later.jobs)
            return ()

    seen_while_behind: list[float] = []
    frame = last_of("dying")
    later = replace(frame, time_s=NOW + 60)
    slow = Slow()
    held = JudgeWithPast(slow, "dying", Selection())  # type: ignore[arg-type] # a frame is a sample

    held.judge(frame, frame.jobs)
    held.wait()

    assert seen_while_behind
    assert min(seen_while_behind) > 0
    assert held.judged_in_s is None
    assert NOW + 50 <= slow.seen[-1] < NOW + 60
