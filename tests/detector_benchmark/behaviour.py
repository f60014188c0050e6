"""Shows the labelled traces of processes to the detectors and counts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from math import inf
from typing import Final

from detector_benchmark.behaviour_frames import Scene, pid_of, samples
from detector_benchmark.behaviour_traces import CLASSES, NOTHING, Trace, mixed, neighbours, trace
from detector_benchmark.behaviour_traps import Trap, traps
from detector_benchmark.scoring import Outcome, accuracy, by_kind, confusion_text, kinds_text, score, spread
from examples import NOW
from judging import judge_of
from msgspec import Struct
from msgspec.structs import replace

from gputop.core.detection.judge import BROKEN
from gputop.core.detectors.stuck.neighbour import SURE as BESIDE
from gputop.core.model.finding import Finding, Stage

DETECTORS: Final = ("stopped", "stuck", "stalled", "spin", "idle", "straggler", "bound")
_LABELS: Final = {
    "process.stopped": "stopped", "process.blocked": "blocked", "stuck.collective": "stuck-collective",
    "stuck.kernel": "stuck-kernel", "stalled.process": "stalled", "stalled.job": "stalled", "spin.host": "host-spin",
    "idle.holder": "idle-holder", "bound.input": "input", "bound.launch": "launch", "bound.memory": "memory",
    "bound.communication": "communication", "bound.compute": "compute", "busy.fake": "fake",
}  # fmt: skip
_LAST_S: Final = 120
_BESIDE: Final = ("process.blocked", "process.stopped")  # are right of the odd one out


class Seen(Struct):
    """What was found in a scene: alarms and suspects with their first second, the label of each of the last seconds."""

    alarms: list[tuple[float, Finding]]
    suspects: list[tuple[float, Finding]]
    labels: Counter[str]

    @property
    def label(self) -> str:
        """Return the most frequent label at the end."""
        return self.labels.most_common(1)[0][0]


def seen(scene: Scene, names: Sequence[str] = DETECTORS) -> Seen:
    """Show a scene to the detectors."""
    judge = judge_of(*names)
    found = Seen([], [], Counter())
    known: set[tuple[object, ...]] = set()
    for sample, jobs in samples(scene):
        findings = judge.judge(sample, jobs)
        second = sample.time_s - NOW
        for finding in findings:
            assert finding.code != BROKEN, finding.summary
            key = (finding.stage, *finding.key)
            if finding.stage is not Stage.OBSERVATION and key not in known:
                known.add(key)
                (found.alarms if finding.stage is Stage.ALARM else found.suspects).append((second, finding))
        if second >= scene.length - _LAST_S:
            found.labels[_LABELS.get(findings[0].code, NOTHING) if findings else NOTHING] += 1
    return found


def judged(one: Trace) -> tuple[Outcome, str, str, int]:
    """Return the outcome of a trace, the right label and the given one, and how many suspects there were."""
    found = seen(one.scene)
    right = [at for at, finding in found.alarms if finding.code in one.alarms and at >= (one.onset_s or 0.0)]
    wrong = [at for at, finding in found.alarms if finding.code not in one.alarms or at < (one.onset_s or 0.0)]
    raised_s = min(right, default=None)
    note = "; ".join(f"{at:.0f} s {f.code}: {f.summary}" for at, f in found.alarms)
    if wrong and one.onset_s is None:
        raised_s = min(wrong)
    elif wrong and one.onset_s is not None:
        raised_s = min(*wrong, one.onset_s - 1)
    onset_s = None if one.is_hard and raised_s is None else one.onset_s
    outcome = Outcome(one.kind, one.seed, onset_s, raised_s, note)
    return outcome, one.label, found.label, len(found.suspects)


def suspected(one: Trace) -> tuple[bool, bool, int]:
    """Return whether a hang is hidden in it, whether it is suspected at least, and how many are by mistake.

    Mistakes are those of judging a process whose power a neighbour hides; others are counted elsewhere.
    """
    found = seen(one.scene, ("activity", "stopped", "stuck", "stalled"))
    hangs = {pid_of(at): since_s for at, since_s in one.hangs}
    named = [(at, finding) for at, finding in (*found.suspects, *found.alarms) if finding.code.startswith("stuck")]
    right = [at >= hangs.get(f.subject.process.pid, inf) for at, f in named if f.subject.process]
    beside = [is_right for is_right, (_, finding) in zip(right, named, strict=False) if finding.confidence == BESIDE]
    return bool(hangs) and (one.is_hard or not one.alarms), any(right), beside.count(False)


def drawn(traces: Sequence[Trace]) -> list[Trace]:
    """Return the same with a driver that charges each of its samples to one of the processes on a GPU."""
    return [replace(one, scene=replace(one.scene, is_lottery=True)) for one in traces]


def hidden_text(traces: Sequence[Trace]) -> str:
    """Return how many hangs beside a neighbour that computes are suspected, with exact figures and with drawn ones."""
    lines = []
    for how, is_lottery in (("exactly", False), ("by samples, each charged to one", True)):
        held = spread(suspected, drawn(traces) if is_lottery else traces)
        found = [is_found for is_hidden, is_found, _ in held if is_hidden]
        wrong = sum(count for *_, count in held)
        lines.append(
            f"hangs beside a neighbour that computes, what each does told {how}: {sum(found)} of {len(found)} "
            f"suspected; in {len(held)} traces {wrong} suspected by mistake"
        )
    return "\n".join(lines)


def all_trapped(seed: int) -> list[Outcome]:
    """Return the outcomes of all traps."""
    return [trapped(trap, seed) for trap in traps(seed)]


def trapped(trap: Trap, seed: int = 0) -> Outcome:
    """Return the outcome of a trap; one in which trouble hides has an onset."""
    judge = judge_of(*DETECTORS)
    passed_s = 0.0
    onset_s = trap.onset_s if trap.code else None
    for sample, jobs in trap.shown:
        for finding in judge.judge(sample, jobs):
            assert finding.code != BROKEN, finding.summary
            if finding.stage is Stage.ALARM and finding.code == trap.code:
                return Outcome(trap.name, seed, onset_s, passed_s)
            if finding.stage is Stage.ALARM and not (trap.code and finding.code in _BESIDE):
                return Outcome(trap.name, seed, onset_s, min(passed_s, trap.onset_s - 1), finding.summary)
        passed_s += sample.interval_s
    return Outcome(trap.name, seed, onset_s, None)


def plain(seeds: Sequence[int]) -> list[Trace]:
    """Return all classes with all seeds."""
    return [trace(kind, seed) for kind in CLASSES for seed in seeds] + [neighbours(seed) for seed in seeds]


def mixtures_of(seeds: Sequence[int], count: int) -> list[Trace]:
    """Return so many mixtures, from the first of the seeds on."""
    return [mixed(seed) for seed in range(seeds[0], seeds[0] + count)]


def report(seeds: Sequence[int], mixtures: int) -> str:
    """Return the figures: confusion matrix, precision, recall, time to alarm; then those of mixtures."""
    held = spread(judged, plain(seeds))
    pairs = [(right, given) for _, right, given, _ in held if right != "throttled"]
    outcomes = [one for one, *_ in held]
    mixes = [one for one, *_ in spread(judged, mixtures_of(seeds, mixtures))]
    tickets = [one for one, *_ in spread(judged, drawn(mixtures_of(seeds, mixtures)))]
    tricks = [
        one for held_of in spread(all_trapped, range(seeds[0], seeds[0] + max(2, len(seeds) // 3))) for one in held_of
    ]
    wrong = [f"{one.kind} {one.seed}: {one.note}" for one in (*outcomes, *mixes, *tickets, *tricks) if one.is_false]
    missed = [f"{one.kind} {one.seed}" for one in (*outcomes, *mixes, *tickets, *tricks) if one.is_missed]
    return "\n".join(
        [
            f"behaviour: {len(held)} traces, alarms: {score(outcomes).line}",
            f"labels of the last two minutes: accuracy {accuracy(pairs):.3f}",
            confusion_text(sorted(pairs)),
            kinds_text(by_kind(outcomes)),
            f"mixtures: {len(mixes)} traces, alarms: {score(mixes).line}",
            f"the same, samples charged to one of both: {score(tickets).line}",
            hidden_text([*plain(seeds), *mixtures_of(seeds, mixtures)]),
            f"traps and hidden trouble: {len(tricks)} traces, alarms: {score(tricks).line}",
            kinds_text(by_kind(tricks)),
            "false: " + ("\n       ".join(wrong) or "none"),
            "missed: " + ("\n        ".join(missed) or "none"),
        ]
    )
