"""The plot docs/growth.svg: how cost grows, one panel per curve of bench/growth.py.

Both axes are logarithmic with the same scale, so linear growth rises at 45 degrees. The colours are readable on white
and on black, because a picture in a document does not know its background.
"""

from collections.abc import Iterator, Mapping, Sequence
from html import escape
from itertools import groupby
from math import floor, log10
from pathlib import Path
from typing import Any, Final

from generate_performance import kept

PICTURE: Final = Path(__file__).parent / "growth.svg"
Curve = Mapping[str, Any]  # what bench/growth.py writes of a curve
_DECADE: Final = 150  # pixels
_LETTER: Final = 6.4  # pixels, about
_LEFT, _TOP, _GAP, _BELOW = 48, 58, 44, 34
_STYLE: Final = """
  text { font: 11px ui-sans-serif, system-ui, "Segoe UI", Helvetica, Arial, sans-serif; fill: #737b85 }
  .what { font-weight: 600 } .cost { font-weight: 600; fill: #1f7fe0 } .middle { text-anchor: middle }
  .end { text-anchor: end } .grid { stroke: #737b85; stroke-opacity: .25 } path { fill: none }
  .linear { stroke: #737b85; stroke-dasharray: 2 4; stroke-linecap: round }
  .curve { stroke: #1f7fe0; stroke-width: 2; stroke-linejoin: round } circle { fill: #1f7fe0 }
"""


def picture(growth: Sequence[Curve]) -> str:
    """Return the SVG of all curves; curves with the same unit share a row and its scale."""
    shown = [curve for curve in map(_positive, growth) if curve["points"]]
    rows = [list(row) for _, row in groupby(shown, key=lambda curve: curve["unit"])]
    parts, top, width = [], 0.0, 0.0
    for row in rows:
        scale = _Scale([point["cost"] for curve in row for point in curve["points"]], top + _TOP)
        left = float(_LEFT)
        parts += [_text(left, top + _TOP - 36, row[0]["unit"])]
        for number, curve in enumerate(row):
            panel = _Panel(curve, left, scale)
            parts += panel.lines(with_costs=not number)
            left = max(panel.right, left + _LETTER * len(curve["what"])) + _GAP
        top, width = scale.bottom + _BELOW, max(width, left)
    size = f'viewBox="0 0 {width:.0f} {top:.0f}" width="{width:.0f}" height="{top:.0f}"'
    title = "How the cost of gputop grows, compared with linear growth"
    head = f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" aria-label="{title}">\n<style>{_STYLE}</style>'
    return "\n".join([head, *parts, "</svg>\n"])


def current() -> str:
    """Return the plot of the latest stored measurements."""
    return picture(kept()["growth"])


def _positive(curve: Curve) -> Curve:
    """Return the curve without zero costs, which a logarithmic axis cannot show."""
    return {**curve, "points": [point for point in curve["points"] if point["cost"] > 0]}


class _Scale:
    """The vertical axis: from the round number below all costs to the one above."""

    def __init__(self, costs: Sequence[float], top: float) -> None:
        decades = range(floor(log10(min(costs))), floor(log10(max(costs))) + 2)
        ticks = [step * 10.0**decade for decade in decades for step in (1, 2, 5)]
        self.least = max(tick for tick in ticks if tick <= min(costs))
        self.most = min(tick for tick in ticks if tick >= max(costs))
        self.ticks = [tick for tick in ticks if self.least <= tick <= self.most]
        self.top, self.bottom = top, top + _DECADE * log10(self.most / self.least)

    def y(self, cost: float) -> float:
        """Return the position of a cost."""
        return self.bottom - _DECADE * log10(cost / self.least)


class _Panel:
    """One curve, on the scale of its row."""

    def __init__(self, curve: Curve, left: float, scale: _Scale) -> None:
        self._curve, self._left, self._scale = curve, left, scale
        self.right = self._x(curve["points"][-1]["amount"])

    def _x(self, amount: float) -> float:
        return self._left + _DECADE * log10(amount / self._curve["points"][0]["amount"])

    def lines(self, *, with_costs: bool) -> Iterator[str]:
        """Return the panel as SVG: grid, linear growth, curve."""
        scale, points = self._scale, self._curve["points"]
        yield _text(self._left, scale.top - 14, self._curve["what"], "what")
        for tick in scale.ticks:
            yield f'<path class="grid" d="M{self._left:.1f} {scale.y(tick):.1f}H{self.right:.1f}"/>'
            if with_costs:
                yield _text(self._left - 10, scale.y(tick) + 4, f"{tick:g}", "end")
        yield from self._linear(points[0]["cost"])
        dots = [(self._x(point["amount"]), scale.y(point["cost"])) for point in points]
        yield f'<path class="curve" d="M{" L".join(f"{x:.1f} {y:.1f}" for x, y in dots)}"/>'
        for point, (x, y) in zip(points, dots, strict=True):
            yield f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3"/>'
            yield _text(x, y + 17, _short(point["cost"]), "cost middle")
            yield _text(x, scale.bottom + 18, point["at"], "middle")

    def _linear(self, first: float) -> Iterator[str]:
        """Return the line of linear growth, up to the edge of the panel."""
        y = self._scale.y(first)
        length = min(self.right - self._left, y - self._scale.top)
        x, middle = self._left, length * 0.6
        yield f'<path class="linear" d="M{x:.1f} {y:.1f}l{length:.1f} {-length:.1f}"/>'
        turned = f"translate({x + middle:.1f} {y - middle - 6:.1f}) rotate(-45)"
        yield f'<g transform="{turned}">{_text(0, 0, "linear", "middle")}</g>'


def _short(cost: float) -> str:
    return f"{cost:.0f}" if cost >= 10 else f"{cost:#.2g}"


def _text(x: float, y: float, words: str, kind: str = "") -> str:
    named = f' class="{kind}"' if kind else ""
    return f'<text{named} x="{x:.1f}" y="{y:.1f}">{escape(words)}</text>'
