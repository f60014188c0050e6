"""A fleet as a table and as CSV: one row per host."""

from collections.abc import Sequence
from io import StringIO
from typing import Final

from gputop.core.fleet.cells import cells
from gputop.core.fleet.columns import HOST_COLUMNS, HostColumn
from gputop.core.fleet.model import Fleet, FleetAlert, FleetHost, Totals
from gputop.core.model.units import NOTHING, bytes_text, percent_text
from gputop.core.text.text import clean
from gputop.core.text.tone import Tone
from gputop.report.grid import Cell, Layout, Style, cut, draw, paint, simulated

_USUAL: Final = (
    "host",
    "gpus",
    "util",
    "tensor",
    "mem",
    "power",
    "temp",
    "jobs",
    "users",
    "findings",
    "age",
    "problem",
)
_IF_USED: Final = frozenset({"server", "label", "jobs", "users", "findings", "problem"})
_CELLS: Final = 1  # after the name of the host
_MOST_ALERTS: Final = 10
_BY_KEY: Final = {column.key: column for column in HOST_COLUMNS}


def table(fleet: Fleet, hosts: Sequence[FleetHost], room: int | None, style: Style) -> str:
    """Return the fleet as lines: totals, alerts, the chosen hosts, and what could not be read."""
    lines = [simulated("fleet", room, style)] if fleet.simulated else []
    lines += [cut(line, room) for line in summary(fleet)]
    alerts = fleet.alerts or ()
    lines += [paint(cut(_alert(alert), room), Tone.HOT, style) for alert in alerts[:_MOST_ALERTS]]
    if len(alerts) > _MOST_ALERTS:
        lines.append(f"and {len(alerts) - _MOST_ALERTS} more alerts")
    columns = [_BY_KEY[key] for key in _shown(hosts, has_servers=len(fleet.servers) > 1)]
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


def summary(fleet: Fleet) -> list[str]:
    """Return the totals: counts first, then load."""
    found = fleet.totals
    counts = [f"{found.hosts} hosts" + (f" ({found.down} without values)" if found.down else ""), f"{found.gpus} GPUs"]
    counts += [f"{count} {use}" for use, count in _uses(found) if count]
    load = [
        f"utilization {percent_text(found.utilization_percent)}",
        f"memory {bytes_text(found.memory_used_bytes)} of {bytes_text(found.memory_total_bytes)}",
        f"power {NOTHING if found.power_w is None else f'{found.power_w / 1000:,.1f} kW'}",
        "alerts unknown" if fleet.alerts is None else f"alerts {len(fleet.alerts)}",
    ]
    return [" · ".join(counts), " · ".join(load)]


def server_problems(fleet: Fleet) -> list[str]:
    """Return what the servers could not answer."""
    return [f"{clean(server.name)}: {clean(problem)}" for server in fleet.servers for problem in server.problems]


def _uses(found: Totals) -> tuple[tuple[str, int], ...]:
    return (
        ("busy", found.busy), ("idle", found.idle), ("free", found.free), ("lost", found.lost),
        ("unknown", found.unknown),
    )  # fmt: skip


def _alert(alert: FleetAlert) -> str:
    parts = (alert.severity.upper() or "ALERT", alert.name, alert.host, alert.summary)
    return "  ".join(part for part in parts if part)


def _shown(hosts: Sequence[FleetHost], *, has_servers: bool) -> list[str]:
    """Return the columns that say something of these hosts."""
    used = {key for key in _IF_USED if any(_BY_KEY[key].sort(host) not in {None, "", NOTHING} for host in hosts)}
    used -= set() if has_servers else {"server"}
    extra = [key for key in ("server", "label") if key in used]
    return [_USUAL[0], *extra, *(key for key in _USUAL[1:] if key not in _IF_USED or key in used)]


def _titles(columns: Sequence[HostColumn]) -> list[Cell]:
    titles = [Cell(column.title) for column in columns]
    return [*titles[:_CELLS], Cell("EACH"), *titles[_CELLS:]]


def _row(host: FleetHost, columns: Sequence[HostColumn]) -> list[Cell]:
    tone = Tone.WARM if host.problem else Tone.OK
    found = [Cell(column.text(host), tone) for column in columns]
    return [*found[:_CELLS], Cell(cells(host)), *found[_CELLS:]]
