"""Limits of a probe: gputop stops loading a GPU that gets hotter or draws more.

The limits change no setting of the GPU; gputop stops its own load.
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
    """The highest temperature and power that a GPU may reach; None: no limit."""

    temperature_c: float | None = None
    power_w: float | None = None

    def over(self, gpu: Gpu) -> tuple[str, str] | None:
        """Return code and text of an exceeded limit, or None."""
        for name, unit, metric, most in self._rows():
            value = gpu[metric]
            if value is not None and value > most:
                return f"{GUARD}{name}", f"{name} {value:.0f} {unit} exceeds the limit of {most:g} {unit}"
        return None

    def unenforceable(self, gpu: Gpu) -> str:
        """Return why a limit cannot be enforced; empty if all can."""
        for name, _, metric, _ in self._rows():
            reason = gpu.why(metric)
            if reason is not None:
                return f"cannot enforce the {name} limit: {reason.text}"
        return ""

    def against(self, gpu: Gpu) -> str:
        """Return why gputop must not load a GPU at all; empty if it may."""
        over = self.over(gpu)
        return f"{over[1]} before any load" if over is not None else self.unenforceable(gpu)

    def _rows(self) -> Iterator[tuple[str, str, Metric[Any], float]]:
        if self.temperature_c is not None:
            yield "temperature", "°C", TEMPERATURE, self.temperature_c
        if self.power_w is not None:
            yield "power", "W", POWER_AVERAGE, self.power_w
