"""How often the driver is asked: calls stall the applications on the GPU, so they are counted."""

from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest
from simulated import Time, box

from gputop.core.model.catalogue import CATALOGUE
from gputop.machine.gpu.device import DeviceReader
from gputop.machine.nvml.driver import Driver

MINUTES = 5


class Counting:
    """A driver that counts its calls by name."""

    def __init__(self, functions: Any) -> None:
        self.NVMLError = functions.NVMLError
        self.calls: Counter[str] = Counter()
        self._functions = functions

    def __getattr__(self, name: str) -> Callable[..., Any]:
        self.calls[name] += 1
        return getattr(self._functions, name)  # type: ignore[no-any-return] # likewise


@pytest.fixture(scope="module")
def calls() -> Counter[str]:
    """Return the calls of five minutes at 1 Hz to one busy H100, the first reading apart."""
    time = Time()
    simulated = box("training", time)
    driver = Counting(simulated.driver)
    handle = simulated.driver.nvmlDeviceGetHandleByIndex(0)
    reader = DeviceReader(Driver(driver), handle, 0, ("GPU-x", "H100", ""))
    reader.read(time.now, 0.0)
    driver.calls.clear()
    for _ in range(60 * MINUTES):
        time.now += 1.0
        reader.read(time.now, 0.0)
    return driver.calls


def test_a_gpu_is_asked_at_most_14_times_a_second(calls: Counter[str]) -> None:
    assert sum(calls.values()) / (60 * MINUTES) <= 14


def test_each_list_of_processes_is_read_at_most_once_a_second(calls: Counter[str]) -> None:
    lists = {name: count for name, count in calls.items() if "RunningProcesses" in name}

    assert len(lists) == 3
    assert max(lists.values()) <= 60 * MINUTES


def test_field_values_come_in_one_batch_a_second(calls: Counter[str]) -> None:
    assert calls["nvmlDeviceGetFieldValues"] == 60 * MINUTES


def test_calls_that_block_or_change_something_are_never_made(calls: Counter[str]) -> None:
    assert calls["nvmlDeviceGetPcieThroughput"] == 0
    assert not [name for name in calls if "Set" in name or "Create" in name or "Destroy" in name]


def test_the_cadences_of_the_catalogue_are_few_so_that_calls_share_their_turns() -> None:
    assert len({metric.every_s for metric in CATALOGUE}) <= 7
