"""The lines of the fleet screen: header, map of hosts, one host."""

from collections.abc import Sequence
from typing import Final

from gputop.core.fleet.cells import LEGEND
from gputop.core.fleet.model import Fleet, FleetGpu, FleetHost
from gputop.core.fleet.summary import alert_text, summary
from gputop.core.model.load import memory_load
from gputop.core.model.units import NOTHING, bytes_text, duration_text, percent_text, share
from gputop.core.text.cells import width
from gputop.core.text.fit import fit
from gputop.ui.panels.values import load_ink, meter, utilization_ink
from gputop.ui.render.line import BLANK, Line, Span, Spans, length
from gputop.ui.screens.fleet.cells import USE_INKS, gpu_cell, host_cell, merged

_MOST_ALERTS: Final = 3
_NAME: Final = 12
_BARS: Final = (4, 24)
_GPU_NUMBERS: Final = 61  # columns of the line of a GPU without its bars
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


def map_lines(hosts: Sequence[FleetHost], cursor: int, columns: int) -> list[Line]:
    """Return all hosts as cells, one character each, after the name of each line's first; the chosen one is marked."""
    lines = []
    names = map_names(hosts)
    for first in range(0, len(hosts), columns):
        spans: list[Span] = [(f" {fit(hosts[first].name, names)} ", "muted")]
        for place, host in enumerate(hosts[first : first + columns], first):
            sign, ink = host_cell(host)
            spans.append((sign, "cursor" if place == cursor else ink))
        lines.append(Line(tuple(merged(spans))))
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


def host_lines(host: FleetHost, columns: int) -> list[Line]:
    """Return all that is known of a host."""
    bar = max(_BARS[0], min(_BARS[1], (columns - _GPU_NUMBERS) // 2))
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
    return [*lines, BLANK, *(_gpu_line(gpu, bar) for gpu in host.gpus), BLANK, Line(((LEGEND, "muted"),))]


def _known(names: tuple[str, ...] | None) -> str:
    return "unknown: no gputop export runs there" if names is None else ", ".join(names) or "none"


def _gpu_line(gpu: FleetGpu, bar: int) -> Line:
    load = utilization_ink(gpu.utilization_percent)
    held = gpu.memory_percent
    memory = f"{bytes_text(gpu.memory_used_bytes)} of {bytes_text(gpu.memory_total_bytes)}"
    detail = f"  {gpu.power_w:,.0f}W" if gpu.power_w is not None else ""
    detail += f" tensor {gpu.tensor_percent:.0f}%" if gpu.tensor_percent is not None else ""
    return Line(
        (
            (f"GPU {gpu.index:3} ", "title"), gpu_cell(gpu), (f" {gpu.use:8}", USE_INKS.get(gpu.use, "text")),
            *meter(gpu.utilization_percent, bar, load), (f"{percent_text(gpu.utilization_percent):>5}  ", load),
            *meter(held, bar, load_ink(memory_load(held))), (f" {memory}", "text"),
            (f"  Xid {gpu.xid}" if gpu.xid else "", "hot"), (detail, "text"),
        )
    )  # fmt: skip
