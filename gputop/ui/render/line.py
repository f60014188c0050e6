"""A line of the screen as plain values: spans of text, each with the name of an ink. Panels are functions to these."""

from typing import Final, NamedTuple, TypeAlias

from rich.cells import cell_len, set_cell_size

from gputop.core.text.ascii import PLAIN
from gputop.core.text.tone import Tone

Span: TypeAlias = tuple[str, str]
Spans: TypeAlias = list[Span]


class Line(NamedTuple):
    """Spans from left to right; the rest of the line, and what lies under the spans, has the ink ``base``."""

    spans: tuple[Span, ...] = ()
    base: str = "text"


BLANK: Final = Line()


def plain(text: str) -> str:
    """Return text for a terminal that has only ASCII, of the same width."""
    if text.isascii():
        return text
    text = text.translate(PLAIN)
    return text if text.isascii() else "".join(c if c.isascii() else "?" * cell_len(c) for c in text)


def fit(text: str, width: int) -> str:
    """Return text in exactly so many cells, cut with an ellipsis, as the terminal counts them."""
    if text.isascii():
        length = len(text)
        return text.ljust(width) if length <= width else text[: max(0, width - 1)] + "…"[:width]
    if cell_len(text) <= width:
        return set_cell_size(text, width)
    return set_cell_size(text, max(0, width - 1)) + "…"[:width]


def fit_right(text: str, width: int) -> str:
    """Return text in exactly so many cells, at their right end."""
    blanks = width - (len(text) if text.isascii() else cell_len(text))
    return " " * blanks + text if blanks >= 0 else fit(text, width)


def length(spans: Spans | tuple[Span, ...]) -> int:
    """Return how many cells the spans take."""
    cells = 0
    for text, _ in spans:
        cells += len(text) if text.isascii() else cell_len(text)
    return cells


def ends(left: Spans, right: Spans, width: int) -> tuple[Span, ...]:
    """Return a line with ``right`` at its right end; the right end wins where there is no room for both."""
    room = width - length(right)
    return (*cut(left, room), *right)


def cut(spans: Spans, width: int) -> Spans:
    """Return spans of exactly so many cells."""
    kept: Spans = []
    for text, ink in spans:
        cells = len(text) if text.isascii() else cell_len(text)
        if cells > width:
            kept.append((fit(text, width), ink))
            return kept
        kept.append((text, ink))
        width -= cells
    return [*kept, (" " * width, "text")] if width > 0 else kept


def tone_ink(tone: Tone, ok: str = "text") -> str:
    """Return the ink of a tone; ``ok`` is the value's own."""
    if tone is Tone.OK:
        return ok
    return "muted" if tone is Tone.NONE else tone.value
