"""The panel of a plugin as a row: the plugin returns lines, and the screen draws them.

A panel runs in a thread of its own, so it may be slow; until it returns, the screen shows its previous lines.
"""

from collections.abc import Callable, Iterable, Sequence
from itertools import islice
from typing import Final, TypeAlias

from msgspec import Struct

from gputop.core.model.sample import Frame
from gputop.core.text.cells import width
from gputop.core.text.fit import fit
from gputop.core.text.text import clean
from gputop.core.text.tone import Tone

MOST_LINES: Final = 500  # an answer may be endless
_MOST_CHARACTERS: Final = 2_000
_MOST_CELLS: Final = 64
_GAP: Final = "  "


class Cell(Struct, frozen=True):
    """A text with a tone. ``Tone.NONE`` is muted: for titles and unknown values."""

    text: str
    tone: Tone = Tone.OK


PanelLine: TypeAlias = str | Cell | tuple[str | Cell, ...]
"""A line of a panel: a text, or a row of a table. Consecutive rows share their columns."""

Written: TypeAlias = tuple[tuple[str, Tone], ...]
"""A line as the screen draws it: cleaned texts from left to right."""


class Shown(Struct, frozen=True, kw_only=True):
    """The input of a panel: the shown frame, and the width of a line in cells."""

    frame: Frame
    width: int


class Panel(Struct, frozen=True, kw_only=True):
    """A panel. ``lines`` returns all lines; no lines hide the panel.

    ``most_lines``: how many of them the main screen shows below the title; a page shows all. ``every_s``: least time
    between two calls.
    """

    key: str
    title: str
    help: str
    lines: Callable[[Shown], Iterable[PanelLine]]
    most_lines: int = 4
    every_s: float = 0.0


def written(answer: Iterable[PanelLine]) -> tuple[Written, ...]:
    """Return an answer as lines to draw. Raises TypeError for an invalid line, and any error of a generator."""
    lines: list[Written] = []
    table: list[tuple[Cell, ...]] = []
    for line in islice(answer, MOST_LINES):
        if isinstance(line, tuple):
            table.append(tuple(map(_cell, line[:_MOST_CELLS])))
            continue
        lines += _aligned(table)
        table = []
        lines.append((_piece(_cell(line)),))
    return (*lines, *_aligned(table))


def _cell(value: object) -> Cell:
    cell = Cell(value) if isinstance(value, str) else value
    if not isinstance(cell, Cell) or not isinstance(cell.text, str) or not isinstance(cell.tone, Tone):
        raise TypeError(f"{value!r:.80} is neither a text nor a Cell of a text and a Tone")
    return Cell(clean(cell.text[:_MOST_CHARACTERS]), cell.tone)


def _piece(cell: Cell) -> tuple[str, Tone]:
    return cell.text, cell.tone


def _aligned(rows: Sequence[tuple[Cell, ...]]) -> list[Written]:
    """Return rows with aligned columns; numbers are aligned to the right."""
    count = max(map(len, rows), default=0)
    columns = [[row[at] for row in rows if at < len(row)] for at in range(count)]
    widths = [max(width(cell.text) for cell in column) for column in columns]
    rights = [_is_of_numbers(column) for column in columns]
    return [tuple(_padded(row, widths, rights)) for row in rows]


def _padded(row: tuple[Cell, ...], widths: Sequence[int], rights: Sequence[bool]) -> Iterable[tuple[str, Tone]]:
    for at, cell in enumerate(row):
        blanks = " " * (widths[at] - width(cell.text))
        gap = _GAP if at < len(row) - 1 else ""
        yield (blanks + cell.text if rights[at] else fit(cell.text, widths[at])) + gap, cell.tone


def _is_of_numbers(column: Iterable[Cell]) -> bool:
    """Return whether all cells begin like numbers, apart from muted ones: titles, dashes."""
    texts = [cell.text for cell in column if cell.tone is not Tone.NONE]
    return bool(texts) and all(text[:1].isdigit() or text[:2].lstrip("-+").isdigit() for text in texts)
