"""Judgement of figures against the reference table, against siblings, and against the device's own baseline.

Correctness and speed are two verdicts: a slow link makes no result wrong. A CPU that replaces a GPU shares its cores,
so its speed means little; only figures that are many times too slow count there.
"""

from collections.abc import Collection, Iterable, Mapping
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from gputop.core.probing.probe import Measure, Probe, Purpose
from gputop.core.probing.reference import MEASURED, Entry, Expected, expected, link
from gputop.core.probing.result import (
    Data,
    DeviceResult,
    Figure,
    TestFinding,
    TestResult,
    TestStatus,
    device_status,
    with_findings,
    worst,
)
from gputop.core.probing.siblings import Shares, explanation, group, kin, ratio_of, shares, votes, warm

_EXPECTED_WARN: Final = 0.90
_EXPECTED_FAIL: Final = 0.80
_LINK_FAIL: Final = 0.70
_LINK: Final = "pcie"
CPU_SHARE: Final = 0.1  # two workers on two shared cores were seen at 0.19 of each other
_CPU_MOST: Final = 80.0
_BASELINE: Final = (0.95, 0.90)
_COST: Final = (0.5, 0.0)
_STALE: Final = 1.10
_COVERED: Final = 0.80

Past = Mapping[str, Mapping[str, float]]
"""The devices' earlier figures: by uuid, then by ``test.figure``."""


class Known(Struct, frozen=True, kw_only=True):
    """The references of figures. ``links``: generation and lanes by uuid; ``busy``: uuids of GPUs in use by others."""

    entries: tuple[Entry, ...] = ()
    links: Mapping[str, tuple[int | None, int | None]] = {}
    past: Past = {}
    busy: Collection[str] = ()
    wants_coverage: bool = False


def judge(devices: Iterable[DeviceResult], probe: Probe, known: Known) -> tuple[DeviceResult, ...]:
    """Return the devices with ratios, with findings about slow or wrong figures, and with statuses."""
    raw = list(devices)
    held = [_uniform_apart(device, raw) for device in raw]
    held = [replace(device, tests=tuple(_aired(device, test, held) for test in device.tests)) for device in held]
    ballot, share = votes(held), shares(held, probe)
    correctness = [test.key for test in probe.tests if test.purpose is Purpose.CORRECTNESS]
    return tuple(_judged(_Judge(device, probe, known, ballot, share).device(), correctness) for device in held)


def _judged(device: DeviceResult, correctness: Iterable[str]) -> DeviceResult:
    status = device_status(device.tests, correctness)
    if device.reason and not device.tests:
        return device
    why = "no correctness test completed" if status is TestStatus.SKIP else device.reason
    return replace(device, status=status, reason=why)


class _Judge:
    """The judgement of one device."""

    def __init__(
        self, device: DeviceResult, probe: Probe, known: Known,
        votes: Mapping[tuple[str, str], str], shares: Shares,
    ) -> None:  # fmt: skip
        self._device = device
        self._measures = {test.key: {m.name: m for m in test.measures} for test in probe.tests}
        self._known = known
        self._votes = votes
        self._shares = shares

    def device(self) -> DeviceResult:
        """Return the device with its tests judged."""
        return replace(self._device, tests=tuple(map(self._test, self._device.tests)))

    def _test(self, test: TestResult) -> TestResult:
        """Return a test with its figures judged."""
        found: list[TestFinding] = []
        figures = tuple(self._figure(test.key, figure, found) for figure in test.figures)
        found += self._vote(test)
        found += self._coverage(test)
        if not found and figures == test.figures:
            return test
        return with_findings(replace(test, figures=figures), found)

    def _figure(self, key: str, figure: Figure, found: list[TestFinding]) -> Figure:
        measure = self._measures.get(key, {}).get(group(figure))
        if measure is None:
            return figure
        wanted = self._expected(measure)
        figure = with_expectation(figure, wanted) if wanted else figure
        sibling = self._shares.get((self._device.uuid, key, figure.name))
        past = self._known.past.get(self._device.uuid, {}).get(f"{key}.{figure.name}")
        figure = replace(
            figure, sibling_ratio=sibling, baseline_ratio=ratio_of(measure, figure.value, past) if past else None
        )
        found += filter(None, (
            self._by_most(measure, figure), self._by_expected(measure, figure),
            self._by_siblings(measure, figure), self._by_past(measure, figure),
        ))  # fmt: skip
        return figure

    def _expected(self, measure: Measure) -> Expected | None:
        device = self._device
        if not measure.expected or self._is_cpu or device.uuid.startswith("MIG-"):
            return None
        if measure.expected == _LINK:
            return link(*self._known.links.get(device.uuid, (None, None)))
        return expected(self._known.entries, device.name, measure.expected)

    @property
    def _is_lowered(self) -> bool:
        """Say whether the power limit is lowered; the GPU cannot reach the table's speed then."""
        codes = (finding.code for test in self._device.tests for finding in test.findings)
        return "soak.power_limit_lowered" in codes

    @property
    def _is_cpu(self) -> bool:
        return self._device.kind == "cpu"

    def _by_most(self, measure: Measure, figure: Figure) -> TestFinding | None:
        if measure.most is None:
            return None
        warn, fail = measure.most
        if self._is_cpu and figure.unit == "%":
            warn, fail = _CPU_MOST, _CPU_MOST
        status = TestStatus.FAIL if figure.value > fail else TestStatus.WARN if figure.value > warn else None
        return self._finding(
            status, "limit", figure, f"{figure.value:.3g} {figure.unit} is more than {warn:g} {figure.unit}"
        )

    def _by_expected(self, measure: Measure, figure: Figure) -> TestFinding | None:
        if figure.ratio is None:
            return None
        warn, fail = (_LINK_FAIL, _LINK_FAIL) if measure.expected == _LINK else (_EXPECTED_WARN, _EXPECTED_FAIL)
        status = graded(figure.ratio, warn, fail)
        if status is TestStatus.FAIL and (figure.confidence != MEASURED or self._is_lowered):
            status = TestStatus.WARN
        return self._finding(
            status,
            "expected",
            figure,
            f"{figure.ratio:.0%} of the expected value ({figure.source or 'reference table'})",
        )

    def _by_siblings(self, measure: Measure, figure: Figure) -> TestFinding | None:
        if figure.sibling_ratio is None or measure.siblings is None:
            return None
        warn, fail = measure.siblings
        if self._is_cpu:
            warn, fail = min(warn, CPU_SHARE), min(fail, CPU_SHARE)
        status = graded(figure.sibling_ratio, warn, fail)
        why = explanation(self._device, self._shares) if figure.name != "clock" else ""
        return self._finding(status, "straggler", figure, f"{figure.sibling_ratio:.0%} of its siblings{why}")

    def _by_past(self, measure: Measure, figure: Figure) -> TestFinding | None:
        if figure.baseline_ratio is None or measure.siblings is None:
            return None
        status = graded(figure.baseline_ratio, *of_past(measure, is_cpu=self._is_cpu))
        return self._finding(status, "baseline", figure, f"{figure.baseline_ratio:.0%} of its own baseline")

    def _finding(self, status: TestStatus | None, kind: str, figure: Figure, text: str) -> TestFinding | None:
        if status is None:
            return None
        if self._device.uuid in self._known.busy:
            status, text = TestStatus.INCONCLUSIVE, f"{text}; other processes use this GPU"
        data: Data = {"value": figure.value, "unit": figure.unit}
        return TestFinding(f"{kind}.{figure.name}", status, f"{figure.name}: {text}", data)

    def _vote(self, test: TestResult) -> Iterable[TestFinding]:
        for key, value in test.digests.items():
            right = self._votes.get((kin(self._device), key))
            if right is None or right == value:
                continue
            if right:
                text = f"{key}: the result differs in bits from its siblings"
                yield TestFinding("vote.minority", TestStatus.FAIL, text, {"digest": value, "majority": right})
            else:
                text = f"{key}: GPUs of one model disagree without a majority: at least one of them is wrong"
                yield TestFinding("vote.suspect", TestStatus.INCONCLUSIVE, text, {"digest": value})

    def _coverage(self, test: TestResult) -> Iterable[TestFinding]:
        covered = test.params.get("bytes")
        if not test.key.startswith("memory.") or not self._known.wants_coverage or not isinstance(covered, int):
            return
        share = covered / self._device.total_bytes if self._device.total_bytes else 1.0
        if share < _COVERED:
            data: Data = {"bytes": covered, "total": self._device.total_bytes}
            yield TestFinding("memory.partial", TestStatus.WARN, f"only {share:.0%} of the memory was tested", data)


def _aired(device: DeviceResult, test: TestResult, devices: list[DeviceResult]) -> TestResult:
    """Return the soak test with a finding if the device is much warmer than its siblings."""
    found = tuple(warm(device, devices)) if test.key == "soak" and device.kind != "cpu" else ()
    return with_findings(test, found) if found else test


def _uniform_apart(device: DeviceResult, devices: list[DeviceResult]) -> DeviceResult:
    """Make a product that is wrong in the same way on all GPUs inconclusive: the test is wrong, not the device."""

    def is_everywhere(key: str) -> bool:
        tests = [test for other in devices for test in other.tests if test.key == key]
        return all(any(f.code == "gemm.uniform" for f in test.findings) for test in tests)

    def apart(test: TestResult) -> TestResult:
        if not any(f.code == "gemm.uniform" for f in test.findings) or not is_everywhere(test.key):
            return test
        findings = tuple(
            replace(f, status=TestStatus.INCONCLUSIVE) if f.code == "gemm.uniform" else f for f in test.findings
        )
        return replace(test, findings=findings, status=worst(f.status for f in findings))

    return replace(device, tests=tuple(map(apart, device.tests)))


def with_expectation(figure: Figure, wanted: Expected) -> Figure:
    """Return a figure with its expected value and ratio."""
    return replace(
        figure, expected=wanted.value, source=wanted.source, confidence=wanted.confidence,
        ratio=figure.value / wanted.value,
    )  # fmt: skip


def of_past(measure: Measure, *, is_cpu: bool) -> tuple[float, float]:
    """Return the shares of its own baseline below which a figure warns and fails.

    Times of launches and the like vary by themselves: they warn at the siblings' threshold, and never fail.
    """
    warn, fail = (measure.siblings or _COST) if measure.is_cost else _BASELINE
    return (min(warn, CPU_SHARE), min(fail, CPU_SHARE)) if is_cpu else (warn, fail)


def graded(ratio: float, warn: float, fail: float) -> TestStatus | None:
    """Return the status of a share, or None if it is high enough."""
    if ratio < fail:
        return TestStatus.FAIL
    return TestStatus.WARN if ratio < warn else None
