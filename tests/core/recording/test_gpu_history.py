"""Series of values: bounded, and honest about gaps."""

from collections.abc import Sequence
from math import isnan, nan

import pytest
from examples import frame, gpu
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from gputop.core.model.catalogue import GPU_UTILIZATION, TEMPERATURE
from gputop.core.model.metric import Missing
from gputop.core.model.plausible import MOST_GPUS
from gputop.core.recording.gpu_history import HOUR, History, Series

PLOTTED = (GPU_UTILIZATION, TEMPERATURE)


def same(shown: Sequence[float], wanted: Sequence[float]) -> bool:
    return [None if isnan(v) else v for v in shown] == [None if isnan(v) else v for v in wanted]


@given(st.lists(st.one_of(st.none(), st.integers(-1000, 1000)), max_size=40), st.integers(1, 12), st.integers(0, 20))
def test_a_series_is_the_end_of_all_that_was_added(values: list[int | None], length: int, asked: int) -> None:
    series = Series(length)
    for value in values:
        series.add(value)

    kept = [nan if v is None else float(v) for v in values][-length:]
    assert same(series.last(asked), kept[len(kept) - min(asked, len(kept)) :])
    assert series.count == len(values)


def test_an_hour_and_no_more_is_kept() -> None:
    series = Series()
    for n in range(2 * HOUR):
        series.add(n)

    assert len(series.last(10 * HOUR)) == HOUR
    assert list(series.last(2)) == [2 * HOUR - 2, 2 * HOUR - 1]


def test_what_is_missing_is_a_gap_and_never_zero() -> None:
    history = History(PLOTTED)
    history.remember(frame((gpu(0),)))
    history.remember(frame((gpu(0, {TEMPERATURE: Missing.LOST}),)))

    assert same(history.window("GPU-00000000", TEMPERATURE, 5), [60, nan])
    assert same(history.window("GPU-00000000", GPU_UTILIZATION, 5), [90, 90])


def test_a_gpu_that_is_away_for_a_sample_has_a_gap_there() -> None:
    history = History(PLOTTED)
    for gpus in ((gpu(0), gpu(1)), (gpu(0),), (gpu(0), gpu(1))):
        history.remember(frame(gpus))

    assert same(history.window("GPU-00000001", TEMPERATURE, 5), [60, nan, 60])


def test_a_gpu_that_came_later_ends_at_the_same_instant() -> None:
    history = History(PLOTTED)
    history.remember(frame((gpu(0),)))
    history.remember(frame((gpu(0), gpu(1))))

    assert list(history.window("GPU-00000001", TEMPERATURE, 5)) == [60]
    assert history.names() == {"GPU-00000000", "GPU-00000001"}


def test_ever_new_gpus_of_a_source_fill_the_memory() -> None:
    history = History(PLOTTED[:1])
    for n in range(20):
        made_up = [replace(gpu(1), uuid=f"GPU-made-up-{n}-{each}") for each in range(MOST_GPUS // 9)]
        history.remember(frame((gpu(0), *made_up)))

    assert len(history.names()) <= MOST_GPUS
    assert len(history.window("GPU-00000000", PLOTTED[0], HOUR)) == 20
    assert len(history.series("host", "cpu_percent").last(HOUR)) == 20


def test_the_host_is_remembered_too() -> None:
    history = History(PLOTTED)
    history.remember(frame())
    history.remember(frame())

    assert list(history.series("host", "cpu_percent").last(5)) == [12, 12]


def test_the_host_has_no_series_of_gpu_metrics() -> None:
    history = History(PLOTTED)
    history.remember(frame())
    history.remember(frame())

    assert history.series("host", TEMPERATURE.key).count == 0


@pytest.mark.parametrize("uuid", ["GPU-nobody", "", "host"])
def test_an_unknown_gpu_has_an_empty_window(uuid: str) -> None:
    assert list(History(PLOTTED).window(uuid, TEMPERATURE, 5)) == []


def test_a_span_is_measured_by_the_clock_and_only_its_unlived_rest_is_assumed() -> None:
    history = History([])
    for time_s in (100.0, 101.0, 106.0):
        history.remember(frame(time_s=time_s))

    assert history.span_s(2, 1.0) == 6.0
    assert history.span_s(5, 1.0) == 9.0
