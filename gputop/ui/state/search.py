"""Search in the table and on a page: the lines that have a text, and its place in a line."""

from collections.abc import Callable, Sequence
from typing import TypeVar

from gputop.ui.render.line import Line, Span, Spans
from gputop.ui.state.rows import TableLine

T = TypeVar("T")


def has(entry: TableLine, text: str) -> bool:
    """Return whether the command, the user or the pid has the text; case does not matter."""
    process, needle = entry.row.process, text.lower()
    is_pid = not entry.is_group and needle in str(process.pid)
    return is_pid or needle in process.command.lower() or needle in (process.user or "").lower()


def next_match(lines: Sequence[T], matches: Callable[[T], bool], start: int, step: int = 1) -> int | None:
    """Return the place of the next line that matches, from ``start`` on and around the end."""
    places = ((start + distance * step) % len(lines) for distance in range(len(lines)))
    return next((at for at in places if matches(lines[at])), None)


def find_line(page: Sequence[Line], text: str, start: int, step: int = 1) -> int | None:
    """Return the next line of a page that has the text; case does not matter."""
    needle = text.lower()
    return next_match(page, lambda line: needle in "".join(part for part, _ in line.spans).lower(), start, step)


def highlighted(spans: Sequence[Span], text: str, ink: str = "badge") -> Spans:
    """Return the spans, with this ink where they have the text."""
    if not text:
        return list(spans)
    whole, needle = "".join(part for part, _ in spans).lower(), text.lower()
    places: list[tuple[int, int]] = []
    at = whole.find(needle)
    while at >= 0:
        places.append((at, at + len(needle)))
        at = whole.find(needle, at + len(needle))
    if not places or len(whole) != sum(len(part) for part, _ in spans):  # small letters may be more
        return list(spans)
    found: Spans = []
    begin = 0
    for part, own in spans:
        end = begin + len(part)
        for sign, is_hit in _cut(part, begin, end, places):
            found.append((sign, ink if is_hit else own))
        begin = end
    return found


def _cut(part: str, begin: int, end: int, places: Sequence[tuple[int, int]]) -> list[tuple[str, bool]]:
    pieces: list[tuple[str, bool]] = []
    at = begin
    for place in places:
        first, last = max(place[0], begin), min(place[1], end)
        if first < last:
            pieces += [(part[at - begin : first - begin], False), (part[first - begin : last - begin], True)]
            at = last
    pieces.append((part[at - begin :], False))
    return [piece for piece in pieces if piece[0]]
