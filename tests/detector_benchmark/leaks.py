"""Shows labelled memory traces to the leak detector and counts: its inner part at one sample a second, and the judge.

Where nothing else is said only a verdict counts (a suspect or an alarm): what rises is an observation.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from time import process_time
from typing import Final

from detector_benchmark.leak_shapes import CARD, Trace
from detector_benchmark.leak_traces import HARD, LEAKS, QUIET, Maker, limit, quiet_and_leak, trace, two_quiet
from detector_benchmark.leak_tricky import TRICKY_LEAKS, TRICKY_QUIET
from detector_benchmark.scoring import Outcome, by_kind, kinds_text, score, spread
from examples import GIB, NOW, frame, gpu, process
from judging import at, judge_of
from msgspec import Struct

from gputop.core.detectors.leak.track import MemoryTrack
from gputop.core.detectors.leak.verdict import Limits, Vote
from gputop.core.model.catalogue import MEMORY_FREE, MEMORY_TOTAL, MEMORY_USED
from gputop.core.model.finding import Stage
from gputop.core.model.sample import GpuProcess, HostProcess, Sample

TWO_QUIET: Final = "two quiet ones"
QUIET_AND_LEAK: Final = "a quiet one and a leak"
RATES: Final = (0.5, 1, 2, 5, 10, 20, 50, 200)
_MIB: Final = 1024**2
_MAKERS: Final[Mapping[str, Maker]] = {**LEAKS, **QUIET, **HARD, **TRICKY_LEAKS, **TRICKY_QUIET}
_THROUGH: Final = 4  # traces of each class, shown to the judge as well


class Case(Struct, frozen=True):
    """A trace to be made: of a class, a mixture, or ``rate`` MiB a minute."""

    kind: str
    seed: int
    rate: float = 0.0
    is_stepped: bool = False

    def made(self) -> Trace:
        """Return the trace."""
        if self.rate:
            return limit(self.seed, self.rate, is_stepped=self.is_stepped)
        if self.kind == TWO_QUIET:
            return two_quiet(self.seed)
        return quiet_and_leak(self.seed) if self.kind == QUIET_AND_LEAK else trace(self.kind, self.seed, _MAKERS)


def judged(case: Case) -> Outcome:
    """Return when a leak was reported. Of what is hard to tell the note says whether it was taken back in time."""
    one = case.made()
    track, vote = MemoryTrack(0.0, one.memory[0], one.age_s, one.seed), Vote()
    raised_s, note = None, ""
    for second, mib in enumerate(one.memory):
        if mib == mib and track.add(float(second), mib, one.busy_at(second)):  # noqa: PLR0124 - NaN is a hole
            vote.evaluate(track, Limits(), CARD)
            if vote.leak and raised_s is None:
                raised_s = float(second)
                if case.kind not in HARD:
                    break
            elif raised_s and not vote.leak:
                note = "taken back"
    return Outcome(one.kind, one.seed, one.onset_s, raised_s, note or str(vote.why))


def through_the_judge(case: Case) -> Outcome:
    """Return the same by samples of a box that are shown to the judge."""
    one = case.made()
    judge = judge_of("leak")
    for sample in samples(one):
        second = sample.time_s - NOW
        for finding in judge.judge(sample, ()):
            if finding.stage is not Stage.OBSERVATION:
                return Outcome(one.kind, one.seed, one.onset_s, second)
    return Outcome(one.kind, one.seed, one.onset_s, None)


def samples(one: Trace) -> Iterator[Sample]:
    """Return what a box with this process says, a sample a second; a hole is a process that is not listed."""
    total = int(CARD * _MIB)
    for second, mib in enumerate(one.memory):
        processes: tuple[HostProcess, ...] = ()
        held = 0 if mib != mib else int(mib * _MIB)  # noqa: PLR0124 - NaN is a hole
        if held:
            use = GpuProcess(
                gpu="GPU-00000000", gpu_index=0, type="C", memory_bytes=held, sm_percent=one.busy_at(second)
            )
            processes = (process(one.seed, started_s=NOW - one.age_s, gpus=(use,)),)
        memory = {MEMORY_TOTAL: total, MEMORY_USED: held + GIB, MEMORY_FREE: max(0, total - held - GIB)}
        yield at(frame((gpu(0, memory),), processes), second)


def plain(seeds: Sequence[int]) -> list[Case]:
    """Return the classes of which it is clear what they are."""
    return [Case(kind, seed) for kind in (*LEAKS, *QUIET) for seed in seeds]


def tricky(seeds: Sequence[int]) -> list[Case]:
    """Return the classes that were written to break it."""
    return [Case(kind, seed) for kind in (*TRICKY_LEAKS, *TRICKY_QUIET) for seed in seeds]


def mixtures(seeds: Sequence[int]) -> list[Case]:
    """Return sums of two that do not leak, and of one that does not and a leak."""
    return [Case(kind, seed) for kind in (TWO_QUIET, QUIET_AND_LEAK) for seed in seeds]


def cost_us(cases: Sequence[Case]) -> float:
    """Return the microseconds of one core that a sample takes, evaluations included."""
    traces = [case.made() for case in cases]
    seen, started = 0, process_time()
    for one in traces:
        track, vote = MemoryTrack(0.0, one.memory[0], 0.0, one.seed), Vote()
        for second, mib in enumerate(one.memory):
            if track.add(float(second), mib, 60.0):
                vote.evaluate(track, Limits(), CARD)
        seen += len(one.memory)
    return (process_time() - started) * 1e6 / seen


def bytes_of(track: MemoryTrack) -> int:
    """Return what a track takes in memory."""
    size = sys.getsizeof(track) + 6 * sys.getsizeof(0.0)
    scales = track.scales
    if scales:
        size += sys.getsizeof(scales)
        for held in (scales.fine, scales.mid, scales.life):
            parts = (held, held.starts, held.lows, held.highs, held.falls, held.work)
            size += sum(sys.getsizeof(part) for part in parts)
    return size


def report(seeds: Sequence[int], mixed: int, *, with_limits: bool = False) -> str:
    """Return the figures: precision, recall, times by class, mixtures, cost."""
    clear, tricks = spread(judged, plain(seeds)), spread(judged, tricky(seeds))
    both = spread(judged, mixtures(range(seeds[0], seeds[0] + mixed)))
    hard = spread(judged, [Case(kind, seed) for kind in HARD for seed in seeds])
    back = sum(one.note == "taken back" for one in hard)
    shown = [Case(kind, seed) for kind in (*LEAKS, *QUIET) for seed in seeds[:_THROUGH]]
    through = spread(through_the_judge, shown)
    every = (*clear, *tricks, *both)
    parts = [
        f"leaks: {len(clear)} traces: {score(clear).line}",
        kinds_text(by_kind(clear)),
        f"written to break it: {len(tricks)} traces: {score(tricks).line}",
        kinds_text(by_kind(tricks)),
        f"mixtures: {len(both)} traces: {score(both).line}",
        f"cannot be told at first: {len(hard)} traces: {sum(one.is_false for one in hard)} reported, {back} taken back",
        kinds_text(by_kind(hard)),
        f"as frames through the judge: {len(through)} traces: {score(through).line}",
        "false: " + (", ".join(f"{one.kind} {one.seed}" for one in every if one.is_false) or "none"),
        "missed: " + (", ".join(f"{one.kind} {one.seed}" for one in every if one.is_missed) or "none"),
        _costs(seeds[0]),
    ]
    if with_limits:
        parts.append(_limits(seeds[: len(seeds) // 2]))
    return "\n".join(parts)


def _costs(seed: int) -> str:
    flat, *others = (cost_us([Case(kind, seed)]) for kind in ("N01 flat", "N10 sawtooth", "P01 linear 1 MiB/s"))
    resting, awake = MemoryTrack(0.0, 1.0, 0.0, 0), MemoryTrack(0.0, 1.0, 0.0, 0)
    for second in range(6000):
        awake.add(float(second), float(second), None)
    return (
        f"cost of a sample: flat {flat:.2f} µs, teeth {others[0]:.1f} µs, a leak {others[1]:.1f} µs; "
        f"memory: at rest {bytes_of(resting)} bytes, else {bytes_of(awake)} bytes"
    )


def _limits(seeds: Sequence[int]) -> str:
    lines = ["an hour of growth at a rate: share found"]
    for is_stepped in (False, True):
        for rate in RATES:
            found = score(spread(judged, [Case("", seed, rate, is_stepped) for seed in seeds]))
            median_s = "" if found.median_s is None else f" after {found.median_s / 60:.1f} min"
            kind = "segments of 20 MiB" if is_stepped else "linear"
            lines.append(f"{kind:18} {rate:5g} MiB/min  {found.recall:4.0%}{median_s}")
    return "\n".join(lines)
