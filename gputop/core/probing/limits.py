"""Ceilings that somebody sets for the time of a probe: what gets hotter or draws more is not loaded any further.

Nothing of the GPU is changed for that: the load is ours, and it is taken away.
"""

from collections.abc import Iterator
from typing import Any, Final

from msgspec import Struct

from gputop.core.model.catalogue import POWER_AVERAGE, TEMPERATURE
from gputop.core.model.metric import Metric
from gputop.core.model.sample import Gpu

GUARD: Final = "guard."
UNKNOWN: Final = f"{GUARD}unknown"


class Ceiling(Struct, frozen=True, kw_only=True):
    """The most that a GPU may reach, in degrees and watts; None: whatever it reaches."""

    temperature_c: float | None = None
    power_w: float | None = None

    def over(self, gpu: Gpu) -> tuple[str, str] | None:
        """Return code and text of what is above its ceiling; None where nothing is."""
        for name, unit, metric, most in self._rows():
            value = gpu[metric]
            if value is not None and value > most:
                return f"{GUARD}{name}", f"{name} {value:.0f} {unit}, above the {most:g} {unit} that were set"
        return None

    def untold(self, gpu: Gpu) -> str:
        """Say why a ceiling cannot be kept; nothing where all can."""
        for name, _, metric, _ in self._rows():
            reason = gpu.why(metric)
            if reason is not None:
                return f"the ceiling for its {name} cannot be kept: {reason.text}"
        return ""

    def against(self, gpu: Gpu) -> str:
        """Say why a GPU is not to be loaded at all; nothing where it may be."""
        over = self.over(gpu)
        return f"{over[1]}, before any load" if over is not None else self.untold(gpu)

    def _rows(self) -> Iterator[tuple[str, str, Metric[Any], float]]:
        if self.temperature_c is not None:
            yield "temperature", "°C", TEMPERATURE, self.temperature_c
        if self.power_w is not None:
            yield "power", "W", POWER_AVERAGE, self.power_w
