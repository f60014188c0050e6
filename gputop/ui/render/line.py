"""Line of the screen as a plain value: spans of text, each with the name of an ink. Panels return these."""

from collections.abc import Sequence
from typing import Final, NamedTuple, TypeAlias

from gputop.core.text.cells import width
from gputop.core.text.text import fit
from gputop.core.text.tone import Tone

Span: TypeAlias = tuple[str, str]
Spans: TypeAlias = list[Span]


class Line(NamedTuple):
    """Spans from left to right; ``base`` is the ink of the rest of the line and of the background."""

    spans: tuple[Span, ...] = ()
    base: str = "text"


BLANK: Final = Line()


def length(spans: Spans | tuple[Span, ...]) -> int:
    """Return the number of cells that the spans take."""
    return sum(width(text) for text, _ in spans)


def ends(left: Spans, right: Spans, room: int) -> tuple[Span, ...]:
    """Return a line with ``right`` at its right end; ``left`` is cut where there is no room for both."""
    return (*cut(left, room - length(right)), *right)


def cut(spans: Spans, room: int) -> Spans:
    """Return spans of exactly ``room`` cells."""
    kept: Spans = []
    for text, ink in spans:
        cells = width(text)
        if cells > room:
            kept.append((fit(text, max(0, room)), ink))
            return kept
        kept.append((text, ink))
        room -= cells
    return [*kept, (" " * room, "text")] if room > 0 else kept


def framed(title: str, lines: Sequence[Line], keys: str, *, inner: int, ink: str) -> list[Line]:
    """Return the lines in a frame, ``inner`` cells wide inside, with a title above and keys below."""
    body = [Line((("│ ", ink), *cut(list(line.spans), inner), (" │", ink)), line.base) for line in lines]
    outer = inner + 4
    return [_edge("╭", title, "╮", outer, (ink, "title")), *body, _edge("╰", keys, "╯", outer, (ink, "key"))]


def tone_ink(tone: Tone, ok: str = "text") -> str:
    """Return the ink of a tone; ``ok`` is that of a value that is fine."""
    if tone is Tone.OK:
        return ok
    return "muted" if tone is Tone.NONE else tone.value


def _edge(left: str, text: str, right: str, outer: int, inks: tuple[str, str]) -> Line:
    ink, text_ink = inks
    spans: Spans = [(left + "─", ink), (f" {text} ", text_ink)]
    if length(spans) > outer - 1:
        spans = cut(spans, outer - 1)
    return Line((*spans, ("─" * (outer - length(spans) - 1) + right, ink)))
