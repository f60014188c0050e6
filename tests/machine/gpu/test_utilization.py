"""Shares of processes, from the driver's samples."""

from collections.abc import Iterator

import pytest
from fake_driver import FakeFunctions, NVMLError

from gputop.core.model.metric import Missing
from gputop.machine.gpu.utilization import UtilizationReader
from gputop.machine.nvml.driver import Driver

SECOND = 1_000_000


def read(answers: list[object], pids: set[int]) -> list[object]:
    """Return what the reader says at 0 s, 1 s, 2 s … to these answers of the driver."""
    remaining: Iterator[object] = iter(answers)
    functions = FakeFunctions(nvmlDeviceGetProcessUtilization=lambda *_: next(remaining))
    reader = UtilizationReader(Driver(functions), "handle-0")
    return [reader.read(pids, float(second)) for second in range(len(answers))]


def test_the_first_answer_averages_the_whole_buffer_and_is_not_shown() -> None:
    assert read([[(7, 1 * SECOND, 90, 0, 0, 0)]], {7}) == [Missing.NOT_YET]


def test_an_empty_answer_means_that_nobody_did_anything() -> None:
    assert read([[], []], {7})[1] == (1.0, {})


def test_a_reading_too_soon_for_a_new_sample_makes_no_busy_process_idle() -> None:
    answers: list[object] = [[], [(7, 1 * SECOND, 90, 0, 0, 0)], []]
    functions = FakeFunctions(nvmlDeviceGetProcessUtilization=lambda *_: answers.pop(0))
    reader = UtilizationReader(Driver(functions), "handle-0")
    said = [reader.read({7}, now) for now in (0.0, 0.1, 1.0, 1.1, 2.0)]

    assert said == [
        Missing.NOT_YET,
        Missing.NOT_YET,
        (1.0, {7: (90.0, 0.0, 0.0, 0.0)}),
        (1.0, {7: (90.0, 0.0, 0.0, 0.0)}),
        (1.0, {}),
    ]


def test_on_a_crowded_gpu_the_driver_is_asked_each_second_or_an_interval_gets_lost() -> None:
    pids = set(range(100, 200))
    functions = FakeFunctions(
        nvmlDeviceGetProcessUtilization=lambda _, since_us: [(100, since_us + SECOND, 40, 0, 0, 0)]
    )
    reader = UtilizationReader(Driver(functions), "handle-0")
    said = [reader.read(pids, float(second)) for second in range(9)]

    assert functions.calls["nvmlDeviceGetProcessUtilization"] == 5
    assert said[7:] == [(2.0, {100: (40.0, 0.0, 0.0, 0.0)})] * 2


def test_a_lone_process_is_exact_over_the_last_interval() -> None:
    answers: list[object] = [[], [(7, 1 * SECOND, 90, 40, 3, 9)], [(7, 2 * SECOND, 50, 20, 1, 2)]]

    assert read(answers, {7})[2] == (1.0, {7: (50.0, 20.0, 1.0, 2.0)})


def test_several_processes_are_means_over_a_window_that_is_stated() -> None:
    answers: list[object] = [
        [],
        [(7, 1 * SECOND, 80, 0, 0, 0), (8, 1 * SECOND, 20, 0, 0, 0)],
        [(7, 2 * SECOND, 40, 0, 0, 0)],
    ]

    assert read(answers, {7, 8})[2] == (2.0, {7: (60.0, 0.0, 0.0, 0.0), 8: (10.0, 0.0, 0.0, 0.0)})


def test_the_window_is_ten_seconds_at_the_most() -> None:
    answers: list[object] = [[(7, n * SECOND, 10, 0, 0, 0), (8, n * SECOND, 10, 0, 0, 0)] for n in range(1, 31)]
    last = read(answers, {7, 8})[-1]

    assert isinstance(last, tuple)
    assert last[0] == 10.0
    assert last[1][7][0] == pytest.approx(10.0)


def test_garbage_is_left_out() -> None:
    answers: list[object] = [
        [],
        [
            (7, 20 * SECOND, 37_100, 0, 0, 0),  # impossible
            (9, 20 * SECOND, 50, 0, 0, 0),  # a pid that the GPU does not list
            (8, 1 * SECOND, 50, 0, 0, 0),  # far older than the newest
            (8, 20 * SECOND, 30, 0, 0, 0),
        ],
    ]

    assert read(answers, {7, 8})[1] == (1.0, {8: (30.0, 0.0, 0.0, 0.0)})


def test_a_refusal_is_not_zero_and_is_not_asked_again() -> None:
    calls = []

    def refuse(*_: object) -> NVMLError:
        calls.append(1)
        return NVMLError(3)

    reader = UtilizationReader(Driver(FakeFunctions(nvmlDeviceGetProcessUtilization=refuse)), "handle-0")

    assert [reader.read({7}, 0.0), reader.read({7}, 1.0)] == [Missing.UNSUPPORTED, Missing.UNSUPPORTED]
    assert len(calls) == 1
