"""A fleet as a table and as CSV: one row per host."""

from collections.abc import Sequence
from io import StringIO
from typing import Final

from gputop.core.fleet.cells import cells
from gputop.core.fleet.columns import HOST_COLUMNS, HostColumn, shown_columns
from gputop.core.fleet.model import Fleet, FleetHost
from gputop.core.fleet.summary import alert_text, summary
from gputop.core.text.text import clean
from gputop.core.text.tone import Tone
from gputop.report.grid import Cell, Layout, Style, cut, draw, paint, simulated

_CELLS: Final = 1  # after the name of the host
_MOST_ALERTS: Final = 10


def table(fleet: Fleet, room: int | None, style: Style) -> str:
    """Return the fleet as lines: totals, alerts, hosts, and what could not be read."""
    hosts = fleet.hosts
    lines = [simulated("fleet", room, style)] if fleet.simulated else []
    lines += [cut(line, room) for line in summary(fleet)]
    alerts = fleet.alerts or ()
    lines += [paint(cut(alert_text(alert), room), Tone.HOT, style) for alert in alerts[:_MOST_ALERTS]]
    if len(alerts) > _MOST_ALERTS:
        lines.append(f"and {len(alerts) - _MOST_ALERTS} more alerts")
    columns = shown_columns(fleet)
    rows = [_titles(columns), *(_row(host, columns) for host in hosts)]
    right = frozenset(n + (n >= _CELLS) for n, column in enumerate(columns) if not column.is_left)
    lines += ["", *draw(rows, Layout(right, len(columns), room), style)] if hosts else ["", "no host"]
    problems = [paint(cut(line, room), Tone.WARM, style) for line in server_problems(fleet)]
    return "\n".join([*lines, *(["", *problems] if problems else [])])


def csv(hosts: Sequence[FleetHost]) -> str:
    """Return one row per host, with all columns; absent values are empty."""
    from csv import writer  # noqa: PLC0415 - seldom

    from gputop.report.csv import field  # noqa: PLC0415

    sheet = StringIO()
    rows = writer(sheet, lineterminator="\n")
    rows.writerow([column.key for column in HOST_COLUMNS])
    rows.writerows([field(column.sort(host)) for column in HOST_COLUMNS] for host in hosts)
    return sheet.getvalue()


def server_problems(fleet: Fleet) -> list[str]:
    """Return what the servers could not answer."""
    return [f"{clean(server.name)}: {clean(problem)}" for server in fleet.servers for problem in server.problems]


def _titles(columns: Sequence[HostColumn]) -> list[Cell]:
    titles = [Cell(column.title) for column in columns]
    return [*titles[:_CELLS], Cell("EACH"), *titles[_CELLS:]]


def _row(host: FleetHost, columns: Sequence[HostColumn]) -> list[Cell]:
    tone = Tone.WARM if host.problem else Tone.OK
    found = [Cell(column.text(host), tone) for column in columns]
    return [*found[:_CELLS], Cell(cells(host)), *found[_CELLS:]]
