"""A fleet as a table and as CSV: one row per host, or per group of hosts."""

from collections.abc import Sequence
from io import StringIO
from typing import Final

from gputop.core.fleet.cells import cells
from gputop.core.fleet.columns import HOST_COLUMNS, FleetColumn, HostColumn, shown_columns
from gputop.core.fleet.group_columns import GROUP_COLUMNS, shown_group_columns
from gputop.core.fleet.groups import Group
from gputop.core.fleet.model import Fleet, FleetHost
from gputop.core.fleet.summary import alert_text, summary
from gputop.core.model.field import R
from gputop.core.text.text import clean
from gputop.core.text.tone import Tone
from gputop.report.grid import Cell, Layout, Style, cut, draw, paint, simulated

_CELLS: Final = 1  # after the name of the host
_MOST_ALERTS: Final = 10


def table(fleet: Fleet, room: int | None, style: Style) -> str:
    """Return the fleet as lines: totals, alerts, hosts, and what could not be read."""
    columns = shown_columns(fleet)
    rows = [_titles(columns), *(_row(host, columns) for host in fleet.hosts)]
    right = frozenset(n + (n >= _CELLS) for n, column in enumerate(columns) if not column.is_left)
    drawn = draw(rows, Layout(right, len(columns), room), style) if fleet.hosts else ["no host"]
    return _page(fleet, drawn, room, style)


def group_table(fleet: Fleet, groups: Sequence[Group], by: str, look: tuple[int | None, Style]) -> str:
    """Return groups of hosts, or users or jobs, below the totals of the fleet."""
    columns = shown_group_columns(groups, by)
    titles = [by.upper(), *(column.title for column in columns[1:])]
    rows = [list(map(Cell, titles)), *([Cell(column.text(group)) for column in columns] for group in groups)]
    right = frozenset(n for n, column in enumerate(columns) if not column.is_left)
    drawn = draw(rows, Layout(right, len(columns) - 1, look[0]), look[1]) if groups else [f"no {by}"]
    return _page(fleet, drawn, *look)


def csv(hosts: Sequence[FleetHost]) -> str:
    """Return one row per host, with all columns; absent values are empty."""
    return _sheet(hosts, HOST_COLUMNS)


def group_csv(groups: Sequence[Group]) -> str:
    """Return one row per group, with all columns; absent values are empty."""
    return _sheet(groups, GROUP_COLUMNS)


def server_problems(fleet: Fleet) -> list[str]:
    """Return what the servers could not answer."""
    return [f"{clean(server.name)}: {clean(problem)}" for server in fleet.servers for problem in server.problems]


def _page(fleet: Fleet, drawn: Sequence[str], room: int | None, style: Style) -> str:
    """Return rows with totals and alerts above, and what could not be read below."""
    lines = [simulated("fleet", room, style)] if fleet.simulated else []
    lines += [cut(line, room) for line in summary(fleet)]
    alerts = fleet.alerts or ()
    lines += [paint(cut(alert_text(alert), room), Tone.HOT, style) for alert in alerts[:_MOST_ALERTS]]
    if len(alerts) > _MOST_ALERTS:
        lines.append(f"and {len(alerts) - _MOST_ALERTS} more alerts")
    problems = [paint(cut(line, room), Tone.WARM, style) for line in server_problems(fleet)]
    return "\n".join([*lines, "", *drawn, *(["", *problems] if problems else [])])


def _sheet(rows: Sequence[R], columns: Sequence[FleetColumn[R]]) -> str:
    from csv import writer  # noqa: PLC0415 - seldom

    from gputop.report.csv import field  # noqa: PLC0415

    sheet = StringIO()
    lines = writer(sheet, lineterminator="\n")
    lines.writerow([column.key for column in columns])
    lines.writerows([field(column.sort(row)) for column in columns] for row in rows)
    return sheet.getvalue()


def _titles(columns: Sequence[HostColumn]) -> list[Cell]:
    titles = [Cell(column.title) for column in columns]
    return [*titles[:_CELLS], Cell("EACH"), *titles[_CELLS:]]


def _row(host: FleetHost, columns: Sequence[HostColumn]) -> list[Cell]:
    tone = Tone.WARM if host.problem else Tone.OK
    found = [Cell(column.text(host), tone) for column in columns]
    return [*found[:_CELLS], Cell(cells(host)), *found[_CELLS:]]
