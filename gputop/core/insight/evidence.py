"""Answers of sources as evidence for findings of hangs: counts that move refute one, counts that do not confirm it."""

from collections.abc import Sequence
from typing import Final

from msgspec.structs import replace

from gputop.core.insight.explanation import ClaimKind, Explanation, SourceReport, SourceState
from gputop.core.insight.members import HANGS
from gputop.core.model.finding import Evidence, Finding, Stage, confidence_of
from gputop.core.model.process_id import ProcessId
from gputop.core.model.sample import Frame

_REFUTES_FOR_S: Final = 300.0  # progress says nothing about later
_WEIGHT: Final = 0.8
_CONFIRMING: Final = frozenset({ClaimKind.STANDS, ClaimKind.BEHIND, ClaimKind.MISSING})


def with_answers(frame: Frame, explanations: Sequence[Explanation]) -> Frame:
    """Return the frame with the answers as evidence of its findings, the gravest first as before."""
    if not explanations or not any(finding.code.startswith(HANGS) for finding in frame.findings):
        return frame
    findings = [_weighed(finding, frame, explanations) for finding in frame.findings]
    return replace(frame, findings=tuple(sorted(findings, key=lambda one: -one.stage.rank)))


def _weighed(finding: Finding, frame: Frame, explanations: Sequence[Explanation]) -> Finding:
    """Return a finding with the newest answers about its processes, if they are not older than the finding."""
    if not finding.code.startswith(HANGS):
        return finding
    pids = _pids(finding, frame)
    for explanation in reversed(explanations):
        if explanation.time_s < finding.since_s or pids.isdisjoint(member.pid for member in explanation.members):
            continue
        for report in explanation.sources:
            if report.state is SourceState.ANSWERED and (found := _judged(finding, report, explanation, frame.time_s)):
                return found
    return finding


def _judged(finding: Finding, report: SourceReport, explanation: Explanation, now_s: float) -> Finding | None:
    kinds = {claim.kind for claim in report.claims}
    if ClaimKind.MOVES in kinds:
        if now_s - explanation.time_s > _REFUTES_FOR_S:
            return None
        text = f"{report.title}: its counts grew between two readings, so it is no hang"
        evidence = (*finding.evidence, Evidence(f"{report.name}_moves", value=True, text=text))
        return replace(finding, stage=Stage.OBSERVATION, evidence=evidence, confidence=None)
    if not kinds & _CONFIRMING:
        return None
    text = f"{report.title}: {explanation.verdict.removesuffix('.')}"
    confidence = None if finding.confidence is None else confidence_of(finding.confidence, _WEIGHT)
    evidence = (*finding.evidence, Evidence(f"{report.name}_moves", value=False, text=text))
    return replace(finding, evidence=evidence, confidence=confidence)


def _pids(finding: Finding, frame: Frame) -> set[int]:
    """Return the pids of the process or job of a finding."""
    subject = finding.subject
    jobs: list[tuple[ProcessId, ...]] = [
        job.members for job in frame.jobs if job.key == subject.job or subject.process in job.members
    ]
    own = {subject.process.pid} if subject.process else set[int]()
    return own.union(*({each.pid for each in members} for members in jobs))
