"""The diagnosis: every check applied to the facts."""

from collections.abc import Sequence
from typing import Final

from gputop.core.doctor.facts import Facts
from gputop.core.doctor.table import CHECKS
from gputop.core.doctor.verdict import Check, Checked, Diagnosis, Severity, Verdict, unknown

WELL: Final = 0
WARNINGS: Final = 1
ACT_NOW: Final = 2
NOTHING: Final = 3  # no GPU, and no sign that there should be one


def diagnose(facts: Facts, checks: Sequence[Check] = CHECKS) -> Diagnosis:
    """Return the results of all checks, most serious first, equals in the table's order. Never raises."""
    checked = sorted((_checked(check, facts) for check in checks), key=lambda one: one.severity.rank)
    counts = {severity: sum(one.severity is severity for one in checked) for severity in Severity}
    return Diagnosis(
        time_s=facts.time_s,
        host=facts.host,
        is_root=facts.is_root,
        driver_version=facts.driver.version or (facts.module.version if facts.module else None),
        cuda_version=facts.driver.cuda_version,
        simulated=facts.driver.simulated,
        gpus=len(facts.gpus),
        status=_status(facts, counts),
        counts=counts,
        checks=tuple(checked),
    )


def _checked(check: Check, facts: Facts) -> Checked:
    verdicts = sorted(_judged(check, facts), key=lambda one: one.severity.rank)
    worst = verdicts[0].severity
    kept = [one for one in verdicts if one.severity.rank < Severity.OK.rank] or verdicts[:1]
    return Checked(code=check.code, question=check.question, severity=worst, verdicts=tuple(kept))


def _judged(check: Check, facts: Facts) -> Sequence[Verdict]:
    try:
        found = check.judge(facts)
    except Exception as error:  # noqa: BLE001 - this is the border: one check must not take the others with it
        return (unknown(f"the check failed: {type(error).__name__}: {error}"),)
    return (found,) if isinstance(found, Verdict) else found


def _status(facts: Facts, counts: dict[Severity, int]) -> int:
    if counts[Severity.FAIL]:
        return ACT_NOW
    if counts[Severity.WARN]:
        return WARNINGS
    return WELL if facts.gpus else NOTHING
