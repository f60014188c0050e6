"""A probe as JUnit XML, for what shows tests: a suite a device, a case a test. Only fail and error are failures."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from gputop.core.probing.result import Finding, ProbeReport, Status, TestResult
from gputop.core.probing.wording import figure_text
from gputop.core.text.text import clean

_NOT_MADE: Final = frozenset({Status.SKIP, Status.INCONCLUSIVE, Status.ABORTED, Status.REFUSED})
_SIGNS: Final = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;"})


def junit(report: ProbeReport, *, is_strict: bool = False) -> str:
    """Return the document. ``is_strict``: a warning is a failure."""
    suites = [
        *((f"{d.label} {d.name} {d.uuid}", d.tests or (TestResult(key="device", status=d.status, reason=d.reason),))
          for d in report.devices),
        *((("all together", report.joint),) if report.joint else ()),
    ]  # fmt: skip
    lines = ['<?xml version="1.0" encoding="UTF-8"?>', f'<testsuites name="gputop probe {_text(report.level)}">']
    for name, tests in suites:
        lines += _suite(name, tests, is_strict=is_strict)
    return "\n".join([*lines, "</testsuites>", ""])


def _suite(name: str, tests: Sequence[TestResult], *, is_strict: bool) -> Iterator[str]:
    counts = {
        "tests": len(tests),
        "failures": sum(_is_failure(test.status, is_strict=is_strict) for test in tests),
        "errors": sum(test.status is Status.ERROR for test in tests),
        "skipped": sum(test.status in _NOT_MADE for test in tests),
    }
    yield f"  <testsuite {_attributes({'name': name} | {key: str(value) for key, value in counts.items()})}>"
    for test in tests:
        yield from _case(name, test, is_strict=is_strict)
    yield "  </testsuite>"


def _case(suite: str, test: TestResult, *, is_strict: bool) -> Iterator[str]:
    head = {"classname": suite, "name": test.key, "time": f"{test.duration_s:.3f}"}
    yield f"    <testcase {_attributes(head)}>"
    if test.figures:
        yield "      <properties>"
        for figure in test.figures:
            told = {"name": figure.name, "value": f"{figure.value:.6g} {figure.unit}"}
            yield f"        <property {_attributes(told)}/>"
        yield "      </properties>"
    code = test.findings[0].code if test.findings else test.status.value
    if _is_failure(test.status, is_strict=is_strict):
        yield f"      <failure {_attributes({'type': code, 'message': test.reason or code})}>{_told(test)}</failure>"
    elif test.status is Status.ERROR:
        yield f"      <error {_attributes({'type': code, 'message': test.reason or code})}>{_told(test)}</error>"
    elif test.status in _NOT_MADE:
        yield f"      <skipped {_attributes({'message': f'{test.status.value}: {test.reason or code}'})}/>"
    if test.status is Status.WARN and not is_strict:
        yield f"      <system-out>{_told(test)}</system-out>"
    yield "    </testcase>"


def _is_failure(status: Status, *, is_strict: bool) -> bool:
    return status is Status.FAIL or (is_strict and status is Status.WARN)


def _told(test: TestResult) -> str:
    """Return findings and figures, a line each."""
    return "\n".join([*map(_finding, test.findings), *(_text(figure_text(figure)) for figure in test.figures)])


def _finding(finding: Finding) -> str:
    return _text(" ".join([finding.code, finding.text, *(f"{key}={value}" for key, value in finding.data.items())]))


def _attributes(values: Mapping[str, str]) -> str:
    return " ".join(f'{key}="{_text(value)}"' for key, value in values.items())


def _text(text: str) -> str:
    return clean(text).translate(_SIGNS)
