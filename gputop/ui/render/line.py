"""Line of the screen as a plain value: spans of text, each with the name of an ink. Panels return these."""

from typing import Final, NamedTuple, TypeAlias

from gputop.core.text.cells import is_narrow, width
from gputop.core.text.fit import fit
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
    whole = "".join([text for text, _ in spans])
    return len(whole) if is_narrow(whole) else sum([width(text) for text, _ in spans])


def ends(left: Spans, right: Spans, room: int) -> tuple[Span, ...]:
    """Return a line with ``right`` at its right end; ``left`` is cut where there is no room for both."""
    return (*cut(left, room - length(right)), *right)


def cut(spans: Spans | tuple[Span, ...], room: int) -> Spans:
    """Return spans of exactly ``room`` cells."""
    missing = room - length(spans)
    if missing >= 0:
        return [*spans, (" " * missing, "text")] if missing else list(spans)
    kept: Spans = []
    for text, ink in spans:
        cells = width(text)
        if cells > room:
            kept.append((fit(text, max(0, room)), ink))
            return kept
        kept.append((text, ink))
        room -= cells
    return kept


def tone_ink(tone: Tone, ok: str = "text") -> str:
    """Return the ink of a tone; ``ok`` is that of a value that is fine."""
    if tone is Tone.OK:
        return ok
    return "muted" if tone is Tone.NONE else tone.value
