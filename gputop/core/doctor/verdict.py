"""What the doctor says: a check is a question, a verdict its answer with evidence and what to type."""

from collections.abc import Callable, Iterable, Sequence
from enum import Enum
from typing import TypeAlias

from msgspec import Struct

from gputop.core.doctor.facts import Facts


class Severity(str, Enum):
    """How a check ended. Fail: act now. Unknown: it could not be checked, which is never ok. The order is the gravity.

    Not applicable: the box does not have what is asked about.
    """

    FAIL = "fail"
    WARN = "warn"
    UNKNOWN = "unknown"
    INFO = "info"
    OK = "ok"
    NOT_APPLICABLE = "not_applicable"

    @property
    def rank(self) -> int:
        """Return 0 for the gravest."""
        return list(Severity).index(self)


class Verdict(Struct, frozen=True, kw_only=True):
    """One answer. ``summary``: a clause, the subject first. ``evidence``: what was read. ``fix``: what to do.

    A line of ``fix`` is a sentence, or a command to type where it begins with ``$ ``. Nothing of it is ever executed.
    """

    severity: Severity
    summary: str
    evidence: tuple[str, ...] = ()
    fix: tuple[str, ...] = ()


Verdicts: TypeAlias = Verdict | Sequence[Verdict]


class Check(Struct, frozen=True, kw_only=True):
    """A row of the table. ``code`` is stable. ``meaning``, ``fix``: why it matters and what is done, for the docs."""

    code: str
    question: str
    meaning: str
    fix: str
    judge: Callable[[Facts], Verdicts]


class Checked(Struct, frozen=True, kw_only=True):
    """A check with its verdicts, the gravest first; there is always one."""

    code: str
    question: str
    severity: Severity
    verdicts: tuple[Verdict, ...]


class Diagnosis(Struct, frozen=True, kw_only=True):
    """All checks of a box, the gravest first. ``status``: 0 well, 1 warnings, 2 act now, 3 there was nothing to check.

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
    """Return that something is to be done now."""
    return Verdict(severity=Severity.FAIL, summary=summary, evidence=tuple(evidence), fix=tuple(fix))


def warn(summary: str, *, evidence: Iterable[str] = (), fix: Iterable[str] = ()) -> Verdict:
    """Return that something is not as it should be."""
    return Verdict(severity=Severity.WARN, summary=summary, evidence=tuple(evidence), fix=tuple(fix))


def info(summary: str, *, evidence: Iterable[str] = (), fix: Iterable[str] = ()) -> Verdict:
    """Return what is worth knowing, and no fault."""
    return Verdict(severity=Severity.INFO, summary=summary, evidence=tuple(evidence), fix=tuple(fix))


def ok(summary: str) -> Verdict:
    """Return that all is well."""
    return Verdict(severity=Severity.OK, summary=summary)


def unknown(why: str, *, fix: Iterable[str] = ()) -> Verdict:
    """Return why it could not be checked."""
    return Verdict(severity=Severity.UNKNOWN, summary=why, fix=tuple(fix))


def nothing(why: str) -> Verdict:
    """Return why the check does not apply."""
    return Verdict(severity=Severity.NOT_APPLICABLE, summary=why)
