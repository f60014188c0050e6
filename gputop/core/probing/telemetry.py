"""Judgement of the driver's readings under load: power, temperature and clocks during the soak, the PCIe link."""

from collections.abc import Iterator, Sequence
from statistics import median
from typing import Any, Final

from gputop.core.model.catalogue import (
    CLOCK_MEMORY,
    CLOCK_SM,
    CLOCK_SM_MAX,
    EVENT_REASONS,
    FAN,
    GPU_UTILIZATION,
    MEMORY_TEMPERATURE,
    PCIE_GENERATION,
    PCIE_GENERATION_MAX,
    PCIE_WIDTH,
    PCIE_WIDTH_MAX,
    POWER_AVERAGE,
    POWER_INSTANT,
    POWER_LIMIT,
    POWER_LIMIT_DEFAULT,
    TEMPERATURE,
    TEMPERATURE_MARGIN,
    THROTTLED_HW_THERMAL,
    THROTTLED_POWER_BRAKE,
    THROTTLED_POWER_CAP,
    THROTTLED_SW_THERMAL,
)
from gputop.core.model.metric import Metric
from gputop.core.model.sample import Gpu
from gputop.core.probing.result import Figure, Scalar, TestFinding, TestStatus

_HARD: Final = ("hardware slowdown", "hardware thermal", "power brake")
_SOFT: Final = "software thermal"
_IN_A_ROW: Final = 3
_LEAST_POINTS: Final = 5
_LEAST_SHARE: Final = 0.02
_SOFT_SHARE: Final = 0.20
_MARGIN_C: Final = 5
_SETTLED_C_PER_MIN: Final = 1.0
_SETTLES_S: Final = 240.0  # a soak that is shorter ends before any GPU has settled
_MOST_POINTS: Final = 2000
_LOADED_SHARE: Final = 0.75  # of the median draw; single readings under load vary by a fifth
_THROTTLED: Final[tuple[Metric[float], ...]] = (
    THROTTLED_POWER_CAP, THROTTLED_SW_THERMAL, THROTTLED_HW_THERMAL, THROTTLED_POWER_BRAKE,
)  # fmt: skip
_SERIES: Final[dict[str, Metric[Any]]] = {
    "power_w": POWER_INSTANT, "power_average_w": POWER_AVERAGE, "temperature_c": TEMPERATURE,
    "memory_temperature_c": MEMORY_TEMPERATURE, "margin_c": TEMPERATURE_MARGIN, "clock_sm_hz": CLOCK_SM,
    "clock_memory_hz": CLOCK_MEMORY, "fan_percent": FAN, "utilization_percent": GPU_UTILIZATION,
}  # fmt: skip


def soak(samples: Sequence[Gpu]) -> tuple[tuple[Figure, ...], tuple[TestFinding, ...]]:
    """Judge power, temperature and clocks under load, from samples of the whole soak."""
    samples = _under_load(samples)
    late = samples[len(samples) // 2 :]
    slope = _slope(samples[-(len(samples) // 3) :])
    figures = [*_figures(late), *_share(late), *_throttled(samples)]
    if slope is not None:
        figures.append(Figure(name="temperature_slope", value=slope, unit="°C/min"))
    findings = [*_throttling(samples), *_power(late), *_heat(late), *_unsettled(samples, slope)]
    return tuple(figures), tuple(findings)


def _under_load(samples: Sequence[Gpu]) -> Sequence[Gpu]:
    """Return the samples without the tail that draws much less, while the last product is compared."""
    draws = [_draw_w(gpu) for gpu in samples]
    known = [draw for draw in draws if draw is not None]
    least_w = _LOADED_SHARE * median(known) if known else 0.0
    return samples[: next((n for n in range(len(draws), 0, -1) if (draws[n - 1] or least_w) >= least_w), 0)]


def _draw_w(gpu: Gpu) -> float | None:
    """Return the power of this moment where the board reports it: the average lags by a second."""
    now = gpu[POWER_INSTANT]
    return gpu[POWER_AVERAGE] if now is None else now


def series(samples: Sequence[Gpu]) -> dict[str, list[Scalar]]:
    """Return the readings for a plot: seconds since the first sample, then one list per reading."""
    held = samples[:: max(1, -(-len(samples) // _MOST_POINTS))]
    if not held:
        return {}
    begun_s = held[0].read_s or 0.0
    found: dict[str, list[Scalar]] = {"time_s": [round((gpu.read_s or begun_s) - begun_s, 2) for gpu in held]}
    for name, metric in _SERIES.items():
        found[name] = [gpu[metric] for gpu in held]
    found["reasons"] = [", ".join(_reasons(gpu)) for gpu in held]
    return {name: values for name, values in found.items() if any(value is not None for value in values)}


def _reasons(gpu: Gpu) -> tuple[str, ...]:
    return gpu[EVENT_REASONS] or ()


def negotiated(samples: Sequence[Gpu]) -> tuple[int | None, int | None]:
    """Return the best generation and lanes of the PCIe link, which is slower when idle."""
    generations = [value for gpu in samples if (value := gpu[PCIE_GENERATION]) is not None]
    widths = [value for gpu in samples if (value := gpu[PCIE_WIDTH]) is not None]
    return max(generations, default=None), max(widths, default=None)


def link(samples: Sequence[Gpu]) -> tuple[TestFinding, ...]:
    """Judge the PCIe link by samples taken during copies."""
    if not samples:
        return ()
    last, found = samples[-1], []
    pairs = zip(("generation", "width"), negotiated(samples), (PCIE_GENERATION_MAX, PCIE_WIDTH_MAX), strict=True)
    for name, best, metric in pairs:
        most = last[metric]
        if best is not None and most is not None and best < most:
            text = f"the PCIe link ran at {name} {best} under load; the board and the slot support {most}"
            found.append(TestFinding(f"link.{name}", TestStatus.WARN, text, {"value": best, "most": most}))
    return tuple(found)


def _figures(late: Sequence[Gpu]) -> Iterator[Figure]:
    rows: tuple[tuple[str, Metric[Any], str], ...] = (
        ("power", POWER_AVERAGE, "W"), ("clock", CLOCK_SM, "Hz"), ("temperature", TEMPERATURE, "°C"),
    )  # fmt: skip
    for name, metric, unit in rows:
        values = [float(value) for gpu in late if (value := gpu[metric]) is not None]
        if values:
            yield Figure(name=name, value=median(values), unit=unit, n=len(values))


def _share(late: Sequence[Gpu]) -> Iterator[Figure]:
    """Yield the power draw as a share of the limit."""
    draws, limit = _draws_and_limit(late)
    if draws and limit:
        yield Figure(name="power_reached", value=100 * median(draws) / limit, unit="%", n=len(draws))


def _draws_and_limit(late: Sequence[Gpu]) -> tuple[list[float], float | None]:
    draws = [draw for gpu in late if (draw := gpu[POWER_AVERAGE]) is not None]
    return draws, next((limit for gpu in reversed(late) if (limit := gpu[POWER_LIMIT])), None)


def _throttled(samples: Sequence[Gpu]) -> Iterator[Figure]:
    """Yield the share of time with reduced clocks, by reason, from the driver's own counters; nothing if zero."""
    if len(samples) < 2:
        return
    seconds = (samples[-1].read_s or 0.0) - (samples[0].read_s or 0.0)
    for metric in _THROTTLED:
        was, is_ = samples[0][metric], samples[-1][metric]
        if was is not None and is_ is not None and is_ > was and seconds > 0:
            name = metric.key.removesuffix("_s")
            yield Figure(name=name, value=min(100.0, 100 * (is_ - was) / seconds), unit="%")


def _slope(samples: Sequence[Gpu]) -> float | None:
    """Return the temperature's rise per minute, as a least-squares slope; None with too few points."""
    held = [(gpu.read_s / 60, t) for gpu in samples if gpu.read_s and (t := gpu[TEMPERATURE]) is not None]
    if len(held) < _LEAST_POINTS:
        return None
    x0, y0 = (sum(column) / len(held) for column in zip(*held, strict=True))
    square = sum((x - x0) ** 2 for x, _ in held)
    return sum((x - x0) * (y - y0) for x, y in held) / square if square else None


def _unsettled(samples: Sequence[Gpu], slope: float | None) -> Iterator[TestFinding]:
    seconds = (samples[-1].read_s or 0.0) - (samples[0].read_s or 0.0) if samples else 0.0
    if slope is not None and slope > _SETTLED_C_PER_MIN and seconds >= _SETTLES_S:
        text = f"temperature still rose by {slope:.1f} °C per minute at the end: run a longer soak"
        yield TestFinding("soak.not_settled", TestStatus.WARN, text, {"slope": slope})


def _throttling(samples: Sequence[Gpu]) -> Iterator[TestFinding]:
    for reason in (*_HARD, _SOFT):
        marks = [reason in _reasons(gpu) for gpu in samples]
        share = sum(marks) / len(marks) if marks else 0.0
        if share < _LEAST_SHARE or not _has_run(marks):
            continue
        status = TestStatus.FAIL if reason in _HARD or share > _SOFT_SHARE else TestStatus.WARN
        text = f"clocks reduced ({reason}) during {share:.0%} of the soak"
        yield TestFinding(f"soak.{reason.replace(' ', '_')}", status, text, {"share": share})


def _has_run(marks: Sequence[bool]) -> bool:
    return any(all(marks[at : at + _IN_A_ROW]) for at in range(len(marks) - _IN_A_ROW + 1))


def _power(late: Sequence[Gpu]) -> Iterator[TestFinding]:
    draws, limit = _draws_and_limit(late)
    if not draws or limit is None:
        return
    usual = late[-1][POWER_LIMIT_DEFAULT]
    is_lowered = usual is not None and limit < usual
    if is_lowered:
        text = f"power limit is {limit:.0f} W, default is {usual:.0f} W"
        yield TestFinding("soak.power_limit_lowered", TestStatus.WARN, text)
    share = median(draws) / limit
    if share >= 0.90:
        return
    clocks = [clock for gpu in late if (clock := gpu[CLOCK_SM])]
    most = late[-1][CLOCK_SM_MAX]
    is_capped = any("power cap" in _reasons(gpu) for gpu in late)
    is_slow = bool(clocks and most and median(clocks) < 0.9 * most) and not is_capped
    status = TestStatus.FAIL if share < 0.75 and is_slow and not is_lowered else TestStatus.WARN
    text = f"drew only {share:.0%} of its {limit:.0f} W limit under full load"
    yield TestFinding("soak.power", status, text, {"share": share, "limit_w": limit})


def _heat(late: Sequence[Gpu]) -> Iterator[TestFinding]:
    margins = [margin for gpu in late if (margin := gpu[TEMPERATURE_MARGIN]) is not None]
    if margins and min(margins) < _MARGIN_C:
        yield TestFinding("soak.margin", TestStatus.WARN, f"only {min(margins)} °C below its slowdown temperature")
