"""From what somebody asked for to the tests and seconds of one worker."""

from collections.abc import Mapping, Sequence
from typing import Final

from msgspec import Struct

from gputop.core.probing.probe import PROTOCOL, Level, Probe, ProbeTest
from gputop.core.text.suggest import nearest

START_S: Final = 6.0  # what it takes to start Python, torch and a context
_LEAST_S: Final = 0.2
_SELECTED_S: Final = 5.0  # for a test that is named, and is of no part of the level


class PlannedTest(Struct, frozen=True):
    """A test and how long it may take. ``named``: somebody asked for this very test."""

    id: str
    seconds: float
    named: bool = False


class WorkerPlan(Struct, frozen=True, kw_only=True):
    """What a worker is told, as one line of JSON. ``memory``: share of what is free; ``budget``: bytes at the most.

    ``count``: the devices that it sees, and ``numbers`` their indices, where it sees several; ``cpus``: those next to
    its device, none where that is not known.
    """

    v: int = PROTOCOL
    device: str
    uuid: str
    index: int
    tests: tuple[PlannedTest, ...]
    memory: float = 0.9
    budget: int | None = None
    threads: int | None = None
    seed: int = 1
    count: int = 1
    numbers: tuple[int, ...] = ()
    cpus: tuple[int, ...] = ()


def chosen(probe: Probe, level: Level, wishes: Sequence[str]) -> tuple[ProbeTest, ...]:
    """Return the tests of a level, or those that are named. Raises ValueError for a name that there is none of."""
    if not wishes:
        return tuple(test for test in probe.tests if level in test.seconds)
    for wish in wishes:
        if not any(_is_named(test.key, wish) for test in probe.tests):
            known = sorted({test.key for test in probe.tests} | {test.key.partition(".")[0] for test in probe.tests})
            near = nearest(wish, known)
            raise ValueError(
                f"no such test: {wish}.{f' Did you mean {near}?' if near else ''} There are: {', '.join(known)}"
            )
    return tuple(test for test in probe.tests if any(_is_named(test.key, wish) for wish in wishes))


def timed(tests: Sequence[ProbeTest], level: Level, time_s: float | None, rounds: int = 1) -> dict[str, float]:
    """Return seconds by test. Where a time is given they are made to fit, and what is left over is for the soak.

    ``rounds``: how many devices are tested one after another, each with all tests but those over all devices.
    """
    usual = {test.key: _usual(test, level) for test in tests}
    if time_s is None or not usual:
        return usual
    times = {test.key: 1 if test.sees_all or test.is_joint else rounds for test in tests}
    room = max(time_s - START_S * starts(tests, rounds), _LEAST_S * sum(times.values()))
    stretching = [test.key for test in tests if test.stretches]
    fixed = sum(seconds * times[key] for key, seconds in usual.items() if key not in stretching)
    if stretching and fixed < room * 0.5:
        return usual | dict.fromkeys(stretching, (room - fixed) / sum(times[key] for key in stretching))
    factor = room / sum(seconds * times[key] for key, seconds in usual.items())
    return {key: max(_LEAST_S, seconds * factor) for key, seconds in usual.items()}


def starts(tests: Sequence[ProbeTest], rounds: int = 1) -> int:
    """Return how often workers are started, one after another: for each device, for all of them, as ranks."""
    return rounds + any(test.sees_all for test in tests) + any(test.is_joint for test in tests)


def total_s(seconds: Mapping[str, float]) -> float:
    """Return how long a worker will take, about."""
    return START_S + sum(seconds.values())


def limit_s(seconds: float) -> float:
    """Return when a test of so many seconds has taken too long."""
    return 3 * seconds + 30


def _usual(test: ProbeTest, level: Level) -> float:
    if level in test.seconds:
        return test.seconds[level]
    return min([*test.seconds.values(), _SELECTED_S])


def _is_named(key: str, wish: str) -> bool:
    return key == wish or key.startswith(f"{wish}.")
