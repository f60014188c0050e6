"""The results of a probe: per device, per test, per figure. The shape of the JSON that `gputop probe --json` writes."""

from collections.abc import Iterable, Sequence
from enum import Enum
from typing import Final, TypeAlias

from msgspec import Struct

SCHEMA: Final = "gputop.probe/1"

Scalar: TypeAlias = bool | int | float | str | None
Data: TypeAlias = dict[str, Scalar | list[Scalar] | dict[str, Scalar]]


class Status(str, Enum):
    """How a test or a device came out. They are different things: nothing that was not tested is a pass."""

    FAIL = "fail"
    ERROR = "error"
    WARN = "warn"
    INCONCLUSIVE = "inconclusive"
    ABORTED = "aborted"
    REFUSED = "refused"
    SKIP = "skip"
    PASS = "pass"  # noqa: S105 - no secret

    @property
    def rank(self) -> int:
        """Return the place in the order of gravity, the gravest first."""
        return _ORDER.index(self)


_ORDER: Final = tuple(Status)
_EXIT: Final = {
    Status.PASS: 0, Status.WARN: 1, Status.INCONCLUSIVE: 1, Status.FAIL: 2, Status.ERROR: 3, Status.REFUSED: 4,
    Status.SKIP: 5, Status.ABORTED: 130,
}  # fmt: skip


class Finding(Struct, frozen=True, kw_only=True):
    """What is wrong, with its numbers."""

    code: str
    status: Status
    text: str
    data: Data = {}


class Figure(Struct, frozen=True, kw_only=True):
    """A figure that was measured: the median of ``n``. Ratios are of speeds: above 1 is better, for times as well.

    ``expected`` with its ``source`` and ``confidence`` is from the reference table.
    """

    name: str
    value: float
    unit: str
    n: int = 1
    p5: float | None = None
    p95: float | None = None
    expected: float | None = None
    source: str = ""
    confidence: str = ""
    ratio: float | None = None
    sibling_ratio: float | None = None
    baseline_ratio: float | None = None


class TestResult(Struct, frozen=True, kw_only=True):
    """A test of one device. ``digests``: fingerprints of results, by what was computed."""

    __test__ = False  # it is no test of pytest's

    key: str
    status: Status
    reason: str = ""
    duration_s: float = 0.0
    figures: tuple[Figure, ...] = ()
    findings: tuple[Finding, ...] = ()
    params: Data = {}
    digests: dict[str, str] = {}


class DeviceResult(Struct, frozen=True, kw_only=True):
    """A device and its tests. ``kind``: of worker, cuda or cpu; ``last_words``: what its worker said on stderr.

    ``bus_id``, ``serial`` and ``vbios`` are what its maker asks for. ``samples``: what the driver said under the soak,
    by reading, at the seconds of ``time_s``.
    """

    label: str
    uuid: str
    name: str
    kind: str
    status: Status = Status.SKIP
    reason: str = ""
    torch: str = ""
    cuda: str = ""
    total_bytes: int = 0
    tests: tuple[TestResult, ...] = ()
    last_words: str = ""
    bus_id: str | None = None
    serial: str | None = None
    vbios: str | None = None
    samples: dict[str, list[Scalar]] = {}


class ProbeReport(Struct, frozen=True, kw_only=True):
    """All of it. ``joint``: tests that ran over all devices at once. ``seed``: of all random numbers."""

    schema: str = SCHEMA
    started_s: float
    duration_s: float
    host: str
    driver: str | None
    probe: str
    level: str
    seed: int = 1
    arguments: tuple[str, ...] = ()
    status: Status
    exit_status: int
    devices: tuple[DeviceResult, ...] = ()
    joint: tuple[TestResult, ...] = ()
    notes: tuple[str, ...] = ()


def telling(findings: Sequence[Finding], most: int) -> tuple[Finding, ...]:
    """Return so many findings at the most, in their order: one of each code, and then the first ones.

    What sums up a hundred wrong words comes after them, and must not be what is left out.
    """
    first: dict[str, int] = {}
    for at, finding in enumerate(findings):
        first.setdefault(finding.code, at)
    places = dict.fromkeys((*first.values(), *range(len(findings))))
    return tuple(findings[at] for at in sorted(list(places)[:most]))


def worst(statuses: Iterable[Status]) -> Status:
    """Return the gravest status; of none at all, that nothing was tested."""
    return min(statuses, key=lambda status: status.rank, default=Status.SKIP)


def device_status(tests: Iterable[TestResult], correctness: Iterable[str]) -> Status:
    """Return the status of a device: it passes only if a test of correctness ran to its end, whatever was skipped."""
    held = list(tests)
    grave = worst(test.status for test in held if test.status is not Status.SKIP)
    if grave is not Status.PASS:
        return grave
    wanted = set(correctness)
    return Status.PASS if any(t.key in wanted and t.status is Status.PASS for t in held) else Status.SKIP


def exit_status(report_statuses: Iterable[Status], *, has_skips: bool, is_strict: bool) -> int:
    """Return the exit status of the worst; ``is_strict``: warnings and what was skipped count as failures."""
    status = worst(report_statuses)
    soft = {Status.WARN, Status.INCONCLUSIVE, Status.SKIP}
    if is_strict and (status in soft or (status is Status.PASS and has_skips)):
        return _EXIT[Status.FAIL]
    return _EXIT[status]
