"""A panel as a row: what a plugin shows on the screen. It says what is to be read, and the screen draws that.

A panel is asked in a thread of its own, so it may take its time; the screen shows its last answer meanwhile.
"""

from collections.abc import Callable, Iterable, Sequence
from itertools import islice
from typing import Final, TypeAlias

from msgspec import Struct

from gputop.core.model.sample import Frame
from gputop.core.text.cells import width
from gputop.core.text.text import clean, fit
from gputop.core.text.tone import Tone

MOST_LINES: Final = 500  # that are taken of an answer, which may have no end
_MOST_SIGNS: Final = 2_000
_GAP: Final = "  "


class Cell(Struct, frozen=True):
    """A text with a tone. ``Tone.NONE`` stands back: for titles, and for what is not known."""

    text: str
    tone: Tone = Tone.OK


PanelLine: TypeAlias = str | Cell | tuple[str | Cell, ...]
"""A line of a panel: a text, or a row of a table. Rows that follow each other have their columns in common."""

Written: TypeAlias = tuple[tuple[str, Tone], ...]
"""A line as the screen draws it: clean texts from left to right."""


class Shown(Struct, frozen=True, kw_only=True):
    """What a panel is asked with: what the screen shows, and how many cells there are for a line."""

    frame: Frame
    width: int


class Panel(Struct, frozen=True, kw_only=True):
    """A panel. ``lines`` answers with all that there is to show; nothing at all hides it.

    ``most_lines``: how many of them the main screen shows below the title; a page shows all. ``every_s``: least time
    between two questions.
    """

    key: str
    title: str
    help: str
    lines: Callable[[Shown], Iterable[PanelLine]]
    most_lines: int = 4
    every_s: float = 0.0


def written(answer: Iterable[PanelLine]) -> tuple[Written, ...]:
    """Return an answer as lines to be drawn. Raises TypeError for what is no line, and whatever a generator raises."""
    lines: list[Written] = []
    table: list[tuple[Cell, ...]] = []
    for line in islice(answer, MOST_LINES):
        if isinstance(line, tuple):
            table.append(tuple(map(_cell, line)))
            continue
        lines += _aligned(table)
        table = []
        lines.append((_piece(_cell(line)),))
    return (*lines, *_aligned(table))


def _cell(value: object) -> Cell:
    held = Cell(value) if isinstance(value, str) else value
    if not isinstance(held, Cell) or not isinstance(held.text, str) or not isinstance(held.tone, Tone):
        raise TypeError(f"{value!r:.80} is neither a text nor a Cell of a text and a Tone")
    return Cell(clean(held.text[:_MOST_SIGNS]), held.tone)


def _piece(cell: Cell) -> tuple[str, Tone]:
    return cell.text, cell.tone


def _aligned(rows: Sequence[tuple[Cell, ...]]) -> list[Written]:
    """Return rows with their columns below each other; numbers stand at the right."""
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
    """Say whether all cells begin as numbers do, but for those that stand back: titles, dashes."""
    texts = [cell.text for cell in column if cell.tone is not Tone.NONE]
    return bool(texts) and all(text[:1].isdigit() or text[:2].lstrip("-+").isdigit() for text in texts)
