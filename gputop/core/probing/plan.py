"""The plan of a worker: its tests and their durations."""

from collections.abc import Sequence
from typing import Final

from msgspec import Struct

from gputop.core.probing.probe import PROTOCOL, Level, Probe, ProbeTest
from gputop.core.text.suggest import nearest
from gputop.core.text.text import excerpt

START_S: Final = 6.0  # what it takes to start Python, torch and a context
_LEAST_S: Final = 0.2
_SELECTED_S: Final = 5.0  # for a test that is named, and is of no part of the level


class PlannedTest(Struct, frozen=True):
    """A test and its duration. ``named``: the user selected this test explicitly."""

    id: str
    seconds: float
    named: bool = False


class WorkerPlan(Struct, frozen=True, kw_only=True):
    """The input of a worker, as one line of JSON. ``memory``: share of free memory; ``budget``: limit in bytes.

    ``count``: number of visible devices; ``numbers``: their indices, if several; ``cpus``: the CPUs next to its
    device, empty if unknown.
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


def chosen(probe: Probe, level: Level, names: Sequence[str]) -> tuple[ProbeTest, ...]:
    """Return the tests of a level, or the selected ones. Raises ValueError for an unknown name."""
    if not names:
        return tuple(test for test in probe.tests if level in test.seconds)
    for name in names:
        if not any(_is_named(test.key, name) for test in probe.tests):
            known = sorted({test.key for test in probe.tests} | {test.key.partition(".")[0] for test in probe.tests})
            near = nearest(name, known)
            raise ValueError(
                f"no such test: {excerpt(name)}.{f' Did you mean {near}?' if near else ''} Tests: {', '.join(known)}"
            )
    return tuple(test for test in probe.tests if any(_is_named(test.key, name) for name in names))


def timed(tests: Sequence[ProbeTest], level: Level, time_s: float | None, rounds: int = 1) -> dict[str, float]:
    """Return seconds by test. With a ``time_s`` they are scaled to fit, and the soak gets the rest.

    ``rounds``: number of devices tested one after another, each with all tests but those over all devices.
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
    """Return how often workers start one after another: once per device, for all devices, and as ranks."""
    return rounds + any(test.sees_all for test in tests) + any(test.is_joint for test in tests)


def limit_s(seconds: float) -> float:
    """Return the time limit of a test that is planned for so many seconds."""
    return 3 * seconds + 30


def _usual(test: ProbeTest, level: Level) -> float:
    if level in test.seconds:
        return test.seconds[level]
    return min([*test.seconds.values(), _SELECTED_S])


def _is_named(key: str, name: str) -> bool:
    return key == name or key.startswith(f"{name}.")
