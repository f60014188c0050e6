"""Values of a GPU as spans, the same in the GPU table and in cards."""

import time
from typing import Final

from gputop.core.model.catalogue import (
    CLOCK_MEMORY,
    CLOCK_SM,
    FAN,
    GPU_UTILIZATION,
    MEMORY_TOTAL,
    MEMORY_USED,
    NVLINK_RX,
    NVLINK_TX,
    PCIE_RX,
    PCIE_TX,
    POWER_AVERAGE,
    POWER_LIMIT,
    PSTATE,
    SM_ACTIVE,
    TEMPERATURE,
)
from gputop.core.model.load import Load, memory_load, utilization_load
from gputop.core.model.metric import Missing
from gputop.core.model.sample import Gpu, GpuState, Readings
from gputop.core.model.tone_rules import memory_tone, temperature_tone, throttle
from gputop.core.model.units import NOTHING, share
from gputop.core.text.fit import fit, fit_right
from gputop.core.text.plot import bar
from gputop.core.text.tone import Tone
from gputop.ui.render.line import Spans, length, tone_ink

_PREFIXES: Final = ("NVIDIA ", "GeForce ", "Tesla ", "Quadro ")
_STATES: Final = {
    GpuState.LOST: ("LOST", Missing.LOST.text.partition(": ")[2]),
    GpuState.HUNG: ("NO ANSWER", Missing.HUNG.text),
}


def short_name(name: str) -> str:
    """Return a GPU's name without what all of them have."""
    for prefix in _PREFIXES:
        name = name.removeprefix(prefix)
    return name


def name_within(name: str, width: int) -> str:
    """Return the short name without its last words, as many as it takes to fit; a single word may be too long."""
    words = (short_name(name) or NOTHING).split(" ")
    while len(words) > 1 and length([(" ".join(words), "")]) > width:
        words.pop()
    return " ".join(words)


def percent(value: float | None, width: int, ink: str) -> Spans:
    """Return a percentage, at the right."""
    return number(value, width, ink, "%")


def number(value: float | None, width: int, ink: str = "text", unit: str = "") -> Spans:
    """Return a whole number, at the right."""
    text = NOTHING if value is None else f"{value:.0f}{unit}"
    return [(fit_right(text, width), "muted" if value is None else ink)]


def meter(value: float | None, width: int, ink: str) -> Spans:
    """Return a bar."""
    filled, rest = bar(value, width)
    return [(filled, ink), (rest, "track")]


def temperature(gpu: Readings, width: int) -> Spans:
    """Return the temperature in the tone of its margin."""
    return number(gpu[TEMPERATURE], width, tone_ink(temperature_tone(gpu), "text"), "°C")


def fan(gpu: Readings, width: int) -> Spans:
    """Return the fan's speed."""
    return percent(gpu[FAN], width, "text")


def power(gpu: Readings, width: int = 9) -> Spans:
    """Return draw and limit: 512/700W."""
    draw, limit = gpu[POWER_AVERAGE], gpu[POWER_LIMIT]
    if draw is None:
        return [(fit_right(NOTHING, width), "muted")]
    rest = "W" if limit is None else f"/{limit:.0f}W"
    return [(fit_right(f"{draw:.0f}", width - len(rest)), "text"), (rest, "muted")]


def gibibytes(used: float | None, total: float | None, ink: str = "text") -> Spans:
    """Return memory in GiB, always 12 cells: 40.0/80.0GiB."""
    if used is None:
        return [(fit_right(NOTHING, 12), "muted")]
    whole = "" if total is None else f"/{_gib(total)}"
    return [(fit_right(_gib(used), 9 - len(whole)), ink), (whole, "muted"), ("GiB", "muted")]


def short_gibibytes(used: float | None, width: int, ink: str) -> Spans:
    """Return used memory in GiB without its total: 40.0G."""
    return [(fit_right(NOTHING if used is None else f"{_gib(used)}G", width), "muted" if used is None else ink)]


def memory(gpu: Readings, width: int) -> Spans:
    """Return the bar of the frame buffer with its numbers."""
    used, total = gpu[MEMORY_USED], gpu[MEMORY_TOTAL]
    ink = memory_ink(gpu)
    return [*meter(share(used, total), width - 13, ink), (" ", "text"), *gibibytes(used, total, ink)]


def utilization(gpu: Readings, width: int) -> Spans:
    """Return the bar of GPU utilization with its number."""
    value = gpu[GPU_UTILIZATION]
    ink = utilization_ink(value)
    return [*meter(value, width - 5, ink), *percent(value, 5, ink)]


def free_utilization(gpu: Readings, width: int) -> Spans:
    """Return the utilization of a free GPU: the word instead of its almost empty bar."""
    return [(fit("free", width - 5), "free"), *percent(gpu[GPU_UTILIZATION], 5, "low")]


def utilization_ink(percent: float | None) -> str:
    """Return the ink of a utilization; a bar or plot has one ink as a whole."""
    return load_ink(utilization_load(percent))


def load_ink(load: Load | None) -> str:
    """Return the ink of a load."""
    return "text" if load is None else load.value


def memory_ink(readings: Readings, used: float | None = None) -> str:
    """Return the ink of the used memory, present or ``used``: of the load, or of the danger if it is nearly full."""
    used = readings[MEMORY_USED] if used is None else used
    is_hot = memory_tone(readings) is Tone.HOT
    return "hot" if is_hot else load_ink(memory_load(share(used, readings[MEMORY_TOTAL])))


def sm_active(gpu: Readings, width: int) -> Spans:
    """Return the share of active SMs."""
    return percent(gpu[SM_ACTIVE], width, "text")


def clocks(gpu: Readings, width: int) -> Spans:
    """Return SM and memory clock in MHz."""
    pair = [NOTHING if hertz is None else f"{hertz / 1e6:.0f}" for hertz in (gpu[CLOCK_SM], gpu[CLOCK_MEMORY])]
    ink = "muted" if pair == [NOTHING, NOTHING] else "text"
    return [(fit_right("/".join(pair), width), ink)]


def rate(value: float | None) -> str:
    """Return a rate in five cells, without its unit: 1.2G, 840M."""
    if value is None:
        return NOTHING.rjust(5)
    for unit in ("B", "K", "M", "G"):
        if value < 999.5 or unit == "G":
            break
        value /= 1024
    digits = 1 if value < 99.95 and unit in "MG" else 0
    return f"{value:.{digits}f}{unit}".rjust(5)


def pcie(gpu: Readings, width: int) -> Spans:
    """Return PCIe rates to and from the GPU."""
    return _pair(gpu[PCIE_RX], gpu[PCIE_TX], width)


def nvlink(gpu: Readings, width: int) -> Spans:
    """Return NVLink rates to and from the GPU."""
    return _pair(gpu[NVLINK_RX], gpu[NVLINK_TX], width)


def note(gpu: Readings, width: int) -> Spans:
    """Return why clocks are lowered, after the P-state unless it is P0, the fastest."""
    state, (word, tone) = gpu[PSTATE], throttle(gpu)
    if isinstance(gpu, Gpu) and gpu.xids:
        word, tone = f"Xid {gpu.xids[-1].xid}", Tone.HOT
    slow = f"P{state} " if state and len(word) + 3 <= width else ""
    return [(slow, "muted"), (fit(word, width - len(slow)), tone_ink(tone, "muted"))]


def trouble(gpu: Gpu) -> tuple[str, str] | None:
    """Return a word, the reason and the time for a GPU that does not answer; None if it answers."""
    if gpu.state is GpuState.OK:
        return None
    word, reason = _STATES[gpu.state]
    if gpu.read_s is None:
        return word, reason
    return word, f"since {clock(gpu.read_s)} · {reason}"


def dimmed(spans: Spans) -> Spans:
    """Return the same spans, muted."""
    return [(text, "faint" if ink in {"track", "faint"} else "muted") for text, ink in spans]


def _gib(value: float) -> str:
    number_of = value / 2**30
    return f"{number_of:.1f}" if number_of < 99.95 else f"{number_of:.0f}"


def _pair(first: float | None, second: float | None, width: int) -> Spans:
    ink = "muted" if first is None and second is None else "text"
    return [(fit_right(f"{rate(first)} {rate(second)}", width), ink)]


def clock(time_s: float) -> str:
    """Return a time of day."""
    return time.strftime("%H:%M:%S", time.localtime(time_s))
