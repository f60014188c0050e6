"""Functions of plugins that hang: they cost only their own row."""

import threading
from collections.abc import Callable, Iterator, Mapping

import pytest
from examples import frame, gpu

from gputop.core.detection.detector import Claim, Context, Detector, Kind
from gputop.core.detection.judge import Judge
from gputop.core.model.finding import Stage, Subject
from gputop.core.model.metric import Metric, NvmlCall, Unit
from gputop.core.plugins.api import API_VERSION, Plugin, guarded
from gputop.machine.plugins.bounds import bounded

SHORT_S = 0.1
LONG_S = 30.0


@pytest.fixture
def gate() -> Iterator[threading.Event]:
    """Let what waits for it go on after the test."""
    held = threading.Event()
    yield held
    held.set()


class Detects:
    """A detector that does this and claims something."""

    def __init__(self, act: Callable[[], object]) -> None:
        self._act = act

    def detect(self, _: Context) -> Iterator[Claim]:
        self._act()
        yield Claim(code="x.y", stage=Stage.SUSPECT, subject=Subject(label="GPU 0"), summary="seen", remedy="none")


def kind() -> Kind:
    return Kind(name="x", question="?", codes={"x.y": "?"}, remedies={"x.y": "none"})


def judge_of(make: Callable[[Mapping[str, float]], Detector], patience_s: float, failed: list[object]) -> Judge:
    plugin = Plugin(name="x", api=API_VERSION, detectors=((kind(), make),))
    ((_, made),) = bounded(guarded(plugin), lambda *why: failed.append(why), patience_s).detectors
    return Judge({"x": made({})})


def summaries(judge: Judge) -> list[str]:
    return [finding.summary for finding in judge.judge(frame((gpu(0),)), ())]


@pytest.mark.parametrize("where", ["made", "detects"])
def test_a_detector_of_a_plugin_that_hangs_stops_the_frames(where: str, gate: threading.Event) -> None:
    failed: list[object] = []

    def make(_: Mapping[str, float]) -> Detector:
        if where == "made":
            gate.wait(LONG_S)
        return Detects(lambda: gate.wait(LONG_S))

    judge = judge_of(make, SHORT_S, failed)
    found = [summaries(judge) for _ in range(2)]

    assert found[0] == found[1]
    assert "the detector x failed and is off" in found[0][0]
    assert "it did not return within" in found[0][0]
    assert [one[:2] for one in failed if isinstance(one, tuple)] == [("detectors", "x")]


def test_a_detector_of_a_plugin_that_returns_loses_its_claims_or_its_errors() -> None:
    def fail() -> None:
        raise KeyError("key")

    assert summaries(judge_of(lambda _: Detects(lambda: None), LONG_S, [])) == ["seen"]
    assert "KeyError: 'key'" in summaries(judge_of(lambda _: Detects(fail), LONG_S, []))[0]


def test_a_conversion_of_a_plugin_that_hangs_makes_the_gpu_hang(gate: threading.Event) -> None:
    failed: list[object] = []
    hangs = NvmlCall("nvmlX", to=lambda _: gate.wait(LONG_S))
    metric: Metric[float] = Metric(key="m", label="M", unit=Unit.PERCENT, origins=(hangs,))
    plugin = Plugin(name="x", api=API_VERSION, metrics=(metric,))
    (origin,) = bounded(guarded(plugin), lambda *why: failed.append(why), SHORT_S).metrics[0].origins
    assert isinstance(origin, NvmlCall)
    for _ in range(3):
        with pytest.raises(ValueError, match="did not return"):
            origin.to(1)

    assert len(failed) == 1
