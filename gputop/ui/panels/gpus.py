"""GPU panel: the lines of all GPUs in the given shape."""

from collections.abc import Sequence
from itertools import zip_longest
from textwrap import wrap
from typing import TypeAlias

from textual import events

from gputop.core.model.sample import Gpu
from gputop.core.query.selection import why_no_gpus
from gputop.ui.panels import gpu_cards, gpu_lines, gpu_strip
from gputop.ui.render.layout import Kind, Plan, column_width
from gputop.ui.render.line import BLANK, Line, Span
from gputop.ui.render.line_widget import FastLines
from gputop.ui.state.view import View

Places: TypeAlias = list[int | None]  # the GPUs that share a line evenly, by index


class GpuPanel(FastLines):
    """Shows the GPUs. A click shows a GPU alone."""

    _places: Sequence[Places] = ()

    def show(self, view: View, plan: Plan, width: int) -> None:
        """Draw the view in this shape; the panel may not have that width yet."""
        lines, self._places = gpu_panel(view, plan, width)
        self.draw(lines, is_grey=view.is_grey)

    async def on_click(self, event: events.Click) -> None:
        """Show the GPU under the mouse alone, or all again."""
        if event.y < len(self._places) and self._places[event.y]:
            row = self._places[event.y]
            index = row[min(len(row) - 1, event.x * len(row) // max(1, self.size.width))]
            if index is not None:
                await self.app.run_action(f"view.focus_gpu({index})")


def gpu_panel(view: View, plan: Plan, width: int) -> tuple[list[Line], list[Places]]:
    """Return the lines, and for each line the indices of its GPUs, which share it evenly."""
    if not view.gpus:
        words = view.waiting if view.frame is None else why_no_gpus(view.frame)
        parts = wrap(words, max(20, width - 4)) if plan.height > 1 else [words]
        return [Line((("  " + part, "muted"),)) for part in parts], []
    if plan.kind is Kind.CARDS:
        return _cards(view, plan, width)
    if plan.kind is Kind.LINES:
        return _lines(view, plan, width)
    if plan.kind is Kind.BLOCKS:
        lines = gpu_strip.block_lines(view, plan.columns, width)
        rows = len(lines) - 1
        return lines, [[], *(_filled(view.shown[row::rows], plan.columns) for row in range(rows))]
    size = width, plan.height
    return gpu_strip.strip_lines(view, plan.columns, size), gpu_strip.strip_places(view, plan.columns, size)


def _filled(row: Sequence[Gpu], columns: int) -> Places:
    """Return the indices, and None for the columns without a GPU in the last row."""
    return [*(gpu.index for gpu in row), *[None] * (columns - len(row))]


def _lines(view: View, plan: Plan, width: int) -> tuple[list[Line], list[Places]]:
    shape = gpu_lines.shape([view.values(gpu) for gpu in view.shown], width)
    lines, places = [gpu_lines.titles(shape)], [Places()]
    for gpu in view.shown:
        lines.append(Line(gpu_lines.line(gpu, view, shape, width)))
        if plan.has_instances:
            inner = gpu_strip.instance_lines(view.values(gpu), width - 4)
            lines += [
                Line((("   └ " if n == len(inner) - 1 else "   ├ ", "faint"), *spans)) for n, spans in enumerate(inner)
            ]
        places += [[gpu.index]] * (len(lines) - len(places))
    return lines, places


def _cards(view: View, plan: Plan, width: int) -> tuple[list[Line], list[Places]]:
    card = column_width(width, plan.columns)
    lines: list[Line] = []
    places: list[Places] = []
    for start in range(0, len(view.shown), plan.columns):
        row = view.shown[start : start + plan.columns]
        tallest = max(len(gpu.instances) for gpu in row) if plan.has_instances else 0
        shape = gpu_cards.shape_of(card, (plan.side, plan.plot_rows), tallest)
        cards = [gpu_cards.card(gpu, view, shape) for gpu in row]
        for parts in zip_longest(*cards, fillvalue=BLANK.spans):
            lines.append(Line(_side_by_side(parts)))
            places.append(_filled(row, plan.columns))
    return lines, places


def _side_by_side(parts: tuple[tuple[Span, ...], ...]) -> tuple[Span, ...]:
    spans = list(parts[0])
    for part in parts[1:]:
        spans.append((" ", "text"))
        spans += part
    return tuple(spans)
