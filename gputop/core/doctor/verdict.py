"""Verdicts of the doctor: the answer of a check, with evidence and a fix."""

from collections.abc import Callable, Iterable, Sequence
from enum import Enum
from typing import TypeAlias

from msgspec import Struct

from gputop.core.doctor.facts import Facts


class Severity(str, Enum):
    """The result of a check, most serious first.

    FAIL: act now. UNKNOWN: gputop could not check, which is never ok. NOT_APPLICABLE: this host lacks the part.
    """

    FAIL = "fail"
    WARN = "warn"
    UNKNOWN = "unknown"
    INFO = "info"
    OK = "ok"
    NOT_APPLICABLE = "not_applicable"

    @property
    def rank(self) -> int:
        """Return the position in the order; 0 is the most serious."""
        return list(Severity).index(self)


class Verdict(Struct, frozen=True, kw_only=True):
    """One answer. ``summary``: a clause, subject first. ``evidence``: the readings. ``fix``: the steps.

    A line of ``fix`` is a sentence, or a command to type if it starts with ``$ ``. gputop never executes it.
    """

    severity: Severity
    summary: str
    evidence: tuple[str, ...] = ()
    fix: tuple[str, ...] = ()


Verdicts: TypeAlias = Verdict | Sequence[Verdict]


class Check(Struct, frozen=True, kw_only=True):
    """A row of the table. ``code`` is stable. ``meaning``, ``fix``: why it matters and what to do, for the docs."""

    code: str
    question: str
    meaning: str
    fix: str
    judge: Callable[[Facts], Verdicts]


class Checked(Struct, frozen=True, kw_only=True):
    """A check with its verdicts, most serious first; never empty."""

    code: str
    question: str
    severity: Severity
    verdicts: tuple[Verdict, ...]


class Diagnosis(Struct, frozen=True, kw_only=True):
    """All checks of a host, most serious first. ``status``: 0 healthy, 1 warnings, 2 act now, 3 nothing to check.

    ``time_s``: seconds since the epoch. ``counts``: checks by severity.
    """

    schema_version: int = 1
    time_s: float
    host: str
    is_root: bool
    driver_version: str | None
    cuda_version: str | None
    simulated: str | None
    gpus: int
    status: int
    counts: dict[Severity, int]
    checks: tuple[Checked, ...]


def fail(summary: str, *, evidence: Iterable[str] = (), fix: Iterable[str] = ()) -> Verdict:
    """Build a verdict that needs action now."""
    return Verdict(severity=Severity.FAIL, summary=summary, evidence=tuple(evidence), fix=tuple(fix))


def warn(summary: str, *, evidence: Iterable[str] = (), fix: Iterable[str] = ()) -> Verdict:
    """Build a verdict about a problem that can wait."""
    return Verdict(severity=Severity.WARN, summary=summary, evidence=tuple(evidence), fix=tuple(fix))


def info(summary: str, *, evidence: Iterable[str] = (), fix: Iterable[str] = ()) -> Verdict:
    """Build a verdict that is worth knowing and not a fault."""
    return Verdict(severity=Severity.INFO, summary=summary, evidence=tuple(evidence), fix=tuple(fix))


def ok(summary: str) -> Verdict:
    """Build a verdict without a problem."""
    return Verdict(severity=Severity.OK, summary=summary)


def unknown(why: str, *, fix: Iterable[str] = ()) -> Verdict:
    """Build a verdict that says why gputop could not check."""
    return Verdict(severity=Severity.UNKNOWN, summary=why, fix=tuple(fix))


def nothing(why: str) -> Verdict:
    """Build a verdict that says why the check does not apply."""
    return Verdict(severity=Severity.NOT_APPLICABLE, summary=why)
