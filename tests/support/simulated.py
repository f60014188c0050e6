"""A simulated box on a clock that a test moves."""

from typing import Any

from gputop.simulator import Box, simulate

WALL_S = 1_800_000_000.0


class Time:
    """A clock; sleeping moves it and is noted."""

    def __init__(self) -> None:
        self.now = 5000.0
        self.slept: list[float] = []

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds


def box(name: str, time: Time | None = None) -> Box:
    """Return a box whose driver is started."""
    time = time or Time()
    made = simulate(name, lambda: time.now, lambda: WALL_S, time.sleep)
    made.driver.nvmlInit()
    return made


def handles(driver: Any) -> list[Any]:
    """Return the handles of all GPUs."""
    return [driver.nvmlDeviceGetHandleByIndex(n) for n in range(driver.nvmlDeviceGetCount())]


def code(driver: Any, name: str, *args: Any) -> int:
    """Return the code of a call's error, 0 if it had none."""
    try:
        getattr(driver, name)(*args)
    except driver.NVMLError as error:
        return int(error.value)
    return 0
