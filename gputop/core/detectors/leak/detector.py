"""The detector of GPU memory leaks: retained growth at a steady rate, as opposed to warm-up, loading, teeth and waves.

An alarm needs high confidence and growth that continues. `filling` reports a GPU that is full within minutes, leak or
not.
"""

from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from gputop.core.detection.detector import FORGET_S, Claim, Context
from gputop.core.detectors.leak.rises import Rises
from gputop.core.detectors.leak.thresholds import alarm_of, limits_of, stairs_of
from gputop.core.detectors.leak.track import MemoryTrack
from gputop.core.detectors.leak.verdict import Vote
from gputop.core.detectors.leak.wording import NO_AGE, POOL, Case, claim_of, steps_claim
from gputop.core.detectors.subjects import gpu_subject, process_subject
from gputop.core.model.catalogue import GPU_UTILIZATION, MEMORY_FREE, MEMORY_TOTAL, MEMORY_USED, SM_ACTIVE
from gputop.core.model.finding import Subject
from gputop.core.model.sample import Gpu, GpuProcess, HostProcess
from gputop.core.processes.program import program_of

_MIB: Final = 1024.0**2
_UNKNOWN_TOTAL_MIB: Final = 81_920.0  # for a board that does not report its memory
_DAY_S: Final = 86_400.0
_SWEEP_S: Final = 30.0  # how often absent processes are removed
_COUNT_S: Final = 10.0
_WORK: Final = 20  # units of evaluation per sample: about 1 ms; the rest waits for the next sample
_POOLS: Final = frozenset({"vLLM", "SGLang", "TensorRT-LLM", "TF Serving"})
_POOL_SHARE: Final = 0.7  # of the memory: a larger part is reserved in advance

_Where = tuple[str, int | None]  # a GPU, and one of its instances
_Key = tuple[int, str, int | None]  # a process, or `_WHOLE` for a whole GPU, and where
_WHOLE: Final = -1


class Followed:
    """The memory of one process on one GPU, or of a whole GPU, and the judgement of it."""

    __slots__ = ("claim", "free_mib", "rises", "seen_s", "start", "total_mib", "track", "vote", "waits")

    def __init__(self, track: MemoryTrack, start: int | None, rises: Rises) -> None:
        self.track = track
        self.rises = rises
        self.start = start
        self.vote: Vote | None = None
        self.claim: Claim | None = None
        self.total_mib = self.free_mib = 0.0
        self.seen_s = 0.0
        self.waits = False


class LeakDetector:
    """Follows the memory of every process on every GPU."""

    def __init__(self, dials: Mapping[str, float]) -> None:
        self._limits = limits_of(dials)
        self._alarm = alarm_of(dials)
        self._stairs = stairs_of(dials)
        self._followed: dict[_Key, Followed] = {}
        self._waiting: deque[_Key] = deque()
        self._growing: set[_Key] = set()
        self._on_gpu: dict[_Where, set[int]] = {}
        self._silent: dict[_Where, set[int]] = {}
        self._sweep_s = self._count_s = 0.0

    def detect(self, context: Context) -> Iterator[Claim]:
        """Return a claim per growth."""
        for process in context.due:
            for use in process.gpus:
                if use.memory_bytes is not None:
                    claim = self._follow(process, use, use.memory_bytes, context)
                    if claim:
                        yield claim
        yield from self._whole_gpus(context)
        self._evaluate(context)
        if context.now_s >= self._sweep_s:
            self._sweep_s = context.now_s + _SWEEP_S
            self._sweep(context)

    def _follow(self, process: HostProcess, use: GpuProcess, memory: int, context: Context) -> Claim | None:
        start = process.start_ticks
        key = (process.pid, use.gpu, use.gpu_instance)
        held = self._followed.get(key)
        if held is None or held.start != start:
            held = self._followed[key] = Followed(
                _track(context, memory / _MIB, process.started_s, process.pid),
                start,
                Rises(memory / _MIB, self._stairs),
            )
        held.rises.add(context.now_s, memory / _MIB)
        busy = use.sm_percent
        if busy is None and held.track.scales is not None:
            busy = _busy(context.gpus.get(use.gpu), use.gpu_instance)
        limits = self._limits
        if held.track.add(context.now_s, memory / _MIB, busy, limits.still_mib, limits.light_percent):
            self._due(key, held, context.gpus.get(use.gpu), use.gpu_instance)
        return held.claim or self._outgrown(process, use, held, context)

    def _outgrown(self, process: HostProcess, use: GpuProcess, held: Followed, context: Context) -> Claim | None:
        """Return the claim that it grows in ever larger steps which leak or do not fit."""
        if len(held.rises.steps) < self._stairs.steps:
            return None
        part = gpu.part(use.gpu_instance) if (gpu := context.gpus.get(use.gpu)) else None
        free = part[MEMORY_FREE] if part else None
        if free is None:
            return None
        is_outgrown = held.rises.has_outgrown(context.now_s, free / _MIB)
        if not is_outgrown and not held.rises.keeps_pace(context.now_s):
            return None
        return steps_claim(process, use, held.rises, free, is_outgrown=is_outgrown)

    def _due(self, key: _Key, held: Followed, gpu: Gpu | None, instance: int | None) -> None:
        """Put it into the queue for evaluation, with the total and free memory."""
        part = gpu.part(instance) if gpu else None
        total, free = (part[MEMORY_TOTAL], part[MEMORY_FREE]) if part else (None, None)
        held.total_mib = total / _MIB if total else _UNKNOWN_TOTAL_MIB
        held.free_mib = free / _MIB if free is not None else -1.0
        if not held.waits:
            held.waits = True
            self._waiting.append(key)

    def _evaluate(self, context: Context) -> None:
        """Evaluate the queue, as far as the time of a sample allows."""
        left = _WORK
        while self._waiting and left > 0:
            key = self._waiting.popleft()
            held = self._followed.get(key)
            if held is None:
                continue
            held.waits = False
            if held.track.is_still(self._limits.still_mib) and held.claim is None:
                held.track.rest()
                held.vote = None
                continue
            held.vote = held.vote or Vote()
            left -= held.vote.evaluate(held.track, self._limits, held.total_mib)
            (self._growing.add if held.vote.leak or held.vote.rising else self._growing.discard)(key)
            held.claim = self._claim(key, held, context)

    def _claim(self, key: _Key, held: Followed, context: Context) -> Claim | None:
        vote = held.vote
        if vote is None or not (vote.leak or vote.rising):
            return None
        owner, lacking = _owner_of(key, context), tuple[str, ...]()
        if key[0] == _WHOLE:
            gpu = context.gpus.get(key[1])
            label = gpu_subject(gpu).label if gpu else key[1]
            subject = Subject(label=label, gpu=key[1], gpu_instance=key[2])
        elif owner is None:
            return held.claim
        else:
            subject, lacking = process_subject(*owner), _lacking(owner, held.total_mib)
        full_s = self._full_s(key, held, context)
        return claim_of(Case(subject, held.track, vote, full_s, lacking, self._alarm, owner and owner[0]))

    def _full_s(self, where: _Key, held: Followed, context: Context) -> tuple[float, float | None] | None:
        """Return the time until full, by the growth of all on the GPU; None if over a day or unknown."""
        if held.free_mib < 0:
            return None
        slow = fast = 0.0
        for key in self._growing:
            other = self._followed[key]
            rising = other.vote.leak or other.vote.rising if other.vote else None
            if rising is None or key[1:] != where[1:]:
                continue
            if other.track.began_s + rising.seen_s >= context.now_s - self._alarm.current_s:
                slow += max(rising.growth.slow, 0.0)
                fast += max(rising.growth.fast, rising.growth.even)
        if fast * _DAY_S <= held.free_mib:
            return None
        late_s = held.free_mib / slow if slow * _DAY_S > held.free_mib else None
        return held.free_mib / fast, late_s

    def _whole_gpus(self, context: Context) -> Iterator[Claim]:
        """Follow the memory of GPUs that no process reports as its own."""
        if context.now_s >= self._count_s:
            self._count_s = context.now_s + _COUNT_S
            self._silent = _silent(context)
        for where, pids in self._silent.items():
            yield from self._follow_gpu(where, pids, context)

    def _follow_gpu(self, where: _Where, pids: set[int], context: Context) -> Iterable[Claim]:
        gpu = context.gpus.get(where[0])
        part = gpu.part(where[1]) if gpu else None
        used = part[MEMORY_USED] if part else None
        if gpu is None or used is None:
            return ()
        mib = (used - _reported_bytes(context, where)) / _MIB
        key = (_WHOLE, *where)
        held = self._followed.get(key)
        if held is None or not pids <= self._on_gpu.get(where, set()):  # a new process explains any growth
            track = _track(context, mib, None, gpu.index)
            held = self._followed[key] = Followed(track, None, Rises(mib, self._stairs))
        self._on_gpu[where] = pids
        limits, busy = self._limits, gpu[GPU_UTILIZATION]
        if held.track.add(context.now_s, mib, busy, limits.still_mib, limits.light_percent):
            self._due(key, held, gpu, where[1])
        return (held.claim,) if held.claim else ()

    def _sweep(self, context: Context) -> None:
        """Forget processes and GPUs that have been absent for a minute."""
        present = {
            (process.pid if use.memory_bytes is not None else _WHOLE, use.gpu, use.gpu_instance)
            for process in context.sample.processes
            for use in process.gpus
        }
        for key, held in tuple(self._followed.items()):
            if key in present:
                held.seen_s = context.now_s
            elif context.now_s - max(held.seen_s, held.track.seen_s) > FORGET_S:
                del self._followed[key]
                self._growing.discard(key)
        self._on_gpu = {where: pids for where, pids in self._on_gpu.items() if (_WHOLE, *where) in self._followed}


def _owner_of(key: _Key, context: Context) -> tuple[HostProcess, GpuProcess] | None:
    """Return the process and its use of the GPU; only the few that grow are looked up."""
    for process in context.sample.processes:
        if process.pid == key[0]:
            return next(((process, use) for use in process.gpus if (use.gpu, use.gpu_instance) == key[1:]), None)
    return None


def _track(context: Context, mib: float, started_s: float | None, turn: int) -> MemoryTrack:
    age_s = max(0.0, context.sample.time_s - started_s) if started_s is not None else 0.0
    return MemoryTrack(context.now_s, mib, age_s, turn)


def _busy(gpu: Gpu | None, instance: int | None) -> float | None:
    """Return the activity of an instance, where the driver reports none per process; of a GPU, only 0 if it is idle."""
    part = gpu.part(instance) if gpu else None
    if part is None:
        return None
    if instance is not None:
        return part[SM_ACTIVE]
    percent = part[GPU_UTILIZATION]
    return 0.0 if percent is not None and percent < 1 else None


def _silent(context: Context) -> dict[_Where, set[int]]:
    """Return the GPUs with processes whose memory the driver does not report, and their pids."""
    found: dict[_Where, set[int]] = {}
    for process in context.sample.processes:
        for use in process.gpus:
            if use.memory_bytes is None:
                found.setdefault((use.gpu, use.gpu_instance), set()).add(process.pid)
    return found


def _reported_bytes(context: Context, where: _Where) -> int:
    """Return the memory that the driver reports per process there."""
    return sum(
        use.memory_bytes or 0
        for process in context.sample.processes
        for use in process.gpus
        if (use.gpu, use.gpu_instance) == where
    )


def _lacking(owner: tuple[HostProcess, GpuProcess], total_mib: float) -> tuple[str, ...]:
    process, use = owner
    is_large = (use.memory_bytes or 0) > _POOL_SHARE * total_mib * _MIB
    is_pool = is_large or program_of(process.command).known in _POOLS
    return ((POOL,) if is_pool else ()) + ((NO_AGE,) if process.started_s is None else ())
