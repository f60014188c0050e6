"""A fleet in two lines, and its alerts as text."""

from gputop.core.fleet.model import Fleet, FleetAlert
from gputop.core.model.units import NOTHING, bytes_text, percent_text


def summary(fleet: Fleet) -> tuple[str, str]:
    """Return the totals: counts first, then load."""
    found = fleet.totals
    uses = (
        ("busy", found.busy), ("idle", found.idle), ("free", found.free), ("lost", found.lost),
        ("unknown", found.unknown),
    )  # fmt: skip
    hosts = "1 host" if found.hosts == 1 else f"{found.hosts} hosts"
    counts = [hosts + (f" ({found.down} down)" if found.down else ""), f"{found.gpus} GPUs"]
    counts += [f"{count} {use}" for use, count in uses if count]
    load = [
        f"utilization {percent_text(found.utilization_percent)}",
        f"memory {bytes_text(found.memory_used_bytes)} of {bytes_text(found.memory_total_bytes)}",
        f"power {NOTHING if found.power_w is None else f'{found.power_w / 1000:,.1f} kW'}",
        "alerts unknown" if fleet.alerts is None else f"alerts {len(fleet.alerts)}",
    ]
    return " · ".join(counts), " · ".join(load)


def alert_text(alert: FleetAlert) -> str:
    """Return an alert as a line."""
    parts = (alert.severity.upper() or "ALERT", alert.name, alert.host, alert.summary)
    return "  ".join(part for part in parts if part)
