"""Plots of a history page: curves one above the other on one axis of time, with a cursor."""

import time
from collections.abc import Sequence
from math import isnan
from typing import Final, NamedTuple

from msgspec import Struct

from gputop.core.model.metric import Unit
from gputop.core.model.units import NOTHING, duration_text, value_text
from gputop.core.recording.look import column_of, ticks
from gputop.core.recording.window import Times, Window
from gputop.core.text.fit import fit, fit_right
from gputop.ui.panels.band import LABEL, Band, band_lines
from gputop.ui.panels.values import clock
from gputop.ui.render.line import Line, Spans

_TICK: Final = 14  # cells
_MOST_ROWS: Final = 10
_DAYS_S: Final = 2 * 86_400.0  # from here on, a day says more than a time of day


class Curve(Struct, frozen=True):
    """A series to plot. ``why``: the reason for its absence."""

    name: str
    values: Sequence[float]
    unit: Unit
    ink: str
    top: float
    why: str = ""


class Picture(NamedTuple):
    """The times and the room of plots; ``cursor``: its column."""

    times: Times
    window: Window
    size: tuple[int, int]
    cursor: int | None


def plots(curves: Sequence[Curve], of: Picture, *, is_ascii: bool) -> list[Line]:
    """Return the curves one above the other, each with its name, its value and its limit."""
    cells, room = of.size
    size = cells, max(1, min(_MOST_ROWS, room // max(1, len(curves))))
    lines: list[Line] = []
    for curve in curves:
        spread = of.times.spread(curve.values, of.window, 2 * cells)
        at = value_read(curve, spread, of.cursor)
        labels: list[Spans] = [
            [
                (fit(curve.name, 6), "muted"),
                (fit_right(curve_text(at, curve.unit), LABEL - 7), "muted" if at is None else "title"),
            ],
            [(fit_right(f"of {curve_text(curve.top, curve.unit)}", LABEL - 1), "faint")],
        ]
        band = Band(labels, spread, curve.top, curve.ink, curve.why or "no values in this time", of.cursor)
        lines += band_lines(band, size, is_ascii=is_ascii)
    return lines


def axis(window: Window, cells: int, cursor: int | None) -> Line:
    """Return the times of day below the plots, and the place of the cursor."""
    row = [" "] * cells
    has_seconds = window.span_s / max(1, cells // _TICK) < 60
    for time_s in ticks(window, max(1, cells // _TICK)):
        at = column_of(time_s, window, cells)
        text = "└" + (moment(time_s, window) if not has_seconds else clock(time_s))
        if at is not None and at + len(text) <= cells:
            row[at : at + len(text)] = text
    if cursor is not None:
        row[cursor] = "▲"
    return Line(((fit(f"{duration_text(window.span_s)} shown", LABEL), "muted"), ("".join(row), "muted")))


def moment(time_s: float, window: Window) -> str:
    """Return the time of day, or the day in a window of several."""
    return time.strftime("%d %b", time.localtime(time_s)) if window.span_s > _DAYS_S else clock(time_s)[:5]


def value_read(curve: Curve, spread: Sequence[float], cursor: int | None) -> float | None:
    """Return the value at the cursor, or the last one."""
    return last(curve.values) if cursor is None else highest(spread[2 * cursor : 2 * cursor + 2])


def seconds_text(seconds: float) -> str:
    """Return a number of seconds, with a fraction where it matters."""
    return f"{seconds:.2g} s" if seconds < 9.95 else duration_text(round(seconds))


def last(values: Sequence[float]) -> float | None:
    """Return the last value; None for a gap."""
    return values[-1] if len(values) and not isnan(values[-1]) else None


def highest(values: Sequence[float]) -> float | None:
    """Return the highest value; None without any."""
    return max((value for value in values if not isnan(value)), default=None)


def curve_text(value: float | None, unit: Unit) -> str:
    """Return a value of a curve."""
    return NOTHING if value is None else value_text(value, unit)
