"""The judge: it makes findings of the claims of detectors, with their beginning, end and return."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Final, Protocol

from msgspec import Struct

from gputop.core.detection.detector import Claim, Context, Detector, Dial, settled
from gputop.core.detection.merging import About, merged
from gputop.core.model.finding import Finding, Judgement, Stage, Subject
from gputop.core.model.process_id import ProcessId
from gputop.core.model.sample import GpuState, HostProcess, Job, Sample
from gputop.core.text.text import excerpt

BROKEN: Final = "gputop.detector"
DIALS: Final = (
    Dial(
        "cooldown_s", 300.0, 0.0, 86_400.0,
        "A finding that returns within this time keeps its start time and counts its returns.",
    ),
    Dial(
        "hold_s", 0.0, 0.0, 86_400.0,
        "A finding stays at least this long after its cause was last seen. Some detectors use a longer time.",
    ),
    Dial(
        "judged_s", 120.0, 0.0, 86_400.0,
        "gputop must watch a machine for this time to judge it. Until then, it is not judged yet, and gputop says so.",
    ),
    Dial(
        "gap_s", 30.0, 1.0, 86_400.0,
        "If no sample arrives for longer than this, the time does not count in any duration (but see gap_intervals).",
    ),
    Dial(
        "gap_intervals", 3.0, 1.0, 1000.0,
        "The same as gap_s, in sampling intervals. With 3 and one sample per minute: 3 minutes. The longer time "
        "applies.",
    ),
)  # fmt: skip
"""The dials of all detectors; they are in ``[detectors]`` itself."""
GENERAL: Final = ""
"""The name under which the settings keep them, next to the dials of single detectors."""
_AT_A_TIME: Final = 150  # processes per sample; a hundred take 1 ms. Of 2,000 processes each is due every 14 s
_SHARED: Final = Judgement.__struct_fields__

_Key = tuple[object, ...]


class _Kept(Struct):
    """A finding, its last claim, and the times that decide its end. Times are those of `Context.now_s`.

    ``concerned``: the processes that it is about, when it began; ``gpus``: those that they used, by uuid.
    """

    detector: str
    finding: Finding
    claim: Claim
    seen_s: float
    stage_seen_s: float
    hold_s: float
    concerned: frozenset[ProcessId] = frozenset()
    gpus: frozenset[str] = frozenset()


class _Present(Struct, frozen=True):
    """The processes of a sample by pid, and the GPUs that report theirs, by uuid."""

    processes: Mapping[int, HostProcess]
    gpus: frozenset[str]

    @classmethod
    def of(cls, sample: Sample) -> "_Present":
        """Return those of a sample."""
        known = [gpu.uuid for gpu in sample.gpus if gpu.state is GpuState.OK and "processes" not in gpu.missing]
        return cls({one.pid: one for one in (*sample.processes, *sample.relatives)}, frozenset(known))


class Filter(Protocol):
    """Takes bad readings out of samples."""

    def take(self, sample: Sample, due: Sequence[HostProcess], now_s: float) -> tuple[Sample, tuple[HostProcess, ...]]:
        """Return the sample and its due processes without bad readings."""
        ...


class Judge:
    """Keeps the findings of one host.

    ``detectors``: by name. ``dials``: values of `DIALS` that are not the default. ``steady``: a `Steady`; None for a
    single sample, which has no earlier one to compare with.
    """

    def __init__(
        self,
        detectors: Mapping[str, Detector],
        dials: Mapping[str, float] = MappingProxyType({}),
        steady: Filter | None = None,
    ) -> None:
        values = settled(DIALS, dials)
        self._cooldown_s, self._hold_s = values["cooldown_s"], values["hold_s"]
        self._gap, self._judged_s = (values["gap_s"], values["gap_intervals"]), values["judged_s"]
        self._detectors = detectors
        self._kept: dict[_Key, _Kept] = {}
        self._ended: dict[_Key, tuple[Finding, float]] = {}
        self._broken: dict[str, Claim] = {}
        self._shared: dict[type, object] = {}
        self._steady = steady
        self._before: tuple[float, float] | None = None  # time and interval of the previous sample
        self._now_s = 0.0
        self._turn = 0
        self._turns = 1  # samples until each process was due once

    def judge(self, sample: Sample, jobs: tuple[Job, ...]) -> tuple[Finding, ...]:
        """Return the findings as of this sample, the gravest first, then the newest."""
        context = self._prepared(sample, jobs)
        present = _Present.of(context.sample)
        for name, detector in self._detectors.items():
            for claim in self._claims(name, detector, context):
                self._take(name, claim, context, present)
        self._end(context, present)
        held = [About(kept.finding, kept.concerned) for kept in self._kept.values()]
        return tuple(sorted(merged(held), key=_order))

    @property
    def judged_in_s(self) -> float | None:
        """Return the seconds until it has watched for long enough to judge; None if it has."""
        return self._judged_s - self._now_s if self._now_s < self._judged_s else None

    def _prepared(self, sample: Sample, jobs: tuple[Job, ...]) -> Context:
        self._turn += 1
        step_s, is_gap = _step(self._before, sample, self._gap)
        self._before = sample.time_s, sample.interval_s
        self._now_s += step_s
        due = self._due(sample.processes)
        if self._steady is not None:
            sample, due = self._steady.take(sample, due, self._now_s)
        relatives: dict[int, list[HostProcess]] = {}
        for one in sample.relatives:
            if one.parent_pid is not None:
                relatives.setdefault(one.parent_pid, []).append(one)
        return Context(
            number=self._turn,
            now_s=self._now_s,
            step_s=step_s,
            is_gap=is_gap,
            sample=sample,
            jobs=jobs,
            due=due,
            round_s=self._turns * max(step_s, sample.interval_s),
            gpus={gpu.uuid: gpu for gpu in sample.gpus},
            relatives=relatives,
            shared=self._shared,
        )

    def _due(self, processes: Sequence[HostProcess]) -> tuple[HostProcess, ...]:
        self._turns = turns = -(-len(processes) // _AT_A_TIME) or 1
        if turns == 1:
            return tuple(processes)
        return tuple([process for process in processes if (process.pid + self._turn) % turns == 0])

    def _claims(self, name: str, detector: Detector, context: Context) -> Sequence[Claim]:
        """Return the claims of a detector; a failure is itself a finding, ends its others, and is its last."""
        if name in self._broken:
            return (self._broken[name],)
        try:
            return tuple(detector.detect(context))
        except Exception as error:  # noqa: BLE001 - this is the border: a detector must not stop the frames
            self._broken[name] = _broken(name, error)
            self._kept = {key: kept for key, kept in self._kept.items() if kept.detector != name}
            return (self._broken[name],)

    def _take(self, name: str, claim: Claim, context: Context, present: _Present) -> None:
        key = (claim.code, *claim.subject.key)
        kept = self._kept.get(key)
        if kept is None:
            concerned, gpus = _concerned(claim.subject, context)
            if not _has_exited(concerned, gpus, present):
                found, now_s = self._begun(key, claim, context), context.now_s
                self._kept[key] = _Kept(name, found, claim, now_s, now_s, claim.hold_s, concerned, gpus)
            return
        if claim is kept.claim:
            kept.seen_s = kept.stage_seen_s = context.now_s
            return
        before = kept.finding
        kept.seen_s, kept.hold_s = context.now_s, claim.hold_s
        is_lower = claim.stage.rank < before.stage.rank
        if is_lower and context.now_s - kept.stage_seen_s < max(claim.hold_s, self._hold_s):
            return  # the wording of the graver stage stays as long as the stage
        stage_since_s = before.stage_since_s if claim.stage is before.stage else context.sample.time_s
        kept.stage_seen_s, kept.claim = context.now_s, claim
        kept.finding = _found(claim, before.since_s, stage_since_s, before.returned)

    def _begun(self, key: _Key, claim: Claim, context: Context) -> Finding:
        ended = self._ended.pop(key, None)
        if ended:
            return _found(claim, ended[0].since_s, context.sample.time_s, ended[0].returned + 1)
        since_s = context.sample.time_s if claim.began_s is None else context.epoch_s(claim.began_s)
        return _found(claim, since_s, context.sample.time_s, 0)

    def _end(self, context: Context, present: _Present) -> None:
        least_s = max(self._hold_s, 2 * context.round_s if self._turns > 1 else 0.0)
        for key, kept in tuple(self._kept.items()):
            is_over = context.now_s - kept.seen_s > max(kept.hold_s, least_s)
            if is_over or _has_exited(kept.concerned, kept.gpus, present):
                del self._kept[key]
                self._ended[key] = (kept.finding, context.now_s)
        for key, (_, ended_s) in tuple(self._ended.items()):
            if context.now_s - ended_s > self._cooldown_s:
                del self._ended[key]


def _step(before: tuple[float, float] | None, sample: Sample, gap: tuple[float, float]) -> tuple[float, bool]:
    """Return the seconds of observation since the previous sample, and whether samples are missing in between."""
    if before is None:
        return 0.0, False
    passed = sample.time_s - before[0]
    interval_s = max(before[1], sample.interval_s)
    if passed <= 0 or passed > max(gap[0], gap[1] * interval_s):
        return 0.0, True
    return passed, False


def _has_exited(concerned: frozenset[ProcessId], gpus: frozenset[str], present: _Present) -> bool:
    """Return whether all processes have exited, as far as their GPUs report processes."""
    if not concerned or not gpus <= present.gpus:
        return False
    found = present.processes
    return not any(one.pid in found and found[one.pid].start_ticks == one.start_ticks for one in concerned)


def _concerned(subject: Subject, context: Context) -> tuple[frozenset[ProcessId], frozenset[str]]:
    """Return the processes that a finding is about, and the GPUs that they use."""
    members = next((job.members for job in context.jobs if job.key == subject.job), ())
    concerned = frozenset((*members, *((subject.process,) if subject.process else ())))
    pids = {one.pid for one in concerned}
    used = (use.gpu for process in context.sample.processes if process.pid in pids for use in process.gpus)
    return concerned, frozenset(used)


def _found(claim: Claim, since_s: float, stage_since_s: float, returned: int) -> Finding:
    judgement = {name: getattr(claim, name) for name in _SHARED}
    return Finding(**judgement, since_s=since_s, stage_since_s=stage_since_s, returned=returned)


def _broken(name: str, error: Exception) -> Claim:
    return Claim(
        code=BROKEN,
        stage=Stage.SUSPECT,
        subject=Subject(label=f"detector {name}"),
        summary=f"the detector {name} failed and is off: {type(error).__name__}: {excerpt(str(error))}",
        remedy=f"Report it, with a recording if possible. To hide this: [detectors.{name}] enabled = false.",
        hold_s=0.0,
    )


def _order(finding: Finding) -> tuple[object, ...]:
    return (-finding.stage.rank, -finding.stage_since_s, finding.code, finding.subject.label)


def worst(findings: Sequence[Finding]) -> Finding | None:
    """Return the gravest finding; None if there is none."""
    return max(findings, key=lambda finding: finding.stage.rank, default=None)
