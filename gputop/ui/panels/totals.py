"""Totals of all GPUs that answer: utilization, memory, power, the hottest."""

from collections.abc import Sequence

from gputop.core.model.catalogue import GPU_UTILIZATION, MEMORY_TOTAL, MEMORY_USED, POWER_AVERAGE, TEMPERATURE
from gputop.core.model.sample import Gpu, GpuState
from gputop.core.model.units import bytes_text
from gputop.ui.panels import values
from gputop.ui.render.line import Spans


def totals(gpus: Sequence[Gpu]) -> list[Spans]:
    """Return the parts of the line, each of a steady width, the most important first."""
    answering = [gpu for gpu in gpus if gpu.state is GpuState.OK]
    loads = [value for gpu in answering if (value := gpu[GPU_UTILIZATION]) is not None]
    hottest = max((value for gpu in answering if (value := gpu[TEMPERATURE]) is not None), default=None)
    mean = sum(loads) / len(loads) if loads else None
    total = bytes_text(sum(gpu[MEMORY_TOTAL] or 0 for gpu in answering))
    used = bytes_text(sum(gpu[MEMORY_USED] or 0 for gpu in answering)).rjust(len(total))
    watts = sum(gpu[POWER_AVERAGE] or 0 for gpu in answering)
    return [
        [("UTIL", "muted"), *values.percent(mean, 5, values.utilization_ink(mean))],
        [("MEMORY ", "muted"), (f"{used}/{total}", "text")],
        [("POWER ", "muted"), (f"{watts / 1000:.1f}kW", "text")],
        [("HOTTEST ", "muted"), *values.number(hottest, 5, "text", "°C")],
    ]
