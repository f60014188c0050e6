"""Aligned lines of cells, and the style of their stream. Colour codes do not count as width."""

import os
from collections.abc import Mapping, Sequence
from enum import Enum
from typing import Final, TextIO

from msgspec import Struct

from gputop.core.text.cells import width
from gputop.core.text.fit import fit
from gputop.core.text.text import clean
from gputop.core.text.tone import Tone

_LEAST: Final = 8  # cells that are left to the column that gives way
_CODES: Final = {Tone.NONE: "2", Tone.WARM: "33", Tone.HOT: "1;31"}


class Style(Enum):
    """Plain text, or colours from the terminal's own palette."""

    PLAIN = "plain"
    COLOUR = "colour"


class Cell(Struct, frozen=True):
    """Cleaned text and its tone; NONE makes it faint."""

    text: str
    tone: Tone = Tone.OK


class Layout(Struct, frozen=True):
    """The layout. ``right``: right-aligned columns; ``yields``: the column cut to fit ``room`` (None: no cut)."""

    right: frozenset[int]
    yields: int
    room: int | None
    gap: int = 2


def look(stream: TextIO, environment: Mapping[str, str]) -> tuple[int | None, Style]:
    """Return the columns of the terminal behind a stream (None if unknown, or not a terminal) and the style."""
    if not stream.isatty():
        return None, Style.PLAIN
    is_plain = bool(environment.get("NO_COLOR")) or environment.get("TERM", "dumb") == "dumb"
    try:
        columns = os.get_terminal_size(stream.fileno()).columns
    except OSError:
        columns = 0
    return columns or None, Style.PLAIN if is_plain else Style.COLOUR


def draw(rows: Sequence[Sequence[Cell]], layout: Layout, style: Style) -> list[str]:
    """Return one line per row. The last cell of a shorter row spans the remaining columns."""
    if not rows:
        return []
    widths = _widths(rows, layout)
    return [_line(row, widths, layout, style) for row in rows]


def paint(text: str, tone: Tone, style: Style) -> str:
    """Return the text in the colour of its tone."""
    code = _CODES.get(tone) if style is Style.COLOUR else None
    return f"\x1b[{code}m{text}\x1b[0m" if code and text else text


def simulated(box: str, room: int | None, style: Style) -> str:
    """Return the line that says that no GPU is real."""
    return paint(cut(f"SIMULATED: {clean(box)}, no real GPU", room), Tone.WARM, style)


def cut(text: str, room: int | None) -> str:
    """Return the text cut to the room."""
    return text if room is None or width(text) <= room else fit(text, room)


def wrap(parts: Sequence[str], separator: str, room: int | None) -> list[str]:
    """Return the parts as lines no wider than the room. Parts are not split, but cut if they are too long."""
    lines: list[str] = []
    for part in parts:
        longer = lines[-1] + separator + part if lines else part
        if lines and (room is None or width(longer) <= room):
            lines[-1] = longer
        else:
            lines.append(cut(part, room))
    return lines


def _widths(rows: Sequence[Sequence[Cell]], layout: Layout) -> list[int]:
    count = len(rows[0])
    whole = [row for row in rows if len(row) == count]
    widths = [max(width(row[n].text) for row in whole) for n in range(count)]
    over = 0 if layout.room is None else sum(widths) + layout.gap * (count - 1) - layout.room
    if over > 0:
        widths[layout.yields] = max(_LEAST, widths[layout.yields] - over)
    return widths


def _line(row: Sequence[Cell], widths: Sequence[int], layout: Layout, style: Style) -> str:
    parts, used = [], 0
    for n, cell in enumerate(row):
        is_open = n == len(row) - 1 and (len(row) < len(widths) or n not in layout.right)
        text = cell.text if is_open else _padded(cell.text, widths[n], n in layout.right)
        if layout.room is not None:
            text = cut(text, max(0, layout.room - used))
        parts.append(paint(text, cell.tone, style))
        used += width(text) + layout.gap
    return (" " * layout.gap).join(parts).rstrip()


def _padded(text: str, cells: int, is_right: bool) -> str:  # noqa: FBT001
    if width(text) > cells:
        return fit(text, cells)
    return " " * (cells - width(text)) + text if is_right else fit(text, cells)
