"""The detector of nearly full GPU memory and of temperatures near the board's own limit."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from gputop.core.detection.detector import Claim, Context, Dial, Kind
from gputop.core.detectors.counters import EachGpu, starts_again
from gputop.core.detectors.subjects import gpu_claim, gpu_subject
from gputop.core.model.catalogue import (
    MEMORY_TEMPERATURE,
    MEMORY_TOTAL,
    MEMORY_USED,
    TEMPERATURE,
    TEMPERATURE_MARGIN,
    TEMPERATURE_MEMORY_MAX,
    TEMPERATURE_SLOWDOWN,
)
from gputop.core.model.finding import Evidence, Stage, Subject
from gputop.core.model.sample import Gpu, GpuInstance, Sample
from gputop.core.model.units import bytes_text, duration_text, share

KIND: Final = Kind(
    name="pressure",
    question="Is a GPU almost out of memory, or almost too hot?",
    codes={
        "memory.full": "Almost all GPU memory is used. The next allocation may fail.",
        "temperature.gpu": "The GPU is near the temperature at which the board reduces its clocks.",
        "temperature.memory": "The memory chips are near their temperature limit.",
    },
    remedies={
        "memory.full": "`G` shows which processes hold it. For an inference server such as vLLM this is normal.",
        "temperature.gpu": "Check fans and airflow: `nvidia-smi -q -d TEMPERATURE`. Reduce power: `nvidia-smi -pl`.",
        "temperature.memory": "Check fans and airflow: `nvidia-smi -q -d TEMPERATURE`.",
    },
    dials=(
        Dial(
            "memory_percent", 90.0, 1.0, 100.0,
            "If at least this share of the GPU memory is used, that is an observation.",
        ),
        Dial(
            "suspect_memory_percent", 97.0, 1.0, 100.0,
            "If at least this share of the GPU memory is used, that is a suspect (but see steady_s).",
        ),
        Dial(
            "steady_s", 600.0, 10.0, 86400.0,
            "If the used memory has not changed for this time, gputop assumes that a program reserved it. Full memory "
            "is then only an observation.",
        ),
        Dial("steady_bytes", 67108864.0, 0.0, 1e12, "A smaller difference is no change of the used memory."),
        Dial(
            "margin_celsius", 5.0, 0.0, 50.0,
            "gputop reports a temperature that is at most this far below the limit of the board. With 5 and a limit of "
            "92°C: from 87°C.",
        ),
        Dial(
            "slack_percent", 1.0, 0.0, 100.0,
            "A finding about memory ends this far below memory_percent. With 1: when less than 89% is used.",
        ),
        Dial(
            "slack_celsius", 1.0, 0.0, 50.0,
            "A finding about temperature ends this far below the temperature of margin_celsius. With 1 and a limit of "
            "92°C: below 86°C.",
        ),
    ),
    is_instant=True,
)  # fmt: skip

_POOL: Final = (
    "A training job may run out of memory. For an inference server such as vLLM, full memory is normal. "
    "To see the largest processes, sort by GPU memory: G"
)
_HOLDERS: Final = 3
_COOL: Final = (
    "Check fans, airflow and neighbouring GPUs: nvidia-smi -q -d TEMPERATURE. Until it is cooler, give it less work or "
    "less power: sudo nvidia-smi -i {n} -pl WATTS"
)

_Held = tuple[int, int]  # bytes, pid


class _Level:
    """Whether the memory is full, and since when it has not changed."""

    def __init__(self) -> None:
        self.is_full = False
        self.level = 0
        self.since_s: float | None = None

    def lasts_s(self, used: int, now_s: float, slack: float, *, is_new: bool) -> float:
        """Return for how many seconds the used memory has not changed."""
        if is_new or self.since_s is None or abs(used - self.level) > slack:
            self.level, self.since_s = used, now_s
        return now_s - self.since_s


class _Limit:
    """The temperature limit of a GPU. The margin is read less often than the temperature: both fit when it changes."""

    def __init__(self) -> None:
        self.read: int | None = None
        self.celsius = 0

    def margin(self, celsius: int, margin: int) -> int:
        """Return how far the present temperature is below the limit."""
        if margin != self.read:
            self.read, self.celsius = margin, celsius + margin
        return self.celsius - celsius


class PressureDetector:
    """Judges every GPU and GPU instance by its current readings."""

    def __init__(self, dials: Mapping[str, float]) -> None:
        self._dials = dials
        self._levels = EachGpu(_Level)
        self._hot: set[tuple[str, str]] = set()
        self._limits = EachGpu(_Limit)
        self._holders = _Holders()

    def detect(self, context: Context) -> Iterator[Claim]:
        """Return a claim per GPU or instance that is near a limit."""
        for gpu in context.sample.gpus:
            yield from self._memory_of(gpu, gpu, context)
            for part in gpu.instances:
                yield from self._memory_of(gpu, part, context)
            yield from self._temperatures(gpu, self._limits.of(gpu.uuid, context.now_s))
        self._levels.forget(context.now_s)
        self._limits.forget(context.now_s)

    def _memory_of(self, gpu: Gpu, part: Gpu | GpuInstance, context: Context) -> Iterable[Claim]:
        used, total = part[MEMORY_USED], part[MEMORY_TOTAL]
        percent = share(used, total)
        if percent is None or used is None or total is None:
            return
        number = part.id if isinstance(part, GpuInstance) else None
        level = self._levels.of(gpu.uuid if number is None else f"{gpu.uuid}/{number}", context.now_s)
        steady_s = level.lasts_s(used, context.now_s, self._dials["steady_bytes"], is_new=starts_again(gpu, context))
        slack = self._dials["slack_percent"] if level.is_full else 0.0
        level.is_full = percent >= self._dials["memory_percent"] - slack
        if not level.is_full:
            return
        is_suspect = percent >= self._dials["suspect_memory_percent"] and steady_s < self._dials["steady_s"]
        steady = f", unchanged for {duration_text(steady_s)}" if steady_s >= self._dials["steady_s"] else ""
        yield Claim(
            code="memory.full",
            stage=Stage.SUSPECT if is_suspect else Stage.OBSERVATION,
            subject=gpu_subject(gpu) if number is None else _instance_subject(gpu, number),
            summary=f"memory {percent:.0f}% full: {bytes_text(total - used)} of {bytes_text(total)} left{steady}"
            + self._holders.text(context, gpu.uuid, number),
            evidence=(
                Evidence("memory_used_percent", round(percent, 1), f"{percent:.0f}% full"),
                *(
                    (
                        Evidence(
                            "steady_s",
                            round(steady_s),
                            f"the used memory has not changed for {duration_text(steady_s)}",
                        ),
                    )
                    if steady_s
                    else ()
                ),
            ),
            remedy=_POOL,
            action="sort-gpu-memory",
        )

    def _temperatures(self, gpu: Gpu, limit: "_Limit") -> Iterable[Claim]:
        celsius, margin, slowdown = gpu[TEMPERATURE], gpu[TEMPERATURE_MARGIN], gpu[TEMPERATURE_SLOWDOWN]
        if margin is None and celsius is not None and slowdown is not None:
            margin = slowdown - celsius
        elif margin is not None and celsius is not None:
            margin = limit.margin(celsius, margin)
        yield from self._near(gpu, "temperature.gpu", "GPU", celsius, margin)
        celsius, most = gpu[MEMORY_TEMPERATURE], gpu[TEMPERATURE_MEMORY_MAX]
        rest = None if celsius is None or most is None else most - celsius
        yield from self._near(gpu, "temperature.memory", "memory", celsius, rest)

    def _near(self, gpu: Gpu, code: str, what: str, celsius: int | None, margin: int | None) -> Iterable[Claim]:
        key = (gpu.uuid, code)
        slack = self._dials["slack_celsius"] if key in self._hot else 0.0
        if margin is None or margin > self._dials["margin_celsius"] + slack:
            self._hot.discard(key)
            return
        self._hot.add(key)
        reading = f"{what} hot: {celsius}°C, " if celsius is not None else f"{what} hot: "
        rest = f"{margin}°C below its limit" if margin > 0 else "at its limit"
        limit = None if celsius is None else f"below {celsius + margin - self._dials['margin_celsius']:.0f}°C"
        at = f"{what} at {celsius}°C" if celsius is not None else rest
        evidence = Evidence("temperature_c", celsius, at, limit)
        yield gpu_claim(gpu, code, Stage.SUSPECT if margin > 0 else Stage.ALARM, reading + rest, evidence, _COOL)


def _instance_subject(gpu: Gpu, number: int) -> Subject:
    return Subject(label=f"GPU {gpu.index}:{number}", gpu=gpu.uuid, gpu_instance=number)


class _Holders:
    """The processes that hold the most memory of each GPU and instance; collected for all of them on first use."""

    def __init__(self) -> None:
        self._most: dict[tuple[str, int | None], list[_Held]] = {}
        self._gathered_s: float | None = None

    def text(self, context: Context, gpu: str, number: int | None) -> str:
        """Name them, as of this sample; with many processes, as of the last round."""
        before_s, least_s = self._gathered_s, context.round_s - context.sample.interval_s
        if before_s is None or context.is_gap or context.now_s - before_s > least_s:
            self._gathered_s = context.now_s
            self._most = {where: sorted(held, reverse=True)[:_HOLDERS] for where, held in _held(context.sample).items()}
        most = self._most.get((gpu, number), ())
        return f"; largest: {', '.join(f'pid {pid} ({bytes_text(size)})' for size, pid in most)}" if most else ""


def _held(sample: Sample) -> dict[tuple[str, int | None], list[_Held]]:
    held: dict[tuple[str, int | None], list[_Held]] = {}
    for process in sample.processes:
        for use in process.gpus:
            if use.memory_bytes:
                for where in {(use.gpu, None), (use.gpu, use.gpu_instance)}:
                    held.setdefault(where, []).append((use.memory_bytes, process.pid))
    return held
