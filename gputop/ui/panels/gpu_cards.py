"""GPU card: four plots on fixed scales between a title and a line of facts."""

from collections.abc import Callable
from typing import Any, Final

from msgspec import Struct

from gputop.core.model.catalogue import (
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
from gputop.core.model.metric import Metric
from gputop.core.model.sample import Gpu
from gputop.core.model.tone_rules import IDLE, temperature_tone, throttle
from gputop.core.model.units import duration_text, share
from gputop.core.text.fit import fit, fit_right
from gputop.ui.panels import gpu_strip, values
from gputop.ui.panels.findings import mark, mark_ink
from gputop.ui.render.layout import instance_lines
from gputop.ui.render.line import Span, Spans, cut, length, tone_ink
from gputop.ui.state.view import View

_LABEL: Final = 13  # cells left of a plot
_SEPARATOR: Final = 2


class Shape(Struct, frozen=True):
    """Size of a card: its width, the number of plots side by side, and the cells of each."""

    width: int
    inner: int
    side: int
    cell: int
    rows: int
    instance_lines: int


class Plot(Struct, frozen=True):
    """A plot: its value as text, the text below it, and the value of its upper edge.

    ``load``: the ink for a mean value of the GPU, instead of that of the metric.
    """

    metric: Metric[Any]
    label: str
    ink: str
    text: Callable[[Gpu], Spans]
    below: Callable[[Gpu], str]
    top: Callable[[Gpu], float]
    load: Callable[[Gpu, float], str] | None = None


def shape_of(width: int, plots: tuple[int, int], instances: int) -> Shape:
    """Return the shape of a card with room for this number of instances. ``plots``: side by side, and their rows."""
    inner, (side, rows) = width - 4, plots
    cell = (inner - (side - 1) * _SEPARATOR) // side
    return Shape(width, inner, side, cell, rows, instance_lines(instances, inner))


def card(gpu: Gpu, view: View, shape: Shape) -> list[tuple[Span, ...]]:
    """Return the lines of a card. A GPU that does not answer shows its last values in grey, and the reason."""
    trouble, seen = values.trouble(gpu), view.values(gpu)
    parts = gpu_strip.instance_lines(seen, shape.inner)[: shape.instance_lines]
    blank = [tuple[Span, ...]()] * (shape.instance_lines - len(parts))
    body = [cut(list(spans), shape.inner) for spans in (*_plots(seen, view, shape), *parts, *blank)]
    frame = "accent" if view.focus == gpu.index else "faint"
    if view.is_dim(gpu):
        body = [values.dimmed(spans) for spans in body]
    if trouble is not None:
        frame = "hot"
    framed = [(("│ ", frame), *spans, (" │", frame)) for spans in body]
    if trouble is None:
        return [
            _title(gpu, view, shape.width, frame, _state(seen, is_free=view.is_free(gpu))),
            *framed,
            _facts_line(seen, view, shape, frame),
        ]
    bottom = cut([("╰─", frame), (f" {trouble[1]} ", frame)], min(shape.width - 2, 4 + len(trouble[1])))
    lower = _bordered(bottom, [], shape.width, frame, "╯")
    return [_title(gpu, view, shape.width, frame, [(f" {trouble[0]} ", "alarm")]), *framed, lower]


def _plots(gpu: Gpu, view: View, shape: Shape) -> list[tuple[Span, ...]]:
    lines = []
    for start in range(0, len(PLOTS), shape.side):
        group = [_plot(plot, gpu, view, shape) for plot in PLOTS[start : start + shape.side]]
        for row in zip(*group, strict=True):
            spans = row[0]
            for part in row[1:]:
                spans = [*spans, (" " * _SEPARATOR, "text"), *part]
            lines.append(tuple(spans))
    return lines


def _plot(plot: Plot, gpu: Gpu, view: View, shape: Shape) -> list[Spans]:
    """Return the rows of a plot with its label and value at the left."""
    cells = shape.cell - _LABEL
    picture = view.plots.draw(gpu.uuid, plot.metric.key, plot.top(gpu), (cells, shape.rows))
    ink = ink_of(plot, gpu, view, cells)
    labels: list[Spans] = [[(fit(plot.label, 4), "muted"), *plot.text(gpu)]]
    below = plot.below(gpu) if shape.rows > 1 else ""
    labels += [[(fit_right(text, _LABEL - 1), "muted")] for text in (below, *[""] * shape.rows)]
    return [[*label, (" ", "text"), (line, ink)] for label, line in zip(labels, picture, strict=False)]


def ink_of(plot: Plot, gpu: Gpu, view: View, cells: int) -> str:
    """Return the ink of a plot. The mean of its values decides, so that a load near a limit does not repaint it."""
    mean = view.plots.mean(gpu.uuid, plot.metric.key, cells) if plot.load is not None else None
    return plot.ink if mean is None or plot.load is None else plot.load(gpu, mean)


def _title(gpu: Gpu, view: View, width: int, frame: str, right: Spans) -> tuple[Span, ...]:
    name = mark(gpu, view) + str(gpu.index)
    left: Spans = [("╭─ ", frame), (name, mark_ink(gpu, view)), (" ", frame)]
    room = width - length(left) - length(right) - 7
    named: Spans = [(values.name_within(gpu.name, room), "title")]
    left += [*(named if length(named) <= room else cut(named, max(0, room))), (" ", frame)]
    return _bordered(left, [(" ", "text"), *right, (" ", "text")] if right else [], width, frame, "╮")


def _state(gpu: Gpu, *, is_free: bool) -> Spans:
    """Return fan, reason of lowered clocks and P-state as far as they are known, and whether the GPU is free."""
    word, tone = throttle(gpu)
    parts: Spans = []
    fan, state = gpu[FAN], gpu[PSTATE]
    if fan is not None:
        parts.append((f"fan {fan:3.0f}%", "muted"))
    if gpu.xids:
        parts.append((f"Xid {gpu.xids[-1].xid}", "hot"))
    if word and not (is_free and word == IDLE):
        parts.append((word, tone_ink(tone, "muted")))
    if state:  # P0, the fastest, is the usual one
        parts.append((f"P{state}", "muted"))
    if is_free:
        parts.append(("free", "free"))
    return [span for part in parts for span in ((" · ", "faint"), part)][1:]


def _facts_line(gpu: Gpu, view: View, shape: Shape, frame: str) -> tuple[Span, ...]:
    """Return the lower edge: values without a plot, and the time span of the plots."""
    samples = view.plots.samples_shown(gpu.uuid, GPU_UTILIZATION.key, shape.cell - _LABEL)
    span = duration_text(view.history.span_s(samples, view.interval_s))
    right: Spans = [(f" last {span} ", "muted")]
    left: Spans = [("╰─", frame)]
    for label, text in _facts(gpu, shape):
        part: Spans = [(f" {label} ", "muted"), (text, "muted" if view.is_dim(gpu) else "text"), (" ", "text")]
        if length(left) + length(part) + length(right) + 4 <= shape.width:
            left += ([("─", frame)] if len(left) > 1 else []) + part
    return _bordered(left, right, shape.width, frame, "╯")


def _facts(gpu: Gpu, shape: Shape) -> list[tuple[str, str]]:
    facts = []
    sm_active, clock = gpu[SM_ACTIVE], gpu[CLOCK_SM]
    if sm_active is not None and shape.rows == 1:
        facts.append(("SM", f"{sm_active:3.0f}%"))
    if clock is not None:
        facts.append(("SM clock", f"{clock / 1e6:4.0f}MHz"))
    for label, first, second in (("PCIe", PCIE_RX, PCIE_TX), ("NVLink", NVLINK_RX, NVLINK_TX)):
        if gpu[first] is not None or gpu[second] is not None:
            facts.append((label, f"↓{values.rate(gpu[first])} ↑{values.rate(gpu[second])}"))
    return facts


def _bordered(left: Spans, right: Spans, width: int, frame: str, corner: str) -> tuple[Span, ...]:
    room = width - length(right) - 2
    if length(left) > room:
        left = cut(left, max(0, room))
    return (*left, ("─" * (room - length(left)), frame), *right, ("─" + corner, frame))


def _value(number: float | None, unit: str, ink: str = "title") -> Spans:
    return values.number(number, _LABEL - 5, ink, unit)


def _known(value: float | None, otherwise: float) -> float:
    return otherwise if value is None else value


def _limit(label: str, number: float | None, unit: str) -> str:
    return "" if number is None else f"{label} {number:.0f}{unit}"


PLOTS: Final = (
    Plot(
        GPU_UTILIZATION, "UTIL", "utilization",
        lambda g: _value(g[GPU_UTILIZATION], "%", values.utilization_ink(g[GPU_UTILIZATION])),
        lambda g: _limit("SM", g[SM_ACTIVE], "%"), lambda _: 100.0,
        load=lambda _, mean: values.utilization_ink(mean),
    ),
    Plot(
        MEMORY_USED, "MEM", "memory",
        lambda g: _value(share(g[MEMORY_USED], g[MEMORY_TOTAL]), "%", values.memory_ink(g)),
        lambda g: "".join(text for text, _ in values.gibibytes(g[MEMORY_USED], g[MEMORY_TOTAL])),
        lambda g: _known(g[MEMORY_TOTAL], 0),
        load=values.memory_ink,
    ),
    Plot(
        POWER_AVERAGE, "PWR", "power", lambda g: _value(g[POWER_AVERAGE], "W"),
        lambda g: _limit("of", g[POWER_LIMIT], "W"), lambda g: _known(g[POWER_LIMIT], _known(g[POWER_LIMIT_MAX], 0)),
    ),
    Plot(
        TEMPERATURE, "TEMP", "temperature",
        lambda g: _value(g[TEMPERATURE], "°C", tone_ink(temperature_tone(g), "title")),
        lambda g: _limit("of", g[TEMPERATURE_SLOWDOWN], "°C"), lambda g: _known(g[TEMPERATURE_SLOWDOWN], 100),
    ),
)  # fmt: skip
