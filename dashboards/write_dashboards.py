"""Write the Grafana dashboards. Each panel is a row here; tests run its query against a real Prometheus."""

import json
from pathlib import Path
from typing import Any, Final

from msgspec import Struct

FOLDER: Final = Path(__file__).parent
_DATASOURCE: Final = {"type": "prometheus", "uid": "${datasource}"}
_COLUMNS: Final = 24  # of Grafana's grid
_HEIGHTS: Final = {"timeseries": 8, "stat": 4, "table": 8}


class Panel(Struct, frozen=True):
    """A panel. ``unit``: in Grafana's words; ``legend``: of a series; ``width``: of 24."""

    title: str
    expr: str
    unit: str = "short"
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
        Panel("GPUs", f"count(gputop_gpu_info{{{_HOST}}})", kind="stat", width=4),
        Panel("Utilization", f"avg(gputop_gpu_utilization_ratio{{{_HOST}}})", "percentunit", kind="stat", width=4),
        Panel("Power", f"sum(gputop_gpu_power_watts{{{_HOST}}})", "watt", kind="stat", width=4),
        Panel("Hottest", f"max(gputop_gpu_temperature_celsius{{{_HOST}}})", "celsius", kind="stat", width=4),
        Panel("Suspects and alarms", f'sum(gputop_finding{{{_HOST},stage!="observation"}}) or vector(0)', kind="stat", width=4),
        Panel("Age of the values", f"max(gputop_sample_age_seconds{{{_HOST}}})", "s", kind="stat", width=4),
        Panel("Findings", f"sum by (code, stage, gpu, user) (gputop_finding{{{_HOST}}})", kind="table", width=24),
        Panel("GPU utilization", f"gputop_gpu_utilization_ratio{{{_HOST}}}", "percentunit", _GPU),
        Panel("SM activity", f"gputop_gpu_sm_active_ratio{{{_HOST}}}", "percentunit", _GPU),
        Panel("Tensor core activity", f"gputop_gpu_tensor_active_ratio{{{_HOST}}}", "percentunit", _GPU),
        Panel("GPU memory used", f"gputop_gpu_memory_used_bytes{{{_HOST}}}", "bytes", _GPU),
        Panel("Power", f"gputop_gpu_power_watts{{{_HOST}}}", "watt", _GPU),
        Panel("Temperature", f"gputop_gpu_temperature_celsius{{{_HOST}}}", "celsius", _GPU),
        Panel("SM clock", f"gputop_gpu_sm_clock_hertz{{{_HOST}}}", "hertz", _GPU),
        Panel("Clocks held down", f"sum by (gpu, reason) (rate(gputop_gpu_throttled_seconds_total{{{_HOST}}}[5m]))", "percentunit", "GPU {{gpu}} {{reason}}"),
        Panel("PCIe received", f"gputop_gpu_pcie_receive_bytes_per_second{{{_HOST}}}", "Bps", _GPU),
        Panel("NVLink received", f"gputop_gpu_nvlink_receive_bytes_per_second{{{_HOST}}}", "Bps", _GPU),
        Panel("GPUs of each user", f"gputop_user_gpus{{{_HOST}}}", "short", "{{user}}"),
        Panel("GPU memory of each user", f"gputop_user_gpu_memory_used_bytes{{{_HOST}}}", "bytes", "{{user}}"),
        Panel("Missing readings", f"sum by (gpu) (gputop_gpu_missing_readings{{{_HOST}}})", "short", _GPU),
        Panel("Xid errors in an hour", f"sum by (gpu, xid) (increase(gputop_gpu_xid_errors_total{{{_HOST}}}[1h]))", "short", "GPU {{gpu}} Xid {{xid}}"),
    ),
)  # fmt: skip
JOB: Final = Dashboard(
    "job", "gputop: job", "The GPUs of a job on all of its hosts: look for the line that differs.",
    (Variable("job_id", "gputop_job_gpus"),),
    (
        Panel("GPUs", f"sum(gputop_job_gpus{{{_JOB}}})", kind="stat", width=6),
        Panel("Processes", f"sum(gputop_job_processes{{{_JOB}}})", kind="stat", width=6),
        Panel("GPU time", f"sum(gputop_job_gpu_seconds_total{{{_JOB}}})", "s", kind="stat", width=6),
        Panel("Energy", f"sum(gputop_job_energy_joules_total{{{_JOB}}})", "joule", kind="stat", width=6),
        Panel("SM utilization", f"gputop_job_sm_utilization_ratio{{{_JOB}}}", "percentunit", _OF_JOB),
        Panel("GPU memory", f"gputop_job_gpu_memory_used_bytes{{{_JOB}}}", "bytes", _OF_JOB),
        Panel("Share of time without a kernel", f"sum by (job_id, instance) (rate(gputop_job_idle_gpu_seconds_total{{{_JOB}}}[5m])) / sum by (job_id, instance) (rate(gputop_job_gpu_seconds_total{{{_JOB}}}[5m]))", "percentunit", "{{job_id}} {{instance}}"),
        Panel("Power", f"sum by (job_id) (rate(gputop_job_energy_joules_total{{{_JOB}}}[5m]))", "watt", "{{job_id}}"),
    ),
)  # fmt: skip
USERS: Final = Dashboard(
    "users", "gputop: users", "Who holds how many GPUs, and who uses them.",
    (Variable("user", "gputop_user_gpus"),),
    (
        Panel("GPUs held", f"sum by (user) (gputop_user_gpus{{{_USER}}})", "short", "{{user}}"),
        Panel("GPUs busy", f"sum by (user) (rate(gputop_user_busy_gpu_seconds_total{{{_USER}}}[5m]))", "short", "{{user}}"),
        Panel("GPUs held and idle", f"sum by (user) (rate(gputop_user_idle_gpu_seconds_total{{{_USER}}}[5m]))", "short", "{{user}}"),
        Panel("GPU memory", f"sum by (user) (gputop_user_gpu_memory_used_bytes{{{_USER}}})", "bytes", "{{user}}"),
        Panel("Power", f"sum by (user) (rate(gputop_user_energy_joules_total{{{_USER}}}[5m]))", "watt", "{{user}}"),
        Panel("Findings", f'sum by (user, code) (gputop_finding{{{_USER},stage!="observation"}})', "short", "{{user}} {{code}}"),
        Panel("GPU time in the chosen period", f"sort_desc(sum by (user) (increase(gputop_user_gpu_seconds_total{{{_USER}}}[$__range])))", "s", "{{user}}", "table", 24),
    ),
)  # fmt: skip
FLEET: Final = Dashboard(
    "fleet", "gputop: fleet",
    "All hosts, from the series of dcgm-exporter, which gputop export has too.", (),
    (
        Panel("Hosts", "count(count by (instance) (DCGM_FI_DEV_GPU_TEMP))", kind="stat", width=4),
        Panel("GPUs", "count(max by (instance, gpu) (DCGM_FI_DEV_GPU_TEMP))", kind="stat", width=4),
        Panel("Busy", "count(max by (instance, gpu) (DCGM_FI_DEV_GPU_UTIL) > 10) or vector(0)", kind="stat", width=4),
        Panel("Free", "count(max by (instance, gpu) (DCGM_FI_DEV_GPU_UTIL) <= 10 and max by (instance, gpu) (DCGM_FI_DEV_FB_USED) < 2000) or vector(0)", kind="stat", width=4),
        Panel("Power", "sum(max by (instance, gpu) (DCGM_FI_DEV_POWER_USAGE))", "watt", kind="stat", width=4),
        Panel("Down", "count(up == 0) or vector(0)", kind="stat", width=4),
        Panel("Mean utilization of each host", "avg by (instance) (DCGM_FI_DEV_GPU_UTIL)", "percent", "{{instance}}"),
        Panel("Tensor core activity of each host", "avg by (instance) (DCGM_FI_PROF_PIPE_TENSOR_ACTIVE)", "percentunit", "{{instance}}"),
        Panel("GPU memory used", "sum by (instance) (max by (instance, gpu, GPU_I_ID) (DCGM_FI_DEV_FB_USED)) * 1024 * 1024", "bytes", "{{instance}}"),
        Panel("Power of each host", "sum by (instance) (max by (instance, gpu) (DCGM_FI_DEV_POWER_USAGE))", "watt", "{{instance}}"),
        Panel("Hottest GPU of each host", "max by (instance) (DCGM_FI_DEV_GPU_TEMP)", "celsius", "{{instance}}"),
        Panel("Idle hosts", "sort(avg by (instance) (avg_over_time(DCGM_FI_DEV_GPU_UTIL[10m])) < 5) or vector(0)", "percent", "{{instance}}", "table"),
    ),
)  # fmt: skip
DASHBOARDS: Final = (HOST, JOB, USERS, FLEET)


def written(dashboard: Dashboard) -> str:
    """Return a dashboard as Grafana imports it."""
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


def _variable(variable: Variable) -> dict[str, Any]:
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
        is_once = panel.kind == "table"
        found.append(
            {
                "id": number, "type": panel.kind, "title": panel.title, "gridPos": place, "datasource": _DATASOURCE,
                "fieldConfig": {"defaults": {"unit": panel.unit}, "overrides": []},
                "targets": [
                    {
                        "refId": "A", "datasource": _DATASOURCE, "expr": panel.expr, "legendFormat": panel.legend,
                        **({"instant": True, "format": "table"} if is_once else {}),
                    }
                ],
            }
        )  # fmt: skip
    return found


if __name__ == "__main__":
    for each in DASHBOARDS:
        (FOLDER / f"{each.name}.json").write_text(written(each))
