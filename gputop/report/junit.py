"""A probe as JUnit XML: a suite per device, a case per test. Only fail and error are failures."""

from collections.abc import Sequence
from typing import Final
from xml.etree import ElementTree as ET

from gputop.core.probing.result import ProbeReport, TestFinding, TestResult, TestStatus
from gputop.core.probing.wording import figure_text
from gputop.core.text.text import clean

_NOT_TESTED: Final = frozenset({TestStatus.SKIP, TestStatus.INCONCLUSIVE, TestStatus.ABORTED, TestStatus.REFUSED})


def junit(report: ProbeReport, *, is_strict: bool = False) -> bytes:
    """Return the document. ``is_strict``: a warning is a failure."""
    root = ET.Element("testsuites", name=clean(f"gputop probe {report.level}"))
    for device in report.devices:
        tests = device.tests or (TestResult(key="device", status=device.status, reason=device.reason),)
        _add_suite(root, clean(f"{device.label} {device.name} {device.uuid}"), tests, is_strict=is_strict)
    if report.joint:
        _add_suite(root, "all together", report.joint, is_strict=is_strict)
    ET.indent(root)
    document: bytes = ET.tostring(root, encoding="UTF-8", xml_declaration=True)
    return document + b"\n"


def _add_suite(root: ET.Element, name: str, tests: Sequence[TestResult], *, is_strict: bool) -> None:
    counts = {
        "tests": len(tests),
        "failures": sum(_is_failure(test.status, is_strict=is_strict) for test in tests),
        "errors": sum(test.status is TestStatus.ERROR for test in tests),
        "skipped": sum(test.status in _NOT_TESTED for test in tests),
    }
    suite = ET.SubElement(root, "testsuite", {"name": name} | {key: str(count) for key, count in counts.items()})
    for test in tests:
        _add_case(suite, name, test, is_strict=is_strict)


def _add_case(suite: ET.Element, name: str, test: TestResult, *, is_strict: bool) -> None:
    case = ET.SubElement(suite, "testcase", classname=name, name=clean(test.key), time=f"{test.duration_s:.3f}")
    if test.figures:
        properties = ET.SubElement(case, "properties")
        for figure in test.figures:
            value = clean(f"{figure.value:.6g} {figure.unit}")
            ET.SubElement(properties, "property", name=clean(figure.name), value=value)
    code = clean(test.findings[0].code if test.findings else test.status.value)
    reason = clean(test.reason) or code
    is_failure = _is_failure(test.status, is_strict=is_strict)
    if is_failure or test.status is TestStatus.ERROR:
        ET.SubElement(case, "failure" if is_failure else "error", type=code, message=reason).text = _lines(test)
    elif test.status in _NOT_TESTED:
        ET.SubElement(case, "skipped", message=f"{test.status.value}: {reason}")
    elif test.status is TestStatus.WARN:
        ET.SubElement(case, "system-out").text = _lines(test)


def _is_failure(status: TestStatus, *, is_strict: bool) -> bool:
    return status is TestStatus.FAIL or (is_strict and status is TestStatus.WARN)


def _lines(test: TestResult) -> str:
    """Return a line for each finding and figure."""
    return "\n".join([*map(_finding, test.findings), *(clean(figure_text(figure)) for figure in test.figures)])


def _finding(finding: TestFinding) -> str:
    return clean(" ".join([finding.code, finding.text, *(f"{key}={value}" for key, value in finding.data.items())]))
