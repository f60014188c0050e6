"""The lines of a table of the fleet: titles, and a line for each host or group."""

from collections.abc import Callable, Sequence
from typing import Final

from gputop.core.fleet.columns import FleetColumn, HostColumn
from gputop.core.fleet.groups import Group
from gputop.core.fleet.model import FleetHost
from gputop.core.model.field import R
from gputop.core.model.units import NOTHING
from gputop.core.text.cells import width
from gputop.core.text.fit import fit, fit_right
from gputop.ui.render.line import Line, Spans
from gputop.ui.screens.fleet.cells import gpu_cell, merged

_EACH: Final = "EACH"
_LEAVING: Final = ("age", "tensor", "gpus", "label", "temp", "power", "findings", "users", "jobs", "mem")
_GROUPS_LEAVING: Final = ("used", "power", "hosts", "mem", "jobs", "users", "unknown", "lost")
_WIDEST_NAME: Final = 40


def host_table(
    hosts: Sequence[FleetHost], columns: Sequence[HostColumn], sort: str, cursor: int, room: int
) -> list[Line]:
    """Return the titles and one line per host. ``cursor``: the place of the chosen one among them."""
    each = max([len(_EACH), *(len(host.gpus) for host in hosts)])
    fitted = _fitted(hosts, columns, _LEAVING, room - each - 1)
    titles = _titles(fitted, sort)
    titles[3:3] = [(fit(_EACH, each), "head"), (" ", "head")]
    lines = [Line(tuple(titles), "head")]
    for at, host in enumerate(hosts):
        gpus = [gpu_cell(gpu) for gpu in host.gpus]
        ink = "warm" if host.problem else "text"
        spans = _cells(host, fitted, lambda key, ink=ink: "hot" if key == "findings" else ink)  # type: ignore[misc]
        spans[3:3] = [*merged(gpus), (" " * (each - len(gpus) + 1), "text")]
        lines.append(Line(tuple(spans), "cursor" if at == cursor else "text"))
    return lines


def group_table(
    groups: Sequence[Group], columns: Sequence[FleetColumn[Group]], sort: str, cursor: int, room: int
) -> list[Line]:
    """Return the titles and one line per group."""
    fitted = _fitted(groups, columns, _GROUPS_LEAVING, room)
    lines = [Line(tuple(_titles(fitted, sort)), "head")]
    for at, group in enumerate(groups):
        spans = _cells(group, fitted, lambda key, group=group: _ink(group, key))  # type: ignore[misc]
        lines.append(Line(tuple(spans), "cursor" if at == cursor else "text"))
    return lines


def _ink(group: Group, key: str) -> str:
    if key == "odd" or (key == "lost" and group.totals.lost):
        return "hot"
    return "warm" if key == "idle" and group.totals.idle else "text"


def _titles(fitted: Sequence[tuple[FleetColumn[R], int]], sort: str) -> Spans:
    titles: Spans = [(" ", "head")]
    for column, cells in fitted:
        titles += [(_aligned(column.title, cells, column), "mark" if column.key == sort else "head"), (" ", "head")]
    return titles


def _cells(row: R, fitted: Sequence[tuple[FleetColumn[R], int]], ink: Callable[[str], str]) -> Spans:
    spans: Spans = [(" ", "text")]
    for place, (column, cells) in enumerate(fitted):
        text = column.text(row)
        tone = "muted" if text == NOTHING else ink(column.key)
        spans += [(_aligned(text, cells, column), tone if place else "title"), (" ", "text")]
    return spans


def _fitted(
    rows: Sequence[R], columns: Sequence[FleetColumn[R]], leaving: Sequence[str], room: int
) -> list[tuple[FleetColumn[R], int]]:
    """Return the columns that fit, with their widths; the least important go first, and the last one is cut."""
    found = [
        (
            column,
            min(
                _WIDEST_NAME if not at else room, max([width(column.title), *(width(column.text(row)) for row in rows)])
            ),
        )
        for at, column in enumerate(columns)
    ]
    for key in leaving:
        if sum(cells + 1 for _, cells in found) + 1 <= room:
            break
        found = [(column, cells) for column, cells in found if column.key != key]
    return found


def _aligned(text: str, cells: int, column: FleetColumn[R]) -> str:
    return fit(text, cells) if column.is_left else fit_right(text, cells)
