"""Plot over the full width of a page, with its name, value and limit at the left."""

from collections.abc import Sequence
from math import isnan
from typing import Final

from msgspec import Struct

from gputop.core.text.plot import area
from gputop.ui.render.line import Line, Span, Spans, cut

LABEL: Final = 16


class Band(Struct, frozen=True):
    """A plot. ``labels``: a line each. ``values``: one per half cell; ``top``: the value of its upper edge.

    ``why``: the reason why there are no values. ``cursor``: the column of a cursor.
    """

    labels: Sequence[Spans]
    values: Sequence[float]
    top: float
    ink: str
    why: str = ""
    cursor: int | None = None


def band_lines(band: Band, size: tuple[int, int], *, is_ascii: bool) -> list[Line]:
    """Return the rows of a plot of this size, without its labels."""
    width, rows = size
    drawn: list[Span] = [(row, band.ink) for row in area(band.values, band.top, size, count=0, is_ascii=is_ascii)]
    if band.why and all(map(isnan, band.values)):
        drawn[0] = (band.why[:width].ljust(width), "muted")
    labels = [*band.labels, *[list[Span]()] * rows]
    return [Line((*cut(label, LABEL), *_marked(row, band.cursor))) for label, row in zip(labels, drawn, strict=False)]


def _marked(row: Span, at: int | None) -> tuple[Span, ...]:
    """Return a row of a plot with the cursor in it."""
    text, ink = row
    return (row,) if at is None else ((text[:at], ink), ("│", "title"), (text[at + 1 :], ink))


def cells_of(width: int) -> int:
    """Return the cells of a plot on a page of a width."""
    return max(1, width - LABEL)
