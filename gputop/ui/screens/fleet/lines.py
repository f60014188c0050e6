"""The lines of the fleet screen: header, table of hosts, map of hosts, one host."""

from collections.abc import Sequence
from typing import Final

from gputop.core.fleet.cells import LEGEND, cell
from gputop.core.fleet.columns import HostColumn
from gputop.core.fleet.model import Fleet, FleetGpu, FleetHost
from gputop.core.fleet.summary import alert_text, summary
from gputop.core.model.load import memory_load
from gputop.core.model.units import NOTHING, bytes_text, duration_text, percent_text, share
from gputop.core.text.cells import width
from gputop.core.text.fit import fit, fit_right
from gputop.ui.panels.values import load_ink, meter, utilization_ink
from gputop.ui.render.line import BLANK, Line, Span, Spans, length

_MOST_ALERTS: Final = 3
_EACH: Final = "EACH"
_LEAVING: Final = ("age", "tensor", "gpus", "label", "temp", "power", "findings", "users", "jobs", "mem")
_INKS: Final = {"free": "free", "idle": "warm", "lost": "hot", "unknown": "muted"}
_NAME: Final = 12
_BAR: Final = 24
_WIDEST_NAME: Final = 24


def header_lines(fleet: Fleet | None, problem: str, age_s: float, columns: int) -> list[Line]:
    """Return the totals, the first alerts, and what the servers could not answer."""
    if fleet is None:
        return [Line(((" gputop fleet", "accent"), (f"  {problem or 'asking …'}", "warm" if problem else "muted")))]
    counts, load = summary(fleet)
    badge: Spans = [(" SIMULATED ", "badge"), (" ", "text")] if fleet.simulated else []
    right = f"{duration_text(age_s)} ago "
    left: Spans = [(" gputop fleet  ", "accent"), *badge]
    is_narrow = length(left) + width(counts) + width(right) >= columns
    left += [] if is_narrow else [(counts, "title")]
    gap = max(1, columns - length(left) - width(right))
    lines = [Line((*left, (" " * gap, "text"), (right, "muted")))]
    lines += [Line(((f" {counts}", "title"),))] if is_narrow else []
    lines.append(Line(((f" {load}", "text"),)))
    alerts = fleet.alerts or ()
    lines += [Line(((f" {alert_text(alert)}", "hot"),)) for alert in alerts[:_MOST_ALERTS]]
    if len(alerts) > _MOST_ALERTS:
        lines.append(Line(((f" and {len(alerts) - _MOST_ALERTS} more alerts", "hot"),)))
    lines += [Line(((f" {server.name}: {text}", "warm"),)) for server in fleet.servers for text in server.problems[:2]]
    return lines + ([Line(((f" {problem}", "warm"),))] if problem else [])


def table_lines(
    hosts: Sequence[FleetHost], columns: Sequence[HostColumn], sort: HostColumn, cursor: int, room: int
) -> list[Line]:
    """Return the titles and one line per host. ``cursor``: the place of the chosen one among them."""
    each = max([len(_EACH), *(len(host.gpus) for host in hosts)])
    fitted = _fitted(hosts, columns, each, room)
    titles: Spans = [(" ", "head")]
    for place, (column, cells) in enumerate(fitted):
        ink = "mark" if column is sort else "head"
        titles += [(_aligned(column.title, cells, column), ink), (" ", "head")]
        titles += [] if place else [(fit(_EACH, each), "head"), (" ", "head")]
    rows = (_host_line(host, fitted, each, base="cursor" if at == cursor else "text") for at, host in enumerate(hosts))
    return [Line(tuple(titles), "head"), *rows]


def map_lines(hosts: Sequence[FleetHost], cursor: int, columns: int) -> list[Line]:
    """Return all hosts as cells, one character each, after the name of each line's first; the chosen one is marked."""
    lines = []
    names = map_names(hosts)
    for first in range(0, len(hosts), columns):
        spans: list[Span] = [(f" {fit(hosts[first].name, names)} ", "muted")]
        for place, host in enumerate(hosts[first : first + columns], first):
            sign, ink = host_cell(host)
            spans.append((sign, "cursor" if place == cursor else ink))
        lines.append(Line(tuple(_merged(spans))))
    return lines


def map_names(hosts: Sequence[FleetHost]) -> int:
    """Return the cells that the names beside a map take."""
    return min(_WIDEST_NAME, max((width(host.name) for host in hosts), default=0))


def map_note(host: FleetHost) -> Line:
    """Return the chosen host of the map in a line."""
    facts = (
        f"{len(host.gpus)} GPUs", f"{host.count('free')} free", f"utilization {percent_text(host.utilization_percent)}",
        f"memory {percent_text(share(host.memory_used_bytes, host.memory_total_bytes))}",
        *((",".join(host.users),) if host.users else ()), *((host.problem,) if host.problem else ()),
    )  # fmt: skip
    return Line(((f" {host.name}  ", "title"), (" · ".join(facts), "text")), "head")


def host_cell(host: FleetHost) -> Span:
    """Return a host in one character: a bar of its mean utilization, or the sign of what all of its GPUs are."""
    if host.problem or not host.gpus:
        return "!", "hot"
    if host.count("lost"):
        return "x", "hot"
    uses = {gpu.use for gpu in host.gpus}
    if len(uses) == 1 and "busy" not in uses:
        return gpu_cell(host.gpus[0])
    load = host.utilization_percent
    mean = FleetGpu(index="", utilization_percent=load, use="unknown" if load is None else "busy")
    return gpu_cell(mean)


def gpu_cell(gpu: FleetGpu) -> Span:
    """Return a GPU in one character."""
    return cell(gpu), _INKS.get(gpu.use) or utilization_ink(gpu.utilization_percent)


def host_lines(host: FleetHost) -> list[Line]:
    """Return all that is known of a host."""
    facts = {
        "server": host.server, "exporter": ", ".join(host.instances), "model": ", ".join(host.models) or NOTHING,
        **host.labels,
        "power": NOTHING if host.power_w is None else f"{host.power_w:,.0f} W",
        "hottest": NOTHING if host.temperature_c is None else f"{host.temperature_c:.0f} °C",
        "tensor": percent_text(host.tensor_percent),
        "jobs": _known(host.jobs), "users": _known(host.users), "findings": _known(host.findings),
        "age": duration_text(host.age_s),
    }  # fmt: skip
    lines = [Line(((fit(name, _NAME), "muted"), (text, "text"))) for name, text in facts.items()]
    if host.problem:
        lines.insert(0, Line(((fit("problem", _NAME), "muted"), (host.problem, "hot"))))
    return [*lines, BLANK, *map(_gpu_line, host.gpus), BLANK, Line(((LEGEND, "muted"),))]


def _known(names: tuple[str, ...] | None) -> str:
    return "unknown: no gputop export runs there" if names is None else ", ".join(names) or "none"


def _gpu_line(gpu: FleetGpu) -> Line:
    load = utilization_ink(gpu.utilization_percent)
    held = share(gpu.memory_used_bytes, gpu.memory_total_bytes)
    memory = f"{bytes_text(gpu.memory_used_bytes)} of {bytes_text(gpu.memory_total_bytes)}"
    return Line(
        (
            (f"GPU {gpu.index:3} ", "title"), gpu_cell(gpu), (f" {gpu.use:8}", _INKS.get(gpu.use, "text")),
            *meter(gpu.utilization_percent, _BAR, load), (f"{percent_text(gpu.utilization_percent):>5}  ", load),
            *meter(held, _BAR, load_ink(memory_load(held))), (f" {memory}", "text"),
            (f"  Xid {gpu.xid}" if gpu.xid else "", "hot"),
        )
    )  # fmt: skip


def _fitted(
    hosts: Sequence[FleetHost], columns: Sequence[HostColumn], each: int, room: int
) -> list[tuple[HostColumn, int]]:
    """Return the columns that fit, with their widths; the least important go first, and the last one is cut."""
    found = [(column, max([width(column.title), *(width(column.text(host)) for host in hosts)])) for column in columns]
    for key in _LEAVING:
        if sum(cells + 1 for _, cells in found) + each + 2 <= room:
            break
        found = [(column, cells) for column, cells in found if column.key != key]
    return found


def _host_line(host: FleetHost, fitted: Sequence[tuple[HostColumn, int]], each: int, *, base: str) -> Line:
    ink = "warm" if host.problem else "text"
    spans: Spans = [(" ", "text")]
    for place, (column, cells) in enumerate(fitted):
        text = column.text(host)
        tone = "muted" if text == NOTHING else "hot" if column.key == "findings" else ink
        spans += [(_aligned(text, cells, column), tone if place else "title"), (" ", "text")]
        if not place:
            gpus = [gpu_cell(gpu) for gpu in host.gpus]
            spans += [*_merged(gpus), (" " * (each - len(gpus) + 1), "text")]
    return Line(tuple(spans), base)


def _aligned(text: str, cells: int, column: HostColumn) -> str:
    return fit(text, cells) if column.is_left else fit_right(text, cells)


def _merged(spans: Sequence[Span]) -> list[Span]:
    """Join neighbours of one ink."""
    found: list[Span] = []
    for text, ink in spans:
        if found and found[-1][1] == ink:
            found[-1] = (found[-1][0] + text, ink)
        else:
            found.append((text, ink))
    return found
