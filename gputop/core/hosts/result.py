"""What `gputop doctor` or `gputop probe` said on each of many hosts. All of it is foreign text."""

from collections.abc import Iterator, Sequence
from typing import Final

from msgspec import DecodeError, Struct
from msgspec.json import Decoder, decode

from gputop.core.text.text import excerpt

_WORST_FIRST: Final = (2, 3, 130, 1, 4, 5, 0)  # 130: a user stopped it there
_NO_RESULT: Final = 3
_MOST_PROBLEMS: Final = 20
_BAD: Final = frozenset({"fail", "error", "warn", "inconclusive", "aborted", "refused"})


class HostResult(Struct, frozen=True, kw_only=True):
    """The result of a host. ``status``: the exit status there; None if there is no result.

    ``problems``: what is wrong, or why there is no result. ``report``: the whole report, as JSON.
    """

    host: str
    status: int | None
    problems: tuple[str, ...] = ()
    report: object = None


class HostResults(Struct, frozen=True, kw_only=True):
    """The results of all hosts. ``status``: the worst one."""

    command: str
    status: int
    hosts: tuple[HostResult, ...]


class _Verdict(Struct, frozen=True):
    summary: str = ""


class _Check(Struct, frozen=True):
    code: str = ""
    severity: str = ""
    verdicts: list[_Verdict] = []


class _Finding(Struct, frozen=True):
    text: str = ""


class _Test(Struct, frozen=True):
    key: str = ""
    status: str = ""
    reason: str = ""
    findings: list[_Finding] = []


class _Device(Struct, frozen=True):
    label: str = ""
    status: str = ""
    reason: str = ""
    tests: list[_Test] = []


class _Report(Struct, frozen=True):
    """The parts of both reports that name problems."""

    checks: list[_Check] = []
    devices: list[_Device] = []
    joint: list[_Test] = []


_REPORT: Final = Decoder(_Report)


def results_of(command: str, hosts: Sequence[HostResult]) -> HostResults:
    """Return the results with their worst status. A status that no report has counts as no result."""
    found = {host.status if host.status in _WORST_FIRST else _NO_RESULT for host in hosts}
    worst = next((status for status in _WORST_FIRST if status in found), _NO_RESULT)
    return HostResults(command=command, status=worst, hosts=tuple(hosts))


def result_of(host: str, status: int | None, out: bytes, err: bytes) -> HostResult:
    """Return the result of a host from what the program there printed."""
    try:
        report = _REPORT.decode(out)
        whole = decode(out)
    except (DecodeError, UnicodeDecodeError, RecursionError):
        return without_result(host, _last_line(err) or f"it printed no report, and ended with status {status}")
    problems = [excerpt(text) for text in _problems(report)]
    return HostResult(host=host, status=status, problems=tuple(problems[:_MOST_PROBLEMS]), report=whole)


def without_result(host: str, why: str) -> HostResult:
    """Return the result of a host that gave none."""
    return HostResult(host=host, status=None, problems=(excerpt(why),))


def _problems(report: _Report) -> Iterator[str]:
    for severity in ("fail", "warn"):
        for check in report.checks:
            if check.severity == severity:
                yield f"{check.code}: {check.verdicts[0].summary if check.verdicts else severity}"
    for device in report.devices:
        bad = [test for test in device.tests if test.status in _BAD]
        yield from (f"{device.label}: {_test(test)}" for test in bad)
        if not bad and device.status in _BAD:
            yield f"{device.label}: {device.status} {device.reason}".rstrip()
    yield from (f"all devices: {_test(test)}" for test in report.joint if test.status in _BAD)


def _test(test: _Test) -> str:
    why = test.reason or (test.findings[0].text if test.findings else "")
    return f"{test.key} {test.status}" + (f": {why}" if why else "")


def _last_line(err: bytes) -> str:
    return err.decode(errors="replace").strip().rpartition("\n")[2]
