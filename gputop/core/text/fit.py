"""Text fitted to terminal cells."""

import re
from typing import Final

from gputop.core.text.cells import cells_of, width

_PART_END: Final = re.compile(r", | · |; |: ")  # between the parts of a summary


def fit(text: str, cells: int, *, end: str = "…") -> str:
    """Return ``text`` in exactly ``cells`` cells: padded with blanks, or cut with ``end`` as its last character."""
    missing = cells - width(text)
    if missing >= 0:
        return text + " " * missing
    if cells < width(end):
        return " " * cells
    first = head(text, cells - width(end)) + end
    return first + " " * (cells - width(first))


def fit_words(text: str, cells: int) -> str:
    """Return ``text`` in exactly ``cells`` cells, cut between words, so that no number loses digits."""
    if width(text) <= cells:
        return fit(text, cells)
    kept = head(text, cells - width(" …") + 1).rpartition(" ")[0].rstrip(" ,;:·(")
    return fit(f"{kept} …", cells) if kept else fit(text, cells)


def fit_parts(text: str, cells: int) -> str:
    """Return ``text`` in exactly ``cells`` cells, cut after a part of its sentence if that keeps half of the room."""
    if width(text) <= cells:
        return fit(text, cells)
    room = head(text, cells - width(" …"))
    ends = [found.start() for found in _PART_END.finditer(room)]
    whole = [at for at in ends if room.count("(", 0, at) == room.count(")", 0, at)]
    is_worth_it = whole and 2 * width(room[: whole[-1]]) >= cells
    return fit(f"{room[: whole[-1]]} …", cells) if is_worth_it else fit_words(text, cells)


def fit_right(text: str, cells: int) -> str:
    """Return ``text`` in exactly ``cells`` cells, at their right end."""
    missing = cells - width(text)
    return " " * missing + text if missing >= 0 else fit(text, cells)


def head(text: str, cells: int) -> str:
    """Return as much of the beginning of ``text`` as ``cells`` cells hold."""
    if text.isascii():
        return text[: max(0, cells)]
    for at, taken in enumerate(cells_of(text)):
        cells -= taken
        if cells < 0:
            return text[:at]
    return text


def chop(text: str, cells: int) -> list[str]:
    """Return ``text`` in parts of at most ``cells`` cells; an empty text has no parts."""
    parts: list[str] = []
    while text:
        part = head(text, cells) or text[0]
        parts.append(part)
        text = text[len(part) :]
    return parts
