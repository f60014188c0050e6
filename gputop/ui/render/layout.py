"""Who gets how much of the screen: cards where they fit, else a line per GPU, else less; processes always have room."""

from collections.abc import Sequence
from enum import Enum
from math import ceil
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

LEAST_ROWS: Final = 6  # of processes, below their header
_LEAST_CARD: Final = 38
_GRIDS: Final = ((146, 4, 5), (52, 2, 3), (0, 1, 2))  # from this inner width: plots side by side, most rows of a plot
_LEAST_BLOCK: Final = 36
INSTANCE: Final = 36


class Density(str, Enum):
    """How much room a GPU takes: as fits, one line, or a card with plots."""

    AUTO = "auto"
    COMPACT = "compact"
    DETAILED = "detailed"


class Kind(str, Enum):
    """How GPUs are drawn."""

    CARDS = "cards"
    LINES = "lines"
    BLOCKS = "blocks"
    STRIP = "strip"


class Plan(Struct, frozen=True, kw_only=True):
    """How GPUs are drawn: in so many columns, with plots of so many rows (cards only), in so many lines in all."""

    kind: Kind
    height: int
    columns: int = 1
    plot_rows: int = 0
    has_instances: bool = False


class Arrangement(Struct, frozen=True):
    """The lines of each panel; the processes take the rest."""

    gpus: Plan
    host_lines: int


def arrange(size: tuple[int, int], instances: Sequence[int], density: Density, *, has_host: bool = True) -> Arrangement:
    """Share the screen out. ``instances``: how many GPU instances each GPU has."""
    width, height = size
    host = _host_lines(height, len(instances)) if has_host else 0
    room = max(1, height - 3 - host - LEAST_ROWS)  # 3: header, footer, titles of the processes
    return Arrangement(_plan(width, room, height, instances, density), host)


def card_grid(width: int) -> tuple[int, int]:
    """Return how many plots stand side by side in a card of this width, and how many rows a plot may have."""
    return next((side, most) for least, side, most in _GRIDS if max(0, width - 4) >= least)


def card_height(width: int, plot_rows: int, instances: int) -> int:
    """Return the lines of a card with its borders."""
    return 2 + 4 // card_grid(width)[0] * plot_rows + instance_lines(instances, width - 4)


def instance_lines(instances: int, width: int) -> int:
    """Return how many lines so many GPU instances take."""
    return ceil(instances / per_line(width))


def per_line(width: int) -> int:
    """Return how many GPU instances stand side by side."""
    return max(1, width // INSTANCE)


def column_width(width: int, columns: int) -> int:
    """Return the width of one of several columns with a blank between two."""
    return (width - columns + 1) // columns


def _host_lines(height: int, gpus: int) -> int:
    if height < 16:
        return 0
    if height < 30 or gpus > 8 > height // 5:
        return 1
    return 2 if height < 50 else 3


def _plan(width: int, room: int, height: int, instances: Sequence[int], density: Density) -> Plan:
    if not instances:
        return Plan(kind=Kind.LINES, height=min(room, 2))
    if density is not Density.COMPACT:
        most = room if density is Density.DETAILED else min(room, max(24, height // 2))
        cards = _cards(width, most, instances)
        if cards is not None:
            return cards
    return _lines(width, room, instances) or _blocks(width, room, len(instances)) or _strip(width, room, len(instances))


def _cards(width: int, room: int, instances: Sequence[int]) -> Plan | None:
    """Return the cards with the largest plots; a hole in the grid counts against it."""
    best: Plan | None = None
    best_score = 0.0
    for columns in range(1, len(instances) + 1):
        card = column_width(width, columns)
        if card < _LEAST_CARD and columns > 1:
            break
        side, most = card_grid(card)
        for plot_rows in range(1, most + 1):
            height = cards_height(card, columns, plot_rows, instances)
            filled = len(instances) / (ceil(len(instances) / columns) * columns)
            score = len(instances) * plot_rows * max(1, (card - 4) // side - 14) * 4 * filled
            if height <= room and score > best_score:
                best_score, best = score, Plan(kind=Kind.CARDS, height=height, columns=columns, plot_rows=plot_rows)
    return replace(best, has_instances=any(instances)) if best is not None else None


def cards_height(card: int, columns: int, plot_rows: int, instances: Sequence[int]) -> int:
    """Return the lines of all cards; in a row of cards the tallest counts."""
    rows = (instances[start : start + columns] for start in range(0, len(instances), columns))
    return sum(card_height(card, plot_rows, max(row)) for row in rows)


def _lines(width: int, room: int, instances: Sequence[int]) -> Plan | None:
    needed = 1 + len(instances)
    more = sum(instance_lines(count, width - 4) for count in instances)
    if needed + more <= room:
        return Plan(kind=Kind.LINES, height=needed + more, has_instances=more > 0)
    return Plan(kind=Kind.LINES, height=needed) if needed <= room else None


def _blocks(width: int, room: int, gpus: int) -> Plan | None:
    for columns in range(2, width // _LEAST_BLOCK + 1):
        height = 1 + ceil(gpus / columns)
        if height <= room:
            return Plan(kind=Kind.BLOCKS, height=height, columns=columns)
    return None


def _strip(width: int, room: int, gpus: int) -> Plan:
    columns = max(1, (width - 2) // 5)
    return Plan(kind=Kind.STRIP, height=min(max(2, room), 1 + ceil(gpus / columns)), columns=columns)
