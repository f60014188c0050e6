"""A GPU as a card: four plots on fixed scales between a title and a line of facts."""

from collections.abc import Callable
from typing import Any, Final

from msgspec import Struct

from gputop.core.metric import Metric
from gputop.core.metrics import (
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
    POWER_LIMIT_MAX,
    PSTATE,
    SM_ACTIVE,
    TEMPERATURE,
    TEMPERATURE_SLOWDOWN,
)
from gputop.core.plot import area, samples_shown
from gputop.core.sample import Gpu
from gputop.core.tone import memory_tone, share, temperature_tone, throttle
from gputop.core.units import NOTHING, duration_text
from gputop.ui.arrange import card_grid, instance_lines
from gputop.ui.line import Span, Spans, cut, fit, fit_right, length, tone_ink
from gputop.ui.panels import gpu_strip, values
from gputop.ui.view import View

_LABEL: Final = 13  # cells left of a plot
_SEPARATOR: Final = 2


class Plot(Struct, frozen=True):
    """A plot: its value in words, what stands below it, and the value of its upper edge."""

    metric: Metric[Any]
    label: str
    ink: str
    text: Callable[[Gpu], Spans]
    below: Callable[[Gpu], Spans]
    top: Callable[[Gpu], float]


def card(gpu: Gpu, view: View, shape: tuple[int, int, int], *, is_ascii: bool) -> list[tuple[Span, ...]]:
    """Return the lines of a card. ``shape``: its width, the rows of a plot, and the instances to leave room for."""
    width, rows, instances = shape
    trouble, seen = values.trouble(gpu), view.values(gpu)
    inner = width - 4
    body = _plots(seen, view, inner, rows, is_ascii=is_ascii)
    lines = instance_lines(instances, inner)
    parts = [list(spans) for spans in gpu_strip.instance_lines(seen, inner)][:lines]
    body += parts + [[] for _ in range(lines - len(parts))]
    is_dim = view.is_dim(gpu)
    frame = "accent" if view.focus == gpu.index else "faint"
    if trouble is not None:
        body[-1] = [(trouble[1], "hot")]
        frame = "hot"
    framed = [
        (
            ("│ ", frame),
            *(
                values.dimmed(cut(spans, inner))
                if (is_dim and spans is not body[-1]) or (is_dim and not trouble)
                else cut(spans, inner)
            ),
            (" │", frame),
        )
        for spans in body
    ]
    return [_top(gpu, seen, width, frame, trouble), *framed, _bottom(seen, view, width, frame, inner)]


def _plots(gpu: Gpu, view: View, inner: int, rows: int, *, is_ascii: bool) -> list[Spans]:
    side = card_grid(inner + 4)[0]
    cell = (inner - (side - 1) * _SEPARATOR) // side
    lines: list[Spans] = []
    for start in range(0, len(PLOTS), side):
        group = [_plot(plot, gpu, view, (cell, rows), is_ascii=is_ascii) for plot in PLOTS[start : start + side]]
        for row in zip(*group, strict=True):
            spans = row[0]
            for part in row[1:]:
                spans = [*spans, (" " * _SEPARATOR, "text"), *part]
            lines.append(spans)
    return lines


def _plot(plot: Plot, gpu: Gpu, view: View, size: tuple[int, int], *, is_ascii: bool) -> list[Spans]:
    width, rows = size
    cells = width - _LABEL
    series = view.history.series(gpu.uuid, plot.metric.key)
    picture = area(
        series.last(samples_shown(cells)), plot.top(gpu), (cells, rows), count=series.count, is_ascii=is_ascii
    )
    blank: Spans = [(" " * (_LABEL - 1), "text")]
    labels = [[(fit(plot.label, 4), "muted"), *plot.text(gpu)], *([plot.below(gpu)] if rows > 1 else [])]
    labels += [blank] * (rows - len(labels))
    return [[*label, (" ", "text"), (line, plot.ink)] for label, line in zip(labels, picture, strict=True)]


def _top(gpu: Gpu, seen: Gpu, width: int, frame: str, trouble: tuple[str, str] | None) -> tuple[Span, ...]:
    left: Spans = [
        ("╭─ ", frame),
        (str(gpu.index), "title"),
        (" ", "text"),
        (values.short_name(gpu.name), "title"),
        (" ", frame),
    ]
    right: Spans = []
    if trouble is not None:
        right = [(" ", "text"), (f" {trouble[0]} ", "alarm"), (" ", "text")]
    else:
        word, tone = throttle(seen)
        facts = [] if seen[FAN] is None else [(f"fan {seen[FAN]:.0f}%", "muted")]
        if word:
            facts.append((word, tone_ink(tone, "muted")))
        if seen[PSTATE] is not None:
            facts.append((f"P{seen[PSTATE]}", "muted"))
        for fact in facts:
            right += [(" ", "text") if not right else (" · ", "faint"), fact]
        right += [(" ", "text")] if right else []
    return _bordered(left, right, width, frame, ("─", "─╮"))


def _bottom(gpu: Gpu, view: View, width: int, frame: str, inner: int) -> tuple[Span, ...]:
    side = card_grid(width)[0]
    cells = (inner - (side - 1) * _SEPARATOR) // side - _LABEL
    span = duration_text(samples_shown(cells) * view.interval_s)
    right: Spans = [(f" {span} ", "muted")]
    left: Spans = [("╰─", frame)]
    for label, text in _facts(gpu):
        part: Spans = [(f" {label} ", "muted"), (text, "text"), (" ", "text")]
        if length(left) + length(part) + length(right) + 4 <= width:
            left += ([("─", frame)] if len(left) > 1 else []) + part
    return _bordered(left, right, width, frame, ("─", "─╯"))


def _facts(gpu: Gpu) -> list[tuple[str, str]]:
    facts = []
    if gpu[SM_ACTIVE] is not None:
        facts.append(("SM", f"{gpu[SM_ACTIVE]:3.0f}%"))
    if gpu[CLOCK_SM] is not None:
        facts.append(("clock", f"{gpu[CLOCK_SM] / 1e6:4.0f}MHz"))  # type: ignore[operator]
    for label, first, second in (("PCIe", PCIE_RX, PCIE_TX), ("NVLink", NVLINK_RX, NVLINK_TX)):
        if gpu[first] is not None or gpu[second] is not None:
            facts.append((label, f"↓{values.rate(gpu[first])} ↑{values.rate(gpu[second])}"))
    return facts


def _bordered(left: Spans, right: Spans, width: int, frame: str, signs: tuple[str, str]) -> tuple[Span, ...]:
    rule, corner = signs
    room = width - length(right) - len(corner)
    if length(left) > room:
        left = cut(left, max(0, room))
    return (*left, (rule * (room - length(left)), frame), *right, (corner, frame))


def _value(number: float | None, unit: str, ink: str) -> Spans:
    text = NOTHING if number is None else f"{number:.0f}{unit}"
    return [(fit_right(text, _LABEL - 5), "muted" if number is None else ink)]


def _below(text: str) -> Spans:
    return [(fit_right(text, _LABEL - 1), "muted")]


def _memory_text(gpu: Gpu) -> Spans:
    return _value(share(gpu[MEMORY_USED], gpu[MEMORY_TOTAL]), "%", tone_ink(memory_tone(gpu), "title"))


def _memory_below(gpu: Gpu) -> Spans:
    return values.gibibytes(gpu[MEMORY_USED], gpu[MEMORY_TOTAL])


def _power_top(gpu: Gpu) -> float:
    return gpu[POWER_LIMIT] or gpu[POWER_LIMIT_MAX] or 0.0


def _temperature_top(gpu: Gpu) -> float:
    return float(gpu[TEMPERATURE_SLOWDOWN] or 100)


PLOTS: Final = (
    Plot(
        GPU_UTILIZATION, "UTIL", "utilization", lambda g: _value(g[GPU_UTILIZATION], "%", "title"),
        lambda g: _below("" if g[SM_ACTIVE] is None else f"SM {g[SM_ACTIVE]:.0f}%"), lambda _: 100.0,
    ),
    Plot(MEMORY_USED, "MEM", "memory", _memory_text, _memory_below, lambda g: float(g[MEMORY_TOTAL] or 0)),
    Plot(
        POWER_AVERAGE, "PWR", "power", lambda g: _value(g[POWER_AVERAGE], "W", "title"),
        lambda g: _below("" if g[POWER_LIMIT] is None else f"of {g[POWER_LIMIT]:.0f}W"), _power_top,
    ),
    Plot(
        TEMPERATURE, "TEMP", "temperature", lambda g: _value(g[TEMPERATURE], "°C", tone_ink(temperature_tone(g), "title")),
        lambda g: _below("" if g[TEMPERATURE_SLOWDOWN] is None else f"of {g[TEMPERATURE_SLOWDOWN]}°C"), _temperature_top,
    ),
)  # fmt: skip
