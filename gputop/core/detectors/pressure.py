"""Is a GPU about to run out of memory or of cooling? Memory nearly full, temperature near the board's own limit."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from gputop.core.detector import Dial, Kind, Look, Sign
from gputop.core.detectors.subjects import gpu_subject
from gputop.core.finding import Evidence, Stage
from gputop.core.metrics import (
    MEMORY_TEMPERATURE,
    MEMORY_TOTAL,
    MEMORY_USED,
    TEMPERATURE,
    TEMPERATURE_MARGIN,
    TEMPERATURE_MEMORY_MAX,
    TEMPERATURE_SLOWDOWN,
)
from gputop.core.sample import Gpu
from gputop.core.tone import share
from gputop.core.units import bytes_text

KIND: Final = Kind(
    name="pressure",
    question="Is a GPU about to run out of memory or of cooling?",
    codes={
        "memory.full": "Nearly all memory of a GPU is used: the next allocation may fail.",
        "temperature.gpu": "The chip is near the temperature at which the board slows it down.",
        "temperature.memory": "The memory chips are near their limit.",
    },
    dials=(
        Dial(key="memory_percent", default=90.0, least=1.0, most=100.0, help="Memory used that is worth a line."),
        Dial(key="suspect_memory_percent", default=97.0, least=1.0, most=100.0, help="Memory used that is a suspect."),
        Dial(key="margin_celsius", default=5.0, least=0.0, most=50.0, help="Distance to the board's limit."),
    ),
    is_instant=True,
)


class PressureDetector:
    """Judges every GPU by what it says now."""

    def __init__(self, dials: Mapping[str, float]) -> None:
        self._memory, self._full = dials["memory_percent"], dials["suspect_memory_percent"]
        self._margin = dials["margin_celsius"]

    def look(self, look: Look) -> Iterator[Sign]:
        """Return what is near a limit."""
        for gpu in look.sample.gpus:
            yield from self._memory_of(gpu)
            yield from self._temperatures(gpu)

    def _memory_of(self, gpu: Gpu) -> Iterable[Sign]:
        used, total = gpu[MEMORY_USED], gpu[MEMORY_TOTAL]
        percent = share(used, total)
        if percent is None or used is None or total is None or percent < self._memory:
            return
        yield Sign(
            code="memory.full",
            stage=Stage.SUSPECT if percent >= self._full else Stage.OBSERVATION,
            subject=gpu_subject(gpu),
            summary=f"memory {percent:.0f}% used, {bytes_text(total - used)} of {bytes_text(total)} left",
            evidence=(Evidence("memory_used_percent", round(percent, 1), f"{percent:.1f}% used"),),
            remedy="A serving engine that reserves its pool looks like this and is well; a training job may run out.",
        )

    def _temperatures(self, gpu: Gpu) -> Iterable[Sign]:
        celsius, margin, slowdown = gpu[TEMPERATURE], gpu[TEMPERATURE_MARGIN], gpu[TEMPERATURE_SLOWDOWN]
        if margin is None and celsius is not None and slowdown is not None:
            margin = slowdown - celsius
        yield from self._near(gpu, "temperature.gpu", "GPU", celsius, margin)
        celsius, most = gpu[MEMORY_TEMPERATURE], gpu[TEMPERATURE_MEMORY_MAX]
        rest = None if celsius is None or most is None else most - celsius
        yield from self._near(gpu, "temperature.memory", "memory", celsius, rest)

    def _near(self, gpu: Gpu, code: str, what: str, celsius: int | None, margin: int | None) -> Iterable[Sign]:
        if margin is None or margin > self._margin:
            return
        reading = f"{what} at {celsius}°C, " if celsius is not None else f"{what} "
        rest = f"{margin}°C below its limit" if margin > 0 else "at its limit"
        yield Sign(
            code=code,
            stage=Stage.SUSPECT if margin > 0 else Stage.ALARM,
            subject=gpu_subject(gpu),
            summary=reading + rest,
            evidence=(Evidence("margin_celsius", margin, f"{margin}°C to the limit"),),
            remedy="Look at fans, airflow and the neighbours' temperatures; move load away until it is cooler.",
        )
