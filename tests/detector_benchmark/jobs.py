"""Shows the labelled traces of jobs to the detectors and counts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from detector_benchmark.behaviour import seen
from detector_benchmark.behaviour_frames import pid_of
from detector_benchmark.jobs_traces import HANG, HEALTHY, SCENARIOS, SLOW_GPU, SLOW_HOST, JobTrace, job_trace
from detector_benchmark.scoring import Outcome, by_kind, confusion_text, kinds_text, score, spread

from gputop.core.model.finding import Finding

_LABELS: Final = {
    "stuck.collective": HANG, "stuck.kernel": HANG, "straggler.gpu": SLOW_GPU, "straggler.host": SLOW_HOST,
    "straggler.neighbour": SLOW_HOST,
}  # fmt: skip
_BESIDE: Final = ("process.blocked", "process.stopped")  # also right of the rank that made it hang


def judged(one: JobTrace) -> tuple[Outcome, str, str, bool]:
    """Return the outcome of a trace, the right label and the given one, and whether the right rank is named.

    A hang counts when it is an alarm, a straggler when it is a suspect; any other alarm is false.
    """
    found = seen(one.scene)
    counted = [(at, f) for at, f in found.alarms if f.code not in _BESIDE]
    counted += [(at, f) for at, f in found.suspects if f.code.startswith("straggler")]
    counted.sort(key=lambda pair: pair[0])
    at, first = counted[0] if counted else (None, None)
    given = _LABELS.get(first.code, first.code) if first else HEALTHY
    note = "; ".join(f"{at:.0f} s {f.stage.value} {f.code}: {f.summary}" for at, f in counted)
    onset_s, raised_s = one.onset_s, at
    if first and given != one.label and onset_s is not None:
        raised_s = onset_s - 1  # something else was said: not a hit
    return Outcome(one.kind, one.seed, onset_s, raised_s, note), one.label, given, _names(first, one)


def _names(finding: Finding | None, one: JobTrace) -> bool:
    """Say whether a finding names the rank that is to be named, and no other."""
    if finding is None:
        return one.onset_s is None
    named = next((e.value for e in finding.evidence if e.name == "odd_pid"), None)
    if finding.code.startswith("straggler") and finding.subject.process:
        named = finding.subject.process.pid
    return named == (None if one.culprit is None else pid_of(one.culprit))


def plain(seeds: Sequence[int]) -> list[JobTrace]:
    """Return all scenarios with all seeds."""
    return [job_trace(kind, seed) for kind in SCENARIOS for seed in seeds]


def report(seeds: Sequence[int]) -> str:
    """Return the figures."""
    held = spread(judged, plain(seeds))
    outcomes = [one for one, *_ in held]
    hits = [is_named for one, _, _, is_named in held if one.is_hit]
    wrong = [f"{one.kind} {one.seed}: {one.note}" for one in outcomes if one.is_false]
    unnamed = [f"{one.kind} {one.seed}: {one.note}" for one, _, _, is_named in held if one.is_hit and not is_named]
    return "\n".join(
        [
            f"jobs: {len(held)} traces: {score(outcomes).line}",
            f"right rank named in {sum(hits)} of {len(hits)}",
            confusion_text(sorted((right, given) for _, right, given, _ in held)),
            kinds_text(by_kind(outcomes)),
            "false: " + ("\n       ".join(wrong) or "none"),
            "missed: " + (", ".join(f"{one.kind} {one.seed}" for one in outcomes if one.is_missed) or "none"),
            "not named: " + ("\n           ".join(unnamed) or "none"),
        ]
    )
