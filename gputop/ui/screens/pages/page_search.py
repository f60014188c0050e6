"""Search for a text on a page."""

from collections.abc import Sequence

from gputop.ui.render.line import Line


def find_line(page: Sequence[Line], text: str, start: int, step: int = 1) -> int | None:
    """Return the next line that has the text, from ``start`` on and around the end; case does not matter."""
    needle = text.lower()
    for distance in range(len(page) if needle else 0):
        at = (start + distance * step) % len(page)
        if needle in "".join(part for part, _ in page[at].spans).lower():
            return at
    return None
