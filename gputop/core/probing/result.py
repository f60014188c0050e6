"""The results of a probe per device, test and figure; also the shape of `gputop probe --json`."""

from collections.abc import Iterable, Sequence
from enum import Enum
from typing import Final, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

SCHEMA: Final = "gputop.probe/1"

Scalar: TypeAlias = bool | int | float | str | None
Data: TypeAlias = dict[str, Scalar | list[Scalar] | dict[str, Scalar]]


class TestStatus(str, Enum):
    """The result of a test or a device. An untested device never passes."""

    __test__ = False  # not a pytest test

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
        """Return the position in the order of severity; 0 is the most serious."""
        return _ORDER.index(self)


_ORDER: Final = tuple(TestStatus)
_EXIT: Final = {
    TestStatus.PASS: 0, TestStatus.WARN: 1, TestStatus.INCONCLUSIVE: 1, TestStatus.FAIL: 2,
    TestStatus.ERROR: 3, TestStatus.REFUSED: 4, TestStatus.SKIP: 5, TestStatus.ABORTED: 130,
}  # fmt: skip


class TestFinding(Struct, frozen=True):
    """A problem that a test found, with its numbers."""

    __test__ = False  # likewise

    code: str
    status: TestStatus
    text: str
    data: Data = {}


class Figure(Struct, frozen=True, kw_only=True):
    """A measured figure: the median of ``n``. Ratios are of speeds: above 1 is better, also for times.

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
    """The result of a test on one device. ``digests``: fingerprints of results, by computation."""

    __test__ = False  # it is no test of pytest's

    key: str
    status: TestStatus
    reason: str = ""
    duration_s: float = 0.0
    figures: tuple[Figure, ...] = ()
    findings: tuple[TestFinding, ...] = ()
    params: Data = {}
    digests: dict[str, str] = {}


class DeviceResult(Struct, frozen=True, kw_only=True):
    """A device and its tests. ``kind``: of worker, cuda or cpu; ``last_words``: the worker's standard error.

    ``bus_id``, ``serial`` and ``vbios``: for a return to the vendor. ``samples``: the driver's readings during the
    soak, by name, at the seconds of ``time_s``.
    """

    label: str
    uuid: str
    name: str
    kind: str
    status: TestStatus = TestStatus.SKIP
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
    """The report of a run. ``joint``: tests over all devices at once. ``seed``: of all random numbers."""

    schema: str = SCHEMA
    started_s: float
    duration_s: float
    host: str
    driver: str | None
    probe: str
    level: str
    seed: int = 1
    arguments: tuple[str, ...] = ()
    status: TestStatus
    exit_status: int
    devices: tuple[DeviceResult, ...] = ()
    joint: tuple[TestResult, ...] = ()
    notes: tuple[str, ...] = ()


def telling(findings: Sequence[TestFinding], most: int) -> tuple[TestFinding, ...]:
    """Return at most ``most`` findings, in their order: one of each code, then the first ones.

    A summary follows the hundred wrong words that it sums up, and must not be left out.
    """
    first: dict[str, int] = {}
    for at, finding in enumerate(findings):
        first.setdefault(finding.code, at)
    places = dict.fromkeys((*first.values(), *range(len(findings))))
    return tuple(findings[at] for at in sorted(list(places)[:most]))


def with_findings(test: TestResult, findings: Iterable[TestFinding]) -> TestResult:
    """Return a test with more findings, and with the status that follows from them."""
    found = tuple(findings)
    status = worst((test.status, *(finding.status for finding in found)))
    return replace(test, findings=(*test.findings, *found), status=status)


def worst(statuses: Iterable[TestStatus]) -> TestStatus:
    """Return the most serious status; SKIP if there is none."""
    return min(statuses, key=lambda status: status.rank, default=TestStatus.SKIP)


def device_status(tests: Iterable[TestResult], correctness: Iterable[str]) -> TestStatus:
    """Return the status of a device; it passes only if a correctness test completed."""
    held = list(tests)
    grave = worst(test.status for test in held if test.status is not TestStatus.SKIP)
    if grave is not TestStatus.PASS:
        return grave
    wanted = set(correctness)
    return TestStatus.PASS if any(t.key in wanted and t.status is TestStatus.PASS for t in held) else TestStatus.SKIP


def exit_status(report_statuses: Iterable[TestStatus], *, has_skips: bool, is_strict: bool) -> int:
    """Return the exit status of the worst result; ``is_strict``: warnings and skipped tests count as failures."""
    status = worst(report_statuses)
    soft = {TestStatus.WARN, TestStatus.INCONCLUSIVE, TestStatus.SKIP}
    if is_strict and (status in soft or (status is TestStatus.PASS and has_skips)):
        return _EXIT[TestStatus.FAIL]
    return _EXIT[status]
