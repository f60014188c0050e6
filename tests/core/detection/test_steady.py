"""Single wrong readings of drivers: no detector sees them, and what lasts is believed."""

from collections.abc import Sequence

from examples import frame, process
from judging import at
from msgspec.structs import replace

from gputop.core.detection.steady import Steady
from gputop.core.model.catalogue import GPU_UTILIZATION, MEMORY_TOTAL, MEMORY_USED, POWER_AVERAGE, POWER_LIMIT
from gputop.core.model.metric import Metric
from gputop.core.model.sample import Gpu, HostProcess, MetricValue, Sample

GIB = 2**30


def seconds(metric: Metric[float] | Metric[int], values: Sequence[MetricValue]) -> list[MetricValue]:
    """Return what detectors see when the driver says these values, one a second."""
    steady, seen = Steady(), []
    for second, value in enumerate(values):
        given = frame(1)
        known: dict[str, MetricValue] = {MEMORY_TOTAL.key: 80 * GIB, POWER_LIMIT.key: 700.0, metric.key: value}
        gpus = tuple(replace(gpu, metrics=known) for gpu in given.gpus)
        sample, _ = steady.take(at(replace(given, gpus=gpus), second), (), float(second))
        seen.append(sample.gpus[0].metrics[metric.key])
    return seen


def uses(
    values: Sequence[tuple[float | None, int | None]], busy: float = 100.0
) -> list[tuple[float | None, int | None]]:
    """Return what detectors see of a process whose GPU is so busy: its utilization and memory."""
    steady, seen = Steady(), []
    for second, (sm, memory) in enumerate(values):
        given = frame(1, (process(4711, 0),))
        gpus = tuple(_busy(gpu, busy) for gpu in given.gpus)
        one = _using(given.processes[0], sm, memory)
        sample: Sample = at(replace(given, gpus=gpus, processes=(one,)), second)
        _, due = steady.take(sample, sample.processes, float(second))
        seen.append((due[0].gpus[0].sm_percent, due[0].gpus[0].memory_bytes))
    return seen


def test_an_impossible_percentage_is_never_seen() -> None:
    assert seconds(GPU_UTILIZATION, [255, 90, 255, 91]) == [None, 90, 90, 91]


def test_an_impossible_percentage_that_lasts_is_missing_and_not_the_last_one_for_ever() -> None:
    assert seconds(GPU_UTILIZATION, [90] + [255] * 8)[-1] is None


def test_a_single_zero_of_a_level_is_not_believed() -> None:
    assert seconds(MEMORY_USED, [9 * GIB, 0, 9 * GIB]) == [9 * GIB] * 3
    assert seconds(POWER_AVERAGE, [300.0, 0.0, 310.0]) == [300.0, 300.0, 310.0]


def test_memory_that_stays_at_zero_is_believed() -> None:
    assert seconds(MEMORY_USED, [9 * GIB] + [0] * 8)[-1] == 0


def test_an_idle_gpu_is_not_held_at_its_last_utilization() -> None:
    assert seconds(GPU_UTILIZATION, [90, 0]) == [90, 0]


def test_a_process_does_not_rest_for_one_sample_on_a_busy_gpu() -> None:
    assert [sm for sm, _ in uses([(100.0, GIB), (0.0, GIB), (100.0, GIB)])] == [100.0, 100.0, 100.0]


def test_a_process_that_rests_for_longer_is_believed() -> None:
    assert [sm for sm, _ in uses([(100.0, GIB), (0.0, GIB), (0.0, GIB)])] == [100.0, 100.0, 0.0]


def test_a_process_on_an_idle_gpu_rests_at_once() -> None:
    assert [sm for sm, _ in uses([(100.0, GIB), (0.0, GIB)], busy=3.0)] == [100.0, 0.0]


def test_memory_that_a_process_loses_for_one_sample_is_not_lost() -> None:
    assert [held for _, held in uses([(9.0, GIB), (9.0, 0), (9.0, None), (9.0, GIB)])] == [GIB] * 4


def _busy(gpu: Gpu, percent: float) -> Gpu:
    return replace(gpu, metrics={**gpu.metrics, GPU_UTILIZATION.key: percent})


def _using(one: HostProcess, sm: float | None, memory: int | None) -> HostProcess:
    return replace(one, gpus=tuple(replace(use, sm_percent=sm, memory_bytes=memory) for use in one.gpus))
