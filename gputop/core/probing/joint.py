"""Judgement of tests over all devices: pairs and ranks are compared with each other, all-reduce with a table."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from gputop.core.probing.judge import CPU_SHARE, graded, of_past, with_expectation
from gputop.core.probing.probe import Measure, Probe
from gputop.core.probing.reference import MEASURED, Entry, expected
from gputop.core.probing.result import Figure, TestFinding, TestResult, TestStatus, with_findings
from gputop.core.probing.siblings import group, middle, ratio_of

_TABLE_RANKS: Final = 8  # the table is of boxes with so many
_EXPECTED: Final = 0.85
_MOST_SLOW: Final = 8  # listed one by one


class Group(Struct, frozen=True, kw_only=True):
    """The devices of a joint test. ``least_busbw``: the required all-reduce bus bandwidth, bytes per second.

    ``uuid``: of the whole group; ``past``: their earlier figures, by ``test.figure``.
    """

    kind: str
    name: str
    uuid: str = ""
    entries: tuple[Entry, ...] = ()
    least_busbw: float | None = None
    is_busy: bool = False
    past: Mapping[str, float] = {}


def judge_together(tests: Sequence[TestResult], probe: Probe, devices: Group) -> tuple[TestResult, ...]:
    """Return the tests with ratios, and with findings about slow figures."""
    measures = {test.key: {m.name: m for m in test.measures} for test in probe.tests}
    return tuple(_Together(test, measures.get(test.key, {}), devices).judged() for test in tests)


class _Together:
    """The judgement of one test."""

    def __init__(self, test: TestResult, measures: Mapping[str, Measure], devices: Group) -> None:
        self._test = test
        self._measures = measures
        self._devices = devices

    def judged(self) -> TestResult:
        figures = tuple(
            self._with_past(self._with_expected(self._with_siblings(figure))) for figure in self._test.figures
        )
        found = [*self._stragglers(figures), *self._bandwidth(figures), *self._regressions(figures)]
        if self._devices.is_busy:
            found = [
                replace(f, status=TestStatus.INCONCLUSIVE, text=f"{f.text}; other processes use a GPU") for f in found
            ]
        return with_findings(replace(self._test, figures=figures), found)

    @property
    def _is_cpu(self) -> bool:
        return self._devices.kind == "cpu"

    def _with_siblings(self, figure: Figure) -> Figure:
        measure = self._measures.get(group(figure))
        values = [other.value for other in self._test.figures if group(other) == group(figure)]
        if measure is None or measure.siblings is None or len(values) < 2:
            return figure
        return replace(figure, sibling_ratio=ratio_of(measure, figure.value, middle(measure, values)))

    def _with_expected(self, figure: Figure) -> Figure:
        measure = self._measures.get(group(figure))
        is_largest = figure.name == self._largest(group(figure))
        if measure is None or not measure.expected or not is_largest or self._is_cpu:
            return figure
        reference = expected(self._devices.entries, self._devices.name, measure.expected)
        if reference is None or self._test.params.get("ranks") != _TABLE_RANKS:
            return figure
        return with_expectation(figure, reference)

    def _with_past(self, figure: Figure) -> Figure:
        measure, past = self._measures.get(group(figure)), self._devices.past.get(f"{self._test.key}.{figure.name}")
        if measure is None or not past:
            return figure
        return replace(figure, baseline_ratio=ratio_of(measure, figure.value, past))

    def _largest(self, name: str) -> str | None:
        """Return the last figure of a group, which has the largest buffer."""
        return next((figure.name for figure in reversed(self._test.figures) if group(figure) == name), None)

    def _regressions(self, figures: Sequence[Figure]) -> Iterator[TestFinding]:
        """Yield a finding for each figure that is below these devices' own baseline."""
        known = [(figure, self._measures[group(figure)]) for figure in figures if figure.baseline_ratio is not None]
        rows = [(one, one.baseline_ratio, of_past(measure, is_cpu=self._is_cpu)) for one, measure in known]
        return _slow("baseline", "its own baseline", rows)

    def _stragglers(self, figures: Sequence[Figure]) -> Iterator[TestFinding]:
        rows = []
        for figure in figures:
            measure = self._measures.get(group(figure))
            if measure is not None and measure.siblings is not None:
                warn, fail = measure.siblings
                rows.append((figure, figure.sibling_ratio, (min(warn, CPU_SHARE) if self._is_cpu else warn, fail)))
        return _slow("straggler", "the others", rows)

    def _bandwidth(self, figures: Sequence[Figure]) -> Iterator[TestFinding]:
        for figure in figures:
            if figure.ratio is not None and figure.ratio < _EXPECTED:
                status = TestStatus.FAIL if figure.confidence == MEASURED else TestStatus.WARN
                yield TestFinding(
                    "expected.busbw", status,
                    f"{figure.name}: {figure.ratio:.0%} of the expected value ({figure.source})",
                )  # fmt: skip
        least, largest = self._devices.least_busbw, self._largest("busbw")
        value = next((figure.value for figure in figures if figure.name == largest), None)
        if least is not None and value is not None and self._test.key.endswith(".allreduce") and value < least:
            yield TestFinding(
                "limit.busbw", TestStatus.FAIL, f"{largest}: less than the required {least / 1e9:g} GB/s",
                {"value": value, "unit": "B/s"},
            )  # fmt: skip


def _slow(
    code: str, reference: str, rows: Iterable[tuple[Figure, float | None, tuple[float, float]]]
) -> Iterator[TestFinding]:
    """Yield a finding for each figure whose ratio to its reference is below the bounds."""
    known = [(figure, ratio, graded(ratio, *bounds)) for figure, ratio, bounds in rows if ratio is not None]
    slow = [(figure, ratio, status) for figure, ratio, status in known if status is not None]
    common = _in_common([figure.name for figure, _, _ in slow])
    for figure, ratio, status in slow[:_MOST_SLOW]:
        text = f"{figure.name}: {ratio:.0%} of {reference}{common}"
        yield TestFinding(f"{code}.{group(figure)}", status, text, {"value": figure.value, "unit": figure.unit})


def _in_common(names: Sequence[str]) -> str:
    """Return a note if all slow pairs have one device in common, which then is the slow one."""
    if len(names) < 2:
        return ""
    common = set.intersection(*(set(name.partition(".")[2].split("-")) for name in names))
    return f"; {next(iter(common))} is in all slow pairs" if len(common) == 1 else ""
