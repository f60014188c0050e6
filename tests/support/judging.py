"""A judge that takes one sample after the other, for tests of detectors."""

from collections.abc import Callable, Iterable, Mapping

from examples import NOW, frame
from msgspec.structs import replace

from gputop.core.detection.detector import Detector
from gputop.core.detection.judge import Judge
from gputop.core.detection.steady import Steady
from gputop.core.detectors.registry import detectors, made
from gputop.core.model.finding import Finding
from gputop.core.model.sample import Frame, Sample


def judge_of(*names: str, **dials: Mapping[str, float]) -> Judge:
    """Return a judge with gputop's detectors of these names, all if none is given; ``dials``: by detector."""
    kinds = tuple(kind for kind in detectors() if not names or kind[0].name in names)
    return Judge(made(kinds, dials), steady=Steady())


def judge_with(**detectors: Detector) -> Judge:
    """Return a judge with these detectors."""
    return Judge(detectors)


def watch(
    judge: Judge, seconds: Iterable[int], made_at: Callable[[int], Frame] = lambda _: frame()
) -> list[tuple[Finding, ...]]:
    """Return the findings of each second. ``made_at``: what the box says so many seconds after `NOW`."""
    return [judge.judge(at(made_at(second), second), made_at(second).jobs) for second in seconds]


def at(sample: Frame, second: float) -> Sample:
    """Return a sample as if it was taken so many seconds after `NOW`, and its GPUs as long before as they were."""
    known = {name: getattr(sample, name) for name in Sample.__struct_fields__}
    gpus = tuple(replace(gpu, read_s=gpu.read_s and gpu.read_s + second) for gpu in sample.gpus)
    return Sample(**known | {"time_s": NOW + second, "gpus": gpus})
