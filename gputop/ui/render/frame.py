"""A frame around lines: a title in its upper edge, keys in its lower one."""

from collections.abc import Sequence

from gputop.ui.render.line import Line, Spans, cut, length


def framed(title: str, lines: Sequence[Line], keys: str, *, inner: int, ink: str) -> list[Line]:
    """Return the frame, ``inner`` cells wide inside."""
    body = [Line((("│ ", ink), *cut(list(line.spans), inner), (" │", ink)), line.base) for line in lines]
    width = inner + 4
    return [_edge("╭", title, "╮", width, (ink, "title")), *body, _edge("╰", keys, "╯", width, (ink, "key"))]


def _edge(left: str, text: str, right: str, width: int, inks: tuple[str, str]) -> Line:
    ink, text_ink = inks
    spans: Spans = [(left + "─", ink), (f" {text} ", text_ink)]
    if length(spans) > width - 1:
        spans = cut(spans, width - 1)
    return Line((*spans, ("─" * (width - length(spans) - 1) + right, ink)))
