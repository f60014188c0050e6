"""The wording of growing memory: verdict, consequence, numbers, and what to do."""

from collections.abc import Sequence
from math import exp, log
from typing import Final

from msgspec import Struct

from gputop.core.detection.detector import Claim
from gputop.core.detectors.leak.growth import Growth, Why
from gputop.core.detectors.leak.rises import Rises
from gputop.core.detectors.leak.track import MemoryTrack
from gputop.core.detectors.leak.verdict import Suspicion, Vote
from gputop.core.detectors.subjects import process_subject
from gputop.core.model.finding import Evidence, Stage, Subject, confidence_of, confidence_text
from gputop.core.model.progress import TorchMemory
from gputop.core.model.sample import GpuProcess, HostProcess
from gputop.core.model.units import bytes_text, duration_text
from gputop.core.processes.ending import end_command

_MIB: Final = 1024.0**2
_UNSURE: Final = 0.6  # medium confidence at most
_DOUBT: Final = 0.5
_HOLD_S: Final = 15.0  # it is evaluated every 30 s at most, and claimed at each sample
_STEPS_NAMED: Final = 3
_SAME_TIME: Final = 1.1  # estimates that differ by less are one
_CODE: Final = "leak.process"
_GPU_CODE: Final = "leak.gpu"

NO_WORK: Final = "its SM utilization (without it, loading looks like a leak)"
NO_AGE: Final = "its age (gputop counts from when it first saw the process)"
POOL: Final = "the memory use inside a pool, if the program preallocates one (as vLLM and JAX do)"
_WHOLE_GPU: Final = "which process grows (the driver reports only the memory of the whole GPU)"

_REMEDY: Final = (
    "Find the objects that the program keeps from step to step, such as losses with their graph, lists of outputs, or "
    "unbounded caches. In PyTorch, torch.cuda.memory._record_memory_history() and _dump_snapshot() show where the "
    "memory was allocated"
)

_WAIT: Final = (
    "Wait: only time distinguishes a leak from warm-up. To see the plot, press Enter on the row of the process."
)

_CANNOT_TELL: Final = {
    Why.SATURATING: "It could be warm-up, a cache that fills, or fragmentation: it is too early to see whether it "
    "slows down",
    Why.FILLING: "It could be loading or a buffer that fills. If it continues for half an hour, it is a leak",
}


class Alarm(Struct, frozen=True):
    """The conditions of an alarm: growth that continues, with a confidence of at least ``sure``.

    ``current_s``: growth seen within this time continues; only then is there a time until full.
    """

    sure: float = 0.85
    current_s: float = 120.0


class Case(Struct, frozen=True):
    """Growth and its circumstances. ``full_s``: earliest and latest time until full; None if not within a day."""

    subject: Subject
    track: MemoryTrack
    vote: Vote
    full_s: tuple[float, float | None] | None
    lacking: tuple[str, ...]
    alarm: Alarm
    process: HostProcess | None = None

    @property
    def is_of_gpu(self) -> bool:
        """Return whether the case is about a whole GPU."""
        return self.subject.process is None


def claim_of(case: Case) -> Claim | None:
    """Return the claim about this growth, if it is worth one."""
    leak, rising = case.vote.leak, case.vote.rising
    if leak:
        return _leak(case, leak)
    return _rising(case, rising) if rising else None


def steps_claim(process: HostProcess, use: GpuProcess, rises: Rises, free: int, *, is_outgrown: bool) -> Claim:
    """Return the claim that memory grows in ever larger steps, and perhaps that the next one does not fit."""
    what = "and the next one does not fit" if is_outgrown else "at a steady rate on the whole"
    steps = rises.steps
    sizes = ", ".join(bytes_text(step.mib * _MIB) for step in steps[-_STEPS_NAMED:])
    grown = sum(step.mib for step in steps)
    return Claim(
        code=_CODE,
        stage=Stage.SUSPECT,
        subject=process_subject(process, use),
        summary=f"memory grows in ever larger steps, {what}: the last ones were {sizes}; {bytes_text(free)} left",
        evidence=(
            Evidence("grown_bytes", round(grown * _MIB), f"+{_mib(grown)} in {len(steps)} steps, none was freed"),
            Evidence("memory_free_bytes", free, f"{bytes_text(free)} left"),
        ),
        remedy=f"{_REMEDY}. To end the process before an allocation fails: {end_command(process)}",
        action="signal",
        confidence=_DOUBT,
        lacking=("what is inside the steps: an allocator that doubles its memory hides the rate",),
        began_s=steps[0].at_s,
        hold_s=_HOLD_S,
    )


def full_text(full_s: tuple[float, float | None]) -> str:
    """Return ``about 57 min``, ``5 h to 6 h``, or what is known of it."""
    soon, late = full_s
    if late is None:
        return f"{_rounded(soon)} or later"
    return f"about {_rounded(soon)}" if late <= _SAME_TIME * soon else f"{_rounded(soon)} to {_rounded(late)}"


def _rounded(seconds: float) -> str:
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.0f} h"


def confidence(case: Case, leak: Suspicion) -> float:
    """Return the confidence that the growth is a leak; medium at most if GPU work is unknown."""
    one = leak.growth
    watched_s = max(one.ended_s - one.began_s, leak.seen_s - leak.since_s)
    sure = confidence_of(
        0.7 if case.vote.odds >= 6 else 0.5,
        0.5 if watched_s >= 1800 else 0.4 if watched_s >= 1200 else 0.25,
        0.3 if one.segments == one.of else 0.15,
        0.0 if one.cycles else 0.2,
        0.2 if case.vote.agreed > 1 else 0.0,
    )
    return sure if one.is_work_known else min(sure, _UNSURE)


def _leak(case: Case, leak: Suspicion) -> Claim:
    one = leak.growth
    sure = confidence(case, leak)
    if _is_cache(case, one):
        sure = min(sure, _UNSURE)
    is_current = case.track.observed_s - leak.seen_s <= case.alarm.current_s
    full_s = case.full_s if is_current else None
    verdict = "leak" if sure >= case.alarm.sure else f"probable leak ({confidence_text(sure)} confidence)"
    if full_s:
        verdict += f", GPU full in {full_text(full_s)}"
    rest = "" if is_current else f"; no growth for {duration_text(case.track.observed_s - one.ended_s)}"
    summary = f"{verdict}: {_grown(one)} ({_rate(one)}){_kept(one)}{rest}"
    is_sure = is_current and sure >= case.alarm.sure
    return _claim(case, one, Stage.ALARM if is_sure else Stage.SUSPECT, summary, sure)


def _rising(case: Case, rising: Suspicion) -> Claim | None:
    if case.vote.is_early:
        return None  # most programs grow at first, or in a few steps
    one = rising.growth
    why = _CANNOT_TELL.get(case.vote.why, _CANNOT_TELL[Why.SATURATING])
    summary = f"memory grows: {_grown(one)}. {why}"
    return _claim(case, one, Stage.OBSERVATION, summary, min(_DOUBT, confidence(case, rising)))


def _claim(case: Case, one: Growth, stage: Stage, summary: str, sure: float) -> Claim:
    lacking = case.lacking + (() if one.is_work_known else (NO_WORK,)) + ((_WHOLE_GPU,) if case.is_of_gpu else ())
    return Claim(
        code=_GPU_CODE if case.is_of_gpu else _CODE,
        stage=stage,
        subject=case.subject,
        summary=summary,
        evidence=tuple(_evidence(case, one)),
        remedy=_WAIT if stage is Stage.OBSERVATION else _remedy(case),
        action=None if case.is_of_gpu else "signal",
        confidence=sure,
        lacking=lacking,
        began_s=case.track.began_s + one.began_s,
        hold_s=_HOLD_S,
    )


def _evidence(case: Case, one: Growth) -> Sequence[Evidence]:
    span_s = one.ended_s - one.began_s
    found = [
        Evidence("grown_bytes", round(one.grown * _MIB), _grown(one)),
        Evidence("span_s", round(span_s), f"in {duration_text(span_s)}"),
        Evidence("rate_bytes_per_s", round(one.even * _MIB), f"{_rate(one)} on average, not counting large steps"),
        Evidence("grown_parts", f"{one.segments}/{one.of}", _parts_text(one)),
        Evidence("steady_log_odds", round(case.vote.odds, 1), _odds_text(case.vote.odds)),
    ]
    memory = _torch(case)
    if memory:
        found.append(
            Evidence("torch_allocated_bytes", memory.allocated, _torch_text(memory, is_cache=_is_cache(case, one)))
        )
    if one.cycles:
        found.append(Evidence("cycles", one.cycles, _falls_text(one)))
    if case.full_s:
        found.append(Evidence("full_in_s", round(case.full_s[0]), f"GPU full in {full_text(case.full_s)}"))
    return found


def _torch(case: Case) -> TorchMemory | None:
    """Return the memory that PyTorch reports for this GPU; None if its device could be another one."""
    process = case.process
    if process is None or process.progress is None or len(process.gpus) != 1 or len(process.progress.torch) != 1:
        return None
    return process.progress.torch[0]


def _is_cache(case: Case, one: Growth) -> bool:
    """Return whether PyTorch's cache has room for all of the growth: tensors need not have grown then."""
    memory = _torch(case)
    return memory is not None and memory.cached >= one.grown * _MIB


def _torch_text(memory: TorchMemory, *, is_cache: bool) -> str:
    where = "the growth may be cached and unused" if is_cache else "the cache of PyTorch is smaller than the growth"
    return (
        f"{where}: {bytes_text(memory.allocated)} allocated, {bytes_text(memory.cached)} of "
        f"{bytes_text(memory.reserved)} cached and unused"
    )


def _remedy(case: Case) -> str:
    if case.process is None:
        return f"{_REMEDY}. Check this in every program on the GPU."
    return f"{_REMEDY}. To end the process before the GPU is full: {end_command(case.process)}"


def _grown(one: Growth) -> str:
    return f"+{_mib(one.grown)} in {duration_text(one.ended_s - one.began_s)}"


def _kept(one: Growth) -> str:
    return f"; its memory {_falls_text(one)}" if one.cycles else "; its memory never fell"


def _falls_text(one: Growth) -> str:
    return f"fell {'once' if one.cycles == 1 else f'{one.cycles} times'}, but never to the old level"


def _parts_text(one: Growth) -> str:
    share = f"each of {one.of}" if one.segments == one.of else f"{one.segments} of {one.of}"
    return f"it grew in {share} intervals of equal length"


def _odds_text(odds: float) -> str:
    if odds <= 0:
        return "its growth seems to slow down"
    times = "more than 10000" if odds > log(10_000) else f"{exp(odds):.0f}"
    return f"its growth looks steady and does not slow down (odds {times} to 1)"


def _rate(one: Growth) -> str:
    return f"{_mib(one.even * 60)}/min"


def _mib(mib: float) -> str:
    return bytes_text(mib * _MIB)
