"""Plots: numbers as rows of braille or ASCII on a fixed scale, so that a steady load is a flat line."""

from collections.abc import Sequence
from functools import lru_cache
from math import nan
from typing import Final

_LEFT: Final = (0x00, 0x40, 0x44, 0x46, 0x47)  # dots of the left half, filled from below
_RIGHT: Final = (0x00, 0x80, 0xA0, 0xB0, 0xB8)
_DOTS: Final = ((0x40, 0x04, 0x02, 0x01), (0x80, 0x20, 0x10, 0x08))  # single dots of each half, from below
_ASCII: Final = (" ", ".", ":", "|", "|")
_WIDEST_SAMPLE: Final = 16  # half cells


def samples_shown(width: int, held: int) -> int:
    """Return the number of samples for which a plot of a width in cells has room, ``held`` of them known so far."""
    return 2 * width // _stretch(width, held)


def area(
    values: Sequence[float], top: float, size: tuple[int, int], *, count: int, is_ascii: bool = False
) -> list[str]:
    """Return the rows of a filled plot, top row first, newest sample last.

    ``size``: width and height in cells. ``top``: the value of the top edge; the bottom edge is 0. A NaN is blank; 0
    shows the lowest dot, so that a gap differs from zero. ``count``: number of samples ever: sample pairs share a cell,
    so that with a new sample the picture changes in its last cell or moves by a whole cell. Few samples are drawn
    wider, from the left; the scale of time halves when they reach the right edge.
    """
    width, height = size
    if width < 1 or height < 1:
        return [""] * max(0, height)
    dots = 4 * height - 1  # the highest dot stays free, so that plots one above the other do not touch
    stretch = _stretch(width, len(values))
    kept = values[-(2 * width - count % 2) :]
    if (count - len(kept)) % 2:
        kept = kept[1:]
    levels = [level for level in _levels(kept, top, dots) for _ in range(stretch)]
    levels += [0] * (2 * width - len(levels))
    table = _cells(height, is_ascii)
    columns = [table[pair] for pair in zip(levels[::2], levels[1::2], strict=True)]
    return ["".join(row) for row in zip(*columns, strict=True)]


def area_end(values: Sequence[float], top: float, height: int, *, count: int, is_ascii: bool = False) -> Sequence[str]:
    """Return the cell of the newest sample as in `area`, top row first, where a sample takes half a cell."""
    left, right = _levels(values[-2:] if count % 2 == 0 else [*values[-1:], nan], top, 4 * height - 1)
    return _cells(height, is_ascii)[left, right]


def overlay(
    curves: Sequence[Sequence[float]], top: float, size: tuple[int, int], *, marks: str = ""
) -> list[list[tuple[str, int]]]:
    """Return the cells of curves on one axis, top row first: a character, and the first curve in it or -1.

    ``curves``: a value per half cell; a NaN is a gap. ``marks``: draw in ASCII, with a character for each curve.
    """
    width, height = size
    dots = [[0] * width for _ in range(height)]
    owners = [[-1] * width for _ in range(height)]
    for number, values in enumerate(curves):
        before = 0
        for at, level in enumerate(_levels(values[: 2 * width], top, 4 * height)):
            for dot in range(min(before or level, level), max(before, level) + 1) if level else ():
                row, place = height - 1 - (dot - 1) // 4, (dot - 1) % 4
                dots[row][at // 2] |= _DOTS[at % 2][place]
                if owners[row][at // 2] < 0:
                    owners[row][at // 2] = number
            before = level
    return [
        [(_sign(bits, owner, marks), owner) for bits, owner in zip(row, of, strict=True)]
        for row, of in zip(dots, owners, strict=True)
    ]


def _sign(bits: int, owner: int, marks: str) -> str:
    if owner < 0:
        return " "
    return marks[owner] if marks else chr(0x2800 + bits)


def bar(percent: float | None, width: int) -> tuple[str, str]:
    """Return the filled and the empty part of a bar, in steps of half a cell."""
    if percent is None:
        return "", "─" * width
    halves = round(max(0.0, min(100.0, percent)) * width / 50)
    if percent > 0:
        halves = max(1, halves)
    filled = "━" * (halves // 2) + "╸" * (halves % 2)
    return filled, "─" * (width - len(filled))


def _stretch(width: int, held: int) -> int:
    """Return how many half cells a sample takes: a power of two, 1 when the plot is more than half full."""
    stretch = 1
    while stretch < _WIDEST_SAMPLE and 2 * stretch * held <= 2 * width:
        stretch *= 2
    return stretch


def _levels(values: Sequence[float], top: float, most: int) -> list[int]:
    """Return the height of each sample in dots, 1 to ``most``; 0 for a gap."""
    if not top > 0:
        return [0] * len(values)
    scale = most / top
    found = []
    for value in values:
        if value != value:  # noqa: PLR0124 - only NaN differs from itself
            found.append(0)
            continue
        level = int(value * scale + 0.5)
        found.append(1 if level < 1 else min(level, most))
    return found


@lru_cache(maxsize=64)
def _cells(height: int, is_ascii: bool) -> dict[tuple[int, int], tuple[str, ...]]:  # noqa: FBT001
    """Return the column of cells, top cell first, for each pair of levels."""
    levels = range(4 * height + 1)
    return {(a, b): _column(a, b, height, is_ascii=is_ascii) for a in levels for b in levels}


def _column(left: int, right: int, height: int, *, is_ascii: bool) -> tuple[str, ...]:
    cells = []
    for row in range(height - 1, -1, -1):
        a, b = (min(4, max(0, level - 4 * row)) for level in (left, right))
        dots = _LEFT[a] + _RIGHT[b]
        cells.append(_ASCII[max(a, b)] if is_ascii else chr(0x2800 + dots) if dots else " ")
    return tuple(cells)
