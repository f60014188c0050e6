"""What processes used since gputop saw them."""

from typing import Any

import pytest
from examples import gpu

from gputop.core.model.catalogue import ENERGY, GPU_UTILIZATION, POWER_AVERAGE, POWER_LIMIT
from gputop.core.model.metric import Metric, Missing
from gputop.core.processes.accounting import Meter, Total


class Board:
    """A GPU of 700 W that idles at 100 W; each reading comes a second after the one before."""

    def __init__(self) -> None:
        self.meter = Meter()
        self.now = 1000.0
        self.energy: float | Missing = 1000.0

    def read(
        self,
        *sm_percents: float | None,
        watts: float | Missing = 500.0,
        seconds: float = 1.0,
        utilization: int | None = None,
    ) -> list[Total]:
        """Return the totals of the processes 1, 2, ... that did so much."""
        self.now += seconds
        if not isinstance(self.energy, Missing) and not isinstance(watts, Missing):
            self.energy += watts * seconds
        values: dict[Metric[Any], Any] = {
            POWER_AVERAGE: watts,
            POWER_LIMIT: 700.0,
            ENERGY: self.energy,
            GPU_UTILIZATION: utilization,
        }
        self.meter.advance(gpu(0, values), self.now, sum(sm or 0.0 for sm in sm_percents))
        return [self.meter.total((pid, None, None), sm) for pid, sm in enumerate(sm_percents, 1)]

    def idle(self) -> None:
        self.read(watts=100.0)


def seconds(totals: list[Total]) -> float | None:
    return totals[0][0]


def joules(totals: list[Total]) -> float | None:
    return totals[0][1]


def test_time_adds_up_from_zero_by_the_share_in_which_kernels_ran() -> None:
    board = Board()

    assert [seconds(board.read(sm)) for sm in (50.0, 50.0, 100.0, 0.0)] == [0.0, 0.5, 1.5, 1.5]


def test_energy_over_idle_is_split_by_the_shares_of_time() -> None:
    board = Board()
    board.idle()
    board.read(60.0, 20.0, watts=100.0)

    assert [total[1] for total in board.read(60.0, 20.0, watts=500.0)] == [300.0, 100.0]


def test_what_somebody_else_used_is_nobodys_share_here() -> None:
    board = Board()
    board.idle()
    board.read(20.0, watts=100.0)

    assert joules(board.read(20.0, watts=500.0, utilization=80)) == 100.0


def test_a_gpu_that_was_never_idle_is_taken_to_idle_at_a_third_of_its_limit() -> None:
    board = Board()
    board.read(100.0, watts=600.0)

    assert joules(board.read(100.0, watts=600.0)) == pytest.approx(600.0 - 0.3 * 700.0)


def test_without_a_counter_of_energy_the_power_tells() -> None:
    board = Board()
    board.energy = Missing.UNSUPPORTED
    board.idle()
    board.read(100.0, watts=100.0)

    assert joules(board.read(100.0, watts=350.0)) == 250.0


def test_without_power_there_is_no_energy_and_the_reason_is_told() -> None:
    board = Board()

    assert board.read(50.0, watts=Missing.UNSUPPORTED) == [(0.0, None)]
    assert board.meter.joules is Missing.UNSUPPORTED


def test_of_a_process_whose_use_is_not_told_nothing_is_invented() -> None:
    assert Board().read(None) == [(None, None)]


def test_a_value_that_fails_once_does_not_lose_the_sum() -> None:
    board = Board()
    board.read(100.0)
    board.read(100.0)

    assert seconds(board.read(None)) == 1.0
    assert seconds(board.read(100.0)) == 2.0


def test_a_gap_counts_nothing() -> None:
    board = Board()
    board.read(100.0)

    assert seconds(board.read(100.0, seconds=3600.0)) == 0.0
    assert seconds(board.read(100.0)) == 1.0


def test_a_driver_that_was_loaded_again_gives_no_negative_energy() -> None:
    board = Board()
    board.read(100.0)
    board.energy = 0.0

    held = joules(board.read(100.0))

    assert held is not None
    assert held >= 0.0


def test_a_process_that_goes_is_forgotten() -> None:
    board = Board()
    board.read(100.0)
    board.read(100.0)
    board.read()

    assert seconds(board.read(0.0)) == 0.0


def test_a_pid_that_came_to_another_process_inherits_nothing() -> None:
    board = Board()
    board.read(100.0)
    board.read(100.0)
    board.meter.forget({1})

    assert seconds(board.read(0.0)) == 0.0
