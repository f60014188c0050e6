"""Write the Grafana dashboards from the table of series. A panel is a query; tests run it against a real Prometheus."""

import json
import re
from pathlib import Path
from typing import Any, Final

from msgspec import Struct

from gputop.report.prometheus.series import Rows, Series
from gputop.report.prometheus.table import SERIES

FOLDER: Final = Path(__file__).parent
_DATASOURCE: Final = {"type": "prometheus", "uid": "${datasource}"}
_COLUMNS: Final = 24  # of Grafana's grid
_HEIGHTS: Final = {"timeseries": 8, "stat": 4, "table": 8}
_TABLE: Final = {row.name: row for row in SERIES}
_NAME: Final = re.compile(r"\b(?:gputop|DCGM)_\w+")
_UNITS: Final = {
    "": "short", "ratio": "percentunit", "%": "percent", "B": "bytes", "MiB": "mbytes", "B/s": "Bps", "Hz": "hertz",
    "W": "watt", "J": "joule", "s": "s", "°C": "celsius",
}  # fmt: skip
"""Grafana's words for the units of the table."""
_UNIT_WORDS: Final = re.compile(r"(_bytes|_per_second|_celsius|_hertz|_joules|_ratio|_seconds|_total|_watts)+$")
_WORDS: Final = {"gpu": "GPU", "gpus": "GPUs", "sm": "SM", "pcie": "PCIe", "nvlink": "NVLink", "xid": "Xid"}


class Panel(Struct, frozen=True):
    """A panel. The first series of ``expr`` in the table says title and unit, unless the query makes another thing of it.

    ``unit``: in Grafana's words; ``legend``: of a series; ``width``: of 24.
    """

    expr: str
    title: str = ""
    unit: str = ""
    legend: str = ""
    kind: str = "timeseries"
    width: int = 12


class Variable(Struct, frozen=True):
    """A choice above the panels: the values of a label."""

    name: str
    series: str

    @property
    def query(self) -> str:
        """Return Grafana's query for the values."""
        return f"label_values({self.series}, {self.name})"


class Dashboard(Struct, frozen=True):
    """A dashboard."""

    name: str
    title: str
    about: str
    variables: tuple[Variable, ...]
    panels: tuple[Panel, ...]


_HOST: Final = 'instance=~"$instance"'
_USER: Final = 'user=~"$user"'
_JOB: Final = 'job_id=~"$job_id"'
_GPU: Final = "GPU {{gpu}}"
_OF_JOB: Final = "{{instance}} GPU {{gpu}}"

HOST: Final = Dashboard(
    "host", "gputop: host", "The GPUs, jobs, users and findings of a host.",
    (Variable("instance", "gputop_gpu_info"),),
    (
        Panel(f"count(gputop_gpu_info{{{_HOST}}})", "GPUs", kind="stat", width=4),
        Panel(f"avg(gputop_gpu_utilization_ratio{{{_HOST}}})", "Mean utilization", kind="stat", width=4),
        Panel(f"sum(gputop_gpu_power_watts{{{_HOST}}})", "Power of all GPUs", kind="stat", width=4),
        Panel(f"max(gputop_gpu_temperature_celsius{{{_HOST}}})", "Hottest GPU", kind="stat", width=4),
        Panel(f'sum(gputop_finding{{{_HOST},stage!="observation"}}) or 0 * count(gputop_gpu_info{{{_HOST}}})', "Suspects and alarms", kind="stat", width=4),
        Panel(f"max(gputop_sample_age_seconds{{{_HOST}}})", kind="stat", width=4),
        Panel(f"sum by (code, stage, gpu, user) (gputop_finding{{{_HOST}}})", "Findings", kind="table", width=24),
        Panel(f"gputop_gpu_utilization_ratio{{{_HOST}}}", legend=_GPU),
        Panel(f"gputop_gpu_sm_active_ratio{{{_HOST}}}", legend=_GPU),
        Panel(f"gputop_gpu_tensor_active_ratio{{{_HOST}}}", legend=_GPU),
        Panel(f"gputop_gpu_memory_used_bytes{{{_HOST}}}", legend=_GPU),
        Panel(f"gputop_gpu_power_watts{{{_HOST}}}", legend=_GPU),
        Panel(f"gputop_gpu_temperature_celsius{{{_HOST}}}", legend=_GPU),
        Panel(f"gputop_gpu_sm_clock_hertz{{{_HOST}}}", legend=_GPU),
        Panel(f"sum by (gpu, reason) (rate(gputop_gpu_throttled_seconds_total{{{_HOST}}}[5m]))", "Share of time with lower clocks", "percentunit", "GPU {{gpu}} {{reason}}"),
        Panel(f"gputop_gpu_pcie_receive_bytes_per_second{{{_HOST}}}", legend=_GPU),
        Panel(f"gputop_gpu_nvlink_receive_bytes_per_second{{{_HOST}}}", legend=_GPU),
        Panel(f"gputop_user_gpus{{{_HOST}}}", legend="{{user}}"),
        Panel(f"gputop_user_gpu_memory_used_bytes{{{_HOST}}}", legend="{{user}}"),
        Panel(f"sum by (gpu) (gputop_gpu_missing_readings{{{_HOST}}})", legend=_GPU),
        Panel(f"sum by (gpu, xid) (increase(gputop_gpu_xid_errors_total{{{_HOST}}}[1h]))", "GPU Xid errors in an hour", legend="GPU {{gpu}} Xid {{xid}}"),
    ),
)  # fmt: skip
JOB: Final = Dashboard(
    "job", "gputop: job", "The GPUs of a job on all of its hosts: look for the line that differs.",
    (Variable("job_id", "gputop_job_gpus"),),
    (
        Panel(f"sum(gputop_job_gpus{{{_JOB}}})", kind="stat", width=6),
        Panel(f"sum(gputop_job_processes{{{_JOB}}})", kind="stat", width=6),
        Panel(f"sum(gputop_job_gpu_seconds_total{{{_JOB}}})", "Job GPU time", kind="stat", width=6),
        Panel(f"sum(gputop_job_energy_joules_total{{{_JOB}}})", kind="stat", width=6),
        Panel(f"gputop_job_sm_utilization_ratio{{{_JOB}}}", legend=_OF_JOB),
        Panel(f"gputop_job_gpu_memory_used_bytes{{{_JOB}}}", legend=_OF_JOB),
        Panel(f"sum by (job_id, instance) (rate(gputop_job_idle_gpu_seconds_total{{{_JOB}}}[5m])) / sum by (job_id, instance) (rate(gputop_job_gpu_seconds_total{{{_JOB}}}[5m]))", "Share of time without a kernel", "percentunit", "{{job_id}} {{instance}}"),
        Panel(f"sum by (job_id) (rate(gputop_job_energy_joules_total{{{_JOB}}}[5m]))", "Job power", "watt", "{{job_id}}"),
    ),
)  # fmt: skip
USERS: Final = Dashboard(
    "users", "gputop: users", "Who holds how many GPUs, and who uses them.",
    (Variable("user", "gputop_user_gpus"),),
    (
        Panel(f"sum by (user) (gputop_user_gpus{{{_USER}}})", legend="{{user}}"),
        Panel(f"sum by (user) (rate(gputop_user_busy_gpu_seconds_total{{{_USER}}}[5m]))", "User busy GPUs", "short", "{{user}}"),
        Panel(f"sum by (user) (rate(gputop_user_idle_gpu_seconds_total{{{_USER}}}[5m]))", "User idle GPUs", "short", "{{user}}"),
        Panel(f"sum by (user) (gputop_user_gpu_memory_used_bytes{{{_USER}}})", legend="{{user}}"),
        Panel(f"sum by (user) (rate(gputop_user_energy_joules_total{{{_USER}}}[5m]))", "User power", "watt", "{{user}}"),
        Panel(f'sum by (user, code) (gputop_finding{{{_USER},stage!="observation"}})', "Suspects and alarms", legend="{{user}} {{code}}"),
        Panel(f"sort_desc(sum by (user) (increase(gputop_user_gpu_seconds_total{{{_USER}}}[$__range])))", "User GPU time in the chosen period", legend="{{user}}", kind="table", width=24),
    ),
)  # fmt: skip
FLEET: Final = Dashboard(
    "fleet", "gputop: fleet",
    "All hosts, from the series of dcgm-exporter, which gputop export has too.", (),
    (
        Panel("count(count by (instance) (DCGM_FI_DEV_GPU_TEMP))", "Hosts", "short", kind="stat", width=4),
        Panel("count(max by (instance, gpu) (DCGM_FI_DEV_GPU_TEMP))", "GPUs", "short", kind="stat", width=4),
        Panel("count(max by (instance, gpu) (DCGM_FI_DEV_GPU_UTIL) > 10) or 0 * count(DCGM_FI_DEV_GPU_UTIL)", "Busy GPUs", "short", kind="stat", width=4),
        Panel("count(max by (instance, gpu) (DCGM_FI_DEV_GPU_UTIL) <= 10 and max by (instance, gpu) (DCGM_FI_DEV_FB_USED) < 2000) or 0 * count(DCGM_FI_DEV_GPU_UTIL)", "Free GPUs", "short", kind="stat", width=4),
        Panel("sum(max by (instance, gpu) (DCGM_FI_DEV_POWER_USAGE))", "Power of all GPUs", kind="stat", width=4),
        Panel("count(up == 0) or vector(0)", "Targets down", "short", kind="stat", width=4),
        Panel("avg by (instance) (DCGM_FI_DEV_GPU_UTIL)", "Mean utilization of each host", legend="{{instance}}"),
        Panel("avg by (instance) (DCGM_FI_PROF_PIPE_TENSOR_ACTIVE)", "Tensor core activity of each host", legend="{{instance}}"),
        Panel("sum by (instance) (max by (instance, gpu, GPU_I_ID) (DCGM_FI_DEV_FB_USED))", "GPU memory used of each host", legend="{{instance}}"),
        Panel("sum by (instance) (max by (instance, gpu) (DCGM_FI_DEV_POWER_USAGE))", "Power of each host", legend="{{instance}}"),
        Panel("max by (instance) (DCGM_FI_DEV_GPU_TEMP)", "Hottest GPU of each host", legend="{{instance}}"),
        Panel("bottomk(10, avg by (instance) (avg_over_time(DCGM_FI_DEV_GPU_UTIL[10m])))", "Least busy hosts of the last 10 minutes", legend="{{instance}}", kind="table"),
    ),
)  # fmt: skip
DASHBOARDS: Final = (HOST, JOB, USERS, FLEET)


def written(dashboard: Dashboard) -> str:
    """Return a dashboard as Grafana imports it. Raises ValueError for a series or label that the table does not have."""
    variables = [{"name": "datasource", "label": "Prometheus", "type": "datasource", "query": "prometheus"}]
    page = {
        "uid": f"gputop-{dashboard.name}",
        "title": dashboard.title,
        "description": dashboard.about,
        "tags": ["gputop", "gpu"],
        "schemaVersion": 39,
        "refresh": "30s",
        "time": {"from": "now-1h", "to": "now"},
        "templating": {"list": [*variables, *map(_variable, dashboard.variables)]},
        "panels": _panels(dashboard.panels),
    }
    return json.dumps(page, indent=1) + "\n"


def _series_in(expr: str) -> Rows:
    names = dict.fromkeys(_NAME.findall(expr))
    unknown = ", ".join(name for name in names if name not in _TABLE)
    if unknown:
        raise ValueError(f"the table of series does not have {unknown}: {expr}")
    return tuple(_TABLE[name] for name in names)


def _title(row: Series[Any]) -> str:
    words = _UNIT_WORDS.sub("", row.name.removeprefix("gputop_")).split("_")
    title = " ".join(_WORDS.get(word, word) for word in words)
    return title[0].upper() + title[1:]


def _variable(variable: Variable) -> dict[str, Any]:
    labels = {label for row in _series_in(variable.series) for label in ("instance", *row.labels)}
    if variable.name not in labels:
        raise ValueError(f"{variable.series} does not have the label {variable.name}")
    return {
        "name": variable.name, "type": "query", "datasource": _DATASOURCE, "query": variable.query, "refresh": 2,
        "multi": True, "includeAll": True, "allValue": ".*", "current": {"text": "All", "value": "$__all"},
    }  # fmt: skip


def _panels(panels: tuple[Panel, ...]) -> list[dict[str, Any]]:
    """Return the panels from left to right and from top to bottom."""
    found: list[dict[str, Any]] = []
    x = y = tallest = 0
    for number, panel in enumerate(panels, 1):
        height = _HEIGHTS[panel.kind]
        if x + panel.width > _COLUMNS:
            x, y, tallest = 0, y + tallest, 0
        place = {"x": x, "y": y, "w": panel.width, "h": height}
        x, tallest = x + panel.width, max(tallest, height)
        found.append({"id": number, "gridPos": place, **_panel(panel)})
    return found


def _panel(panel: Panel) -> dict[str, Any]:
    rows = _series_in(panel.expr)
    once = {"instant": True, "format": "table"} if panel.kind == "table" else {}
    target = {"refId": "A", "datasource": _DATASOURCE, "expr": panel.expr, "legendFormat": panel.legend, **once}
    return {
        "type": panel.kind, "title": panel.title or _title(rows[0]), "datasource": _DATASOURCE,
        "description": "\n".join(f"{row.name}: {row.help}" for row in rows),
        "fieldConfig": {"defaults": {"unit": panel.unit or _UNITS[rows[0].unit]}, "overrides": []},
        "targets": [target],
    }  # fmt: skip


if __name__ == "__main__":
    for each in DASHBOARDS:
        (FOLDER / f"{each.name}.json").write_text(written(each))
