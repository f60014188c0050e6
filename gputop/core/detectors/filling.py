"""The detector of GPUs that will be full within the hour, whichever process fills them, leak or not.

An alarm where it will be full within 15 minutes even at the slowest rate of the last minutes. What slows down so much
that it will end in time is not worth a line, nor a rise that is no higher than the ones from which memory came back
before. Loading, seen by a GPU that computes nothing or by a process that has just started, is not worth
a line.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from itertools import accumulate
from typing import Final

from msgspec import Struct

from gputop.core.detection.detector import FORGET_S, Claim, Context, Dial, Kind
from gputop.core.detectors.growers import Growers
from gputop.core.detectors.leak.growth import capped, floor_of, steps_of
from gputop.core.detectors.leak.trend import slopes
from gputop.core.detectors.leak.wording import full_text
from gputop.core.detectors.subjects import process_subject
from gputop.core.model.catalogue import GPU_UTILIZATION, MEMORY_FREE, MEMORY_USED
from gputop.core.model.finding import Evidence, Stage, Subject
from gputop.core.model.sample import Gpu, Readings
from gputop.core.model.units import bytes_text, duration_text

KIND: Final = Kind(
    name="filling",
    question="Will the memory of a GPU be full soon?",
    codes={"memory.filling": "The used memory of a GPU grows so fast that it will be full within the hour."},
    remedies={
        "memory.filling": "See which process grows: `G`. Save a checkpoint, or end another process (`F9`).",
    },
    dials=(
        Dial("alarm_s", 900.0, 0.0, 86_400.0, "If the memory will be full within this time, that is an alarm."),
        Dial("suspect_s", 3600.0, 0.0, 86_400.0, "If the memory will be full within this time, that is a suspect."),
        Dial("watched_s", 300.0, 60.0, 600.0, "The memory must have grown for this time."),
        Dial(
            "known_s", 600.0, 0.0, 86_400.0,
            "gputop must have watched the GPU for this time. Before, it does not know whether memory rises and falls "
            "in cycles.",
        ),
        Dial(
            "late_times", 2.0, 1.0, 100.0,
            "The time until the memory is full is uncertain. An alarm needs that even the longest estimate is "
            "at most this many times alarm_s. A suspect needs the same with suspect_s.",
        ),
        Dial(
            "lasts_s", 600.0, 60.0, 86_400.0,
            "The memory must have grown without a pause for this time. One long request to a server grows for minutes.",
        ),
        Dial("pause_s", 60.0, 5.0, 3600.0, "In lasts_s and loading_s: a shorter time without growth is no pause."),
        Dial(
            "young_s", 1800.0, 0.0, 86_400.0,
            "Growth may be loading if a process on the GPU started within this time.",
        ),
        Dial("loading_s", 900.0, 60.0, 86_400.0, "The same as lasts_s, for growth that may be loading (see young_s)."),
        Dial(
            "buffer_s", 1500.0, 60.0, 86_400.0,
            "The same as loading_s, for a suspect: if the GPU will not be full soon, gputop waits to see "
            "whether the growth stops, as when a buffer fills.",
        ),
        Dial(
            "light_percent", 10.0, 1.0, 100.0,
            "In loading_percent, idle means a GPU utilization below this. A GPU that only receives copies has some.",
        ),
        Dial("least_growth_bytes", 64.0 * 1024**2, 1024**2, 1024**4, "gputop ignores growth of less than this."),
        Dial(
            "came_back_percent", 30.0, 1.0, 100.0,
            "gputop starts its measurement again if more than this share of the growth is freed.",
        ),
        Dial(
            "past_s", 3600.0, 0.0, 86_400.0,
            "After memory is freed, only memory above the earlier maximum counts as growth, for this time. Freed "
            "memory is often used again.",
        ),
        Dial(
            "steady_percent", 90.0, 1.0, 100.0,
            "The growth is steady if its second half is at least this share of its first half.",
        ),
        Dial(
            "loading_percent", 80.0, 1.0, 100.0,
            "Growth may be loading (data is copied to the GPU) if the GPU is idle for at least this share of the time.",
        ),
        Dial(
            "segments_percent", 80.0, 1.0, 100.0,
            "gputop divides the time into 6 equal intervals. The memory must grow in at least this share of them. With "
            "80: in 5 of 6.",
        ),
        Dial(
            "segment_percent", 12.0, 0.0, 100.0,
            "An interval has growth if it contains more than this share of the mean growth per interval.",
        ),
        Dial(
            "burst_percent", 50.0, 1.0, 100.0,
            "None of the 6 intervals may contain more than this share of the growth.",
        ),
        Dial(
            "large_step_times", 3.0, 1.0, 1000.0,
            "gputop limits the effect of one large step. With 3, it counts at most as much as 3 usual steps.",
        ),
    ),
)  # fmt: skip
_MIB: Final = 1024.0**2
_BUCKET_S: Final = 5.0
_BUCKETS: Final = 121  # ten minutes: as far back as the dials reach
_PARTS: Final = 6  # of the time
_HOLD_S: Final = 15.0  # it is judged every 5 s


class Fill(Struct, frozen=True):
    """Continuing growth of a GPU's memory. ``rate``: MiB/s; ``full_s``: earliest and latest time until it is full."""

    grown: float
    span_s: float
    rate: float
    full_s: tuple[float, float | None]
    is_idle: bool


class Level:
    """The used memory of a GPU or instance over the last ten minutes, and its level before the last release."""

    def __init__(self, now_s: float, mib: float, dials: Mapping[str, float]) -> None:
        self._dials = dials
        self._least_mib = dials["least_growth_bytes"] / _MIB
        self._lows: deque[tuple[float, float, bool]] = deque(maxlen=_BUCKETS)
        self._start, self._low, self._is_idle = now_s, mib, True
        self._top = self._base = mib
        self._past: tuple[float, float] | None = None  # until when it counts, how high it was
        self.seen_s = self.began_s = now_s
        self._grows_since_s: float | None = None
        self._grew_s = now_s
        self.growers: Growers | None = None  # since it grows

    def lasted_s(self, fill: Fill | None) -> float:
        """Return how long the growth has lasted. ``fill``: the result of `fill` as of now."""
        if fill is not None:
            self._grew_s = self.seen_s
            if self._grows_since_s is None:
                self._grows_since_s = self.seen_s - fill.span_s
        elif self.seen_s - self._grew_s > self._dials["pause_s"]:
            self._grows_since_s = None
        return 0.0 if self._grows_since_s is None else self.seen_s - self._grows_since_s

    def add(self, now_s: float, mib: float, busy_percent: float | None) -> bool:
        """Add a sample; return whether a new bucket is complete."""
        self.seen_s = now_s
        came_back = self._dials["came_back_percent"] / 100 * (self._top - self._base)
        if mib < self._top - max(self._least_mib, came_back):
            self._past = (now_s + self._dials["past_s"], max(self._top, self._past[1] if self._past else 0.0))
            self._lows.clear()
            self._top = self._base = mib
            self._start, self._low, self._is_idle = now_s, mib, True
        self._top = max(self._top, mib)
        is_new = now_s - self._start >= _BUCKET_S
        if is_new:
            self._lows.append((self._start, self._low, self._is_idle))
            self._start, self._low, self._is_idle = now_s, mib, True
        self._low = min(self._low, mib)
        self._is_idle = self._is_idle and busy_percent is not None and busy_percent < self._dials["light_percent"]
        return is_new

    def fill(self, free_mib: float, span_s: float) -> Fill | None:
        """Return the growth of the last ``span_s`` seconds; None if there is none, or if it ends in time."""
        now_s = self.seen_s
        if self._past and self._past[0] > now_s and self._low <= self._past[1]:
            return None  # it was this high before
        held = [one for one in self._lows if one[0] >= now_s - span_s - _BUCKET_S]
        if len(held) < 2 * _PARTS or held[-1][0] - held[0][0] < span_s - 2 * _BUCKET_S:
            return None
        floor = floor_of([low for _, low, _ in held])
        even = capped(steps_of(floor), self._dials["large_step_times"])
        total = sum(even)
        steady = self._dials["steady_percent"] / 100
        if total < self._least_mib or not _is_spread(even, total, self._dials):
            return None
        if _ends_in(even, total, steady) < free_mib:
            return None
        # without large single steps: 16 processes that started on an H100 next to a leak of 1 MiB/s were an alarm
        slow, rate, fast = slopes([start for start, _, _ in held], list(accumulate(even, initial=floor[0])))
        if fast <= 0:
            return None
        is_idle = 100 * sum(idle for _, _, idle in held) >= self._dials["loading_percent"] * len(held)
        late_s = free_mib / slow if slow > 0 else None
        return Fill(total, held[-1][0] - held[0][0], rate, (free_mib / fast, late_s), is_idle)


class FillingDetector:
    """Follows the memory of every GPU, or of each of its instances."""

    def __init__(self, dials: Mapping[str, float]) -> None:
        self._dials = dials
        self._levels: dict[tuple[str, int | None], Level] = {}
        self._claims: dict[tuple[str, int | None], Claim | None] = {}

    def detect(self, context: Context) -> Iterator[Claim]:
        """Return a claim per GPU or instance that will be full soon."""
        for gpu in context.sample.gpus:
            if gpu.instances:
                for one in gpu.instances:
                    yield from self._judge(gpu, one, one.id, None, context)
            else:
                yield from self._judge(gpu, gpu, None, gpu[GPU_UTILIZATION], context)
        for key, level in tuple(self._levels.items()):
            if context.now_s - level.seen_s > FORGET_S:
                del self._levels[key], self._claims[key]

    def _judge(
        self, gpu: Gpu, part: Readings, instance: int | None, busy_percent: float | None, context: Context
    ) -> Iterable[Claim]:
        used, free = part[MEMORY_USED], part[MEMORY_FREE]
        if used is None or free is None:
            return ()
        key = (gpu.uuid, instance)
        level = self._levels.get(key)
        if level is None:
            level = self._levels[key] = Level(context.now_s, used / _MIB, self._dials)
            self._claims[key] = None
        if level.add(context.now_s, used / _MIB, busy_percent):
            self._claims[key] = self._claim(gpu, instance, level, free, context)
        claim = self._claims[key]
        return (claim,) if claim else ()

    def _claim(self, gpu: Gpu, instance: int | None, level: Level, free: int, context: Context) -> Claim | None:
        dials = self._dials
        fill = level.fill(free / _MIB, dials["watched_s"])
        lasted_s = level.lasted_s(fill)
        if not lasted_s:
            level.growers = None
        elif level.growers is None:
            level.growers = Growers((gpu.uuid, instance), context)
        if context.now_s - level.began_s < dials["known_s"] or fill is None or fill.full_s[1] is None:
            return None
        soon_s, late_s = fill.full_s[0], fill.full_s[1] / dials["late_times"]
        if max(soon_s, late_s) > dials["suspect_s"]:
            return None
        stage = Stage.ALARM if max(soon_s, late_s) <= dials["alarm_s"] else Stage.SUSPECT
        is_young = _is_young(gpu, context, dials["young_s"])
        least_s = dials["lasts_s" if not is_young else "loading_s" if stage is Stage.ALARM else "buffer_s"]
        if fill.is_idle or lasted_s < least_s:
            return None  # it may be loading, or one long request
        most = level.growers.most(context) if level.growers else None
        return _claim_of(process_subject(*most) if most else _subject(gpu, instance), fill, stage, free)


def _is_young(gpu: Gpu, context: Context, young_s: float) -> bool:
    """Return whether a process that has just started may still load its data into the memory."""
    born = (p.started_s for p in context.sample.processes for use in p.gpus if use.gpu == gpu.uuid)
    return any(context.sample.time_s - started_s < young_s for started_s in born if started_s is not None)


def _subject(gpu: Gpu, instance: int | None) -> Subject:
    label = f"GPU {gpu.index}" if instance is None else f"GPU {gpu.index} instance {instance}"
    return Subject(label=label, gpu=gpu.uuid, gpu_instance=instance)


def _claim_of(subject: Subject, fill: Fill, stage: Stage, free: int) -> Claim:
    grown = f"+{bytes_text(fill.grown * _MIB)} in {duration_text(fill.span_s)}"
    return Claim(
        code="memory.filling",
        stage=stage,
        subject=subject,
        summary=f"memory full in {full_text(fill.full_s)}: {grown}, {bytes_text(free)} left",
        evidence=(
            Evidence("grown_bytes", round(fill.grown * _MIB), grown),
            Evidence("rate_bytes_per_s", round(fill.rate * _MIB), f"it grows by {bytes_text(fill.rate * _MIB)}/s"),
            Evidence("memory_free_bytes", free, f"{bytes_text(free)} left"),
            Evidence("full_in_s", round(fill.full_s[0]), f"full in {full_text(fill.full_s)}"),
        ),
        remedy=(
            "See which process grows (sort by GPU memory: G). Save a checkpoint. Use a smaller batch or end "
            "another process with gputop signal, so that no allocation fails."
        ),
        lacking=("GPU utilization (without it, loading looks like work)",) if subject.gpu_instance is not None else (),
        hold_s=_HOLD_S,
    )


def _is_spread(even: list[float], total: float, dials: Mapping[str, float]) -> bool:
    parts = [0.0] * _PARTS
    for at, step in enumerate(even):
        parts[at * _PARTS // len(even)] += step
    grew = sum(100 * part > dials["segment_percent"] * total / _PARTS for part in parts)
    is_most = 100 * grew >= dials["segments_percent"] * _PARTS
    return is_most and parts[-1] > 0 and 100 * max(parts) <= dials["burst_percent"] * total


def _ends_in(even: list[float], total: float, steady: float) -> float:
    """Return the MiB still to come if growth keeps slowing down as it did; infinite if it does not slow down."""
    half = len(even) // 2
    second = sum(even[half:])
    ratio = second / max(total - second, 1e-9)
    return second * ratio / (1 - ratio) if ratio < steady else float("inf")
