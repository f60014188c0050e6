"""The layout: the parts of the screen and their sizes. Cards if they fit, else lines, else less."""

from collections.abc import Sequence
from enum import Enum
from math import ceil
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

LEAST_ROWS: Final = 6  # of processes, below their header
_LEAST_CARD: Final = 38
_ROOMY_CARD: Final = 64  # shows all facts at its lower edge
_CRAMPED: Final = 0.65  # what the plots of a narrower card are worth
_GRIDS: Final = ((146, 4, 5), (52, 2, 3), (0, 1, 2))  # from this inner width: plots side by side, most rows of a plot
_LABEL: Final = 14  # cells that the label of a plot and the gap beside it take
_LEAST_BLOCK: Final = 36
INSTANCE: Final = 36
STRIP_CELLS: Final = (5, 4)  # widths of a GPU in a strip, the first that has room for all
_HOST_LINES: Final = 3  # most of the host without large plots
_LEAST_HOST_PLOT: Final = 3
_HIGH_PLOT: Final = 8  # where GPUs have plots of so many rows, a part of the spare lines goes to the host
_SLACK: Final = 4  # lines for processes that may come


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
    """How GPUs are drawn: in so many columns and lines; in cards with ``side`` plots of so many rows side by side."""

    kind: Kind
    height: int
    columns: int = 1
    side: int = 1
    plot_rows: int = 0
    has_instances: bool = False


class Arrangement(Struct, frozen=True):
    """The lines of each panel; the processes take the rest."""

    gpus: Plan
    host_lines: int


def arrange(
    size: tuple[int, int],
    instances: Sequence[int],
    density: Density,
    *,
    has_host: bool = True,
    wanted: int | None = None,
) -> Arrangement:
    """Share the screen out. ``instances``: how many GPU instances each GPU has.

    ``wanted``: lines for which there are processes; None means any number. What they leave goes to the plots.
    """
    width, height = size
    host = _host_lines(height, len(instances)) if has_host else 0
    room = max(1, height - 3 - host - LEAST_ROWS)  # 3: header, footer, titles of the processes
    spare = 0 if wanted is None else room - max(0, wanted - LEAST_ROWS)
    plan = _plan(width, (room, spare), height, instances, density)
    plots = min(height // 5, spare - plan.height - (_HOST_LINES - host))
    return Arrangement(plan, _HOST_LINES + plots if host and plots >= _LEAST_HOST_PLOT else host)


def steady(held: int, wanted: int) -> int:
    """Return the lines to plan for: enough, and the same as before unless that would leave many empty."""
    return held if wanted <= held <= wanted + 2 * _SLACK else wanted + _SLACK


def card_height(width: int, side: int, plot_rows: int, instances: int) -> int:
    """Return the lines of a card with its borders."""
    return 2 + 4 // side * plot_rows + instance_lines(instances, width - 4)


def instance_lines(instances: int, width: int) -> int:
    """Return how many lines so many GPU instances take."""
    return ceil(instances / per_line(width))


def per_line(width: int) -> int:
    """Return how many GPU instances fit side by side."""
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


def _plan(width: int, rooms: tuple[int, int], height: int, instances: Sequence[int], density: Density) -> Plan:
    """Return the plan for the most room, and for the room that processes leave to spare."""
    room, spare = rooms
    if not instances:
        return Plan(kind=Kind.LINES, height=min(room, 2))
    if density is not Density.COMPACT:
        most = room if density is Density.DETAILED else min(room, max(24, height // 2))
        cards = _cards(width, most, instances)
        if cards is not None:
            return _grown(cards, width, max(spare, most if density is Density.DETAILED else 0), instances)
    return _lines(width, room, instances) or _blocks(width, room, len(instances)) or _strip(width, room, len(instances))


def _grown(cards: Plan, width: int, spare: int, instances: Sequence[int]) -> Plan:
    """Return cards with higher plots where there is room; the host gets a share of much room."""
    tall = _cards(width, spare, instances, is_capped=False)
    if tall is None or tall.height <= cards.height:
        return cards
    shared = _cards(width, spare * 3 // 4, instances, is_capped=False)
    return shared if shared is not None and shared.plot_rows >= _HIGH_PLOT else tall


def _cards(width: int, room: int, instances: Sequence[int], *, is_capped: bool = True) -> Plan | None:
    """Return the cards with the best plots; a hole in the grid counts against it. ``is_capped``: plots stay low."""
    best: Plan | None = None
    best_score = 0.0
    for columns in range(1, len(instances) + 1):
        card = column_width(width, columns)
        if card < _LEAST_CARD and columns > 1:
            break
        for least, side, most in _GRIDS:
            rows = _plot_rows(card, columns, side, room, instances)
            rows = min(rows, most) if is_capped else rows
            if card - 4 < least or rows < 1:
                continue
            filled = len(instances) / (ceil(len(instances) / columns) * columns)
            score = filled * _worth((card - 4) // side - _LABEL, rows) * (1 if card >= _ROOMY_CARD else _CRAMPED)
            if score > best_score:
                height = cards_height(card, columns, (side, rows), instances)
                best_score = score
                best = Plan(kind=Kind.CARDS, height=height, columns=columns, side=side, plot_rows=rows)
    return replace(best, has_instances=any(instances)) if best is not None else None


def _plot_rows(card: int, columns: int, side: int, room: int, instances: Sequence[int]) -> int:
    """Return the rows that a plot can have."""
    without = cards_height(card, columns, (side, 0), instances)
    return (room - without) // (ceil(len(instances) / columns) * 4 // side)


def _worth(width: int, rows: int) -> float:
    """Return how well a plot is read: its cells, without those that make it a mere strip or a tower."""
    return max(1, min(width, 15 * rows)) * min(rows, max(1.0, width / 3))


def cards_height(card: int, columns: int, plots: tuple[int, int], instances: Sequence[int]) -> int:
    """Return the lines of all cards; in a row of cards the tallest counts. ``plots``: side by side, and their rows."""
    rows = (instances[start : start + columns] for start in range(0, len(instances), columns))
    return sum(card_height(card, *plots, max(row)) for row in rows)


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
    """Return narrower cells where they show more GPUs than there is room for otherwise."""
    height = max(2, room)
    for cell in STRIP_CELLS:
        columns = max(1, (width - 2) // cell)
        needed = 1 + ceil(gpus / columns)
        if needed <= height:
            break
    return Plan(kind=Kind.STRIP, height=min(height, needed), columns=columns)
