"""The queries that describe a fleet, one row each: names of dcgm-exporter, and of ``gputop export`` where it runs.

Each is an aggregate of its own: on 1,000 hosts a query for several names at once costs ten times as much.
"""

import re
from collections.abc import Sequence
from typing import Final

from msgspec import Struct

from gputop.core.fleet.matcher import matcher

_LABEL: Final = re.compile(r"[a-zA-Z_][a-zA-Z0-9_]*", re.ASCII)
_MOST_NAMED: Final = 500  # instances in a query
_HOST_NAMES: Final = ("Hostname", "hostname", "nodename", "node")


NAMES: Final = "names"
DOWN: Final = "down"
AGENTS: Final = "agents"
USERS: Final = "users"
JOBS: Final = "jobs"
HOLDERS: Final = "holders"
PODS: Final = "pods"
FINDINGS: Final = "findings"
OTHER_NAMES: Final = "other names"
USED: Final = "used"
FREE: Final = "free"
WHOLE: Final = "whole"  # used and free memory, as they were once
GPU_TENSOR: Final = "tensor of GPUs"
GPU_POWER: Final = "power of GPUs"
OF_LABELS: Final = frozenset({NAMES, DOWN, AGENTS, USERS, JOBS, HOLDERS, PODS, FINDINGS, OTHER_NAMES})
_OTHERS: Final = (
    "DCGM_FI_DEV_GPU_UTIL", "DCGM_FI_DEV_FB_USED", "DCGM_FI_DEV_POWER_USAGE", "dcgm_gpu_temp", "dcgm_gpu_utilization",
    "nvidia_smi_temperature_gpu", "nvidia_smi_utilization_gpu_ratio", "all_smi_gpu_utilization",
    "all_smi_gpu_temperature_celsius", "gpu_utilization_Percentage", "nvidia_gpu_temperature_celsius",
    "nvidia_gpu_duty_cycle",
)  # fmt: skip


class Query(Struct, frozen=True):
    """A question in PromQL. ``key``: what it asks for."""

    key: str
    text: str


def queries(labels: Sequence[str] = (), *, over_s: int = 0) -> tuple[Query, ...]:
    """Return the queries. ``labels``: further labels of each host; ``over_s``: take the highest values of so long."""
    named = ", ".join(dict.fromkeys(("instance", "job", *_HOST_NAMES, "modelName", *labels)))
    return (
        Query(NAMES, f"count by ({named}) (DCGM_FI_DEV_GPU_TEMP)"),
        Query("utilization", _highest("DCGM_FI_DEV_GPU_UTIL", over_s)),
        Query("activity", _highest('DCGM_FI_PROF_GR_ENGINE_ACTIVE{GPU_I_ID!=""}', over_s)),
        Query(USED, _summed(_over("DCGM_FI_DEV_FB_USED", over_s))),
        Query(FREE, _summed("DCGM_FI_DEV_FB_FREE")),
        Query("tensor", "avg by (instance) (DCGM_FI_PROF_PIPE_TENSOR_ACTIVE)"),
        Query("power", "sum by (instance) (max by (instance, gpu) (DCGM_FI_DEV_POWER_USAGE))"),
        Query("temperature", "max by (instance) (DCGM_FI_DEV_GPU_TEMP)"),
        Query("xid", "max by (instance, gpu) (DCGM_FI_DEV_XID_ERRORS) != 0"),
        Query("age", "max by (instance) (time() - timestamp(DCGM_FI_DEV_GPU_TEMP))"),
        Query(DOWN, "up == 0"),
        Query(AGENTS, "count by (instance) (gputop_build_info)"),
        Query(USERS, "max by (instance, user) (gputop_user_gpus)"),
        Query(JOBS, "count by (instance, job_kind, job_id) (gputop_job_gpus)"),
        Query(
            HOLDERS,
            "count by (instance, gpu, job_kind, job_id, user)"
            " (gputop_job_gpu_memory_used_bytes or gputop_job_sm_utilization_ratio)",
        ),
        Query(
            PODS,
            "count by (instance, gpu, hpc_job, exported_namespace, exported_pod)"
            ' (DCGM_FI_DEV_FB_USED{hpc_job!=""} or DCGM_FI_DEV_FB_USED{exported_pod!=""})',
        ),
        Query(FINDINGS, 'count by (instance, code) (gputop_finding{stage!="observation"})'),
    )


def details(instances: Sequence[str] = ()) -> tuple[Query, ...]:
    """Return the queries for further values of each GPU: of these instances, or of all if there are none."""
    match = matcher({}, instances if len(instances) <= _MOST_NAMED else ())
    return (
        Query(GPU_TENSOR, f"avg by (instance, gpu) (DCGM_FI_PROF_PIPE_TENSOR_ACTIVE{match})"),
        Query(GPU_POWER, f"max by (instance, gpu) (DCGM_FI_DEV_POWER_USAGE{match})"),
    )


def naming() -> str:
    """Return the query for series of GPUs by other names, which a server without the usual ones may have."""
    return f'count by (__name__) ({{__name__=~"{"|".join(_OTHERS)}"}})'


def host_name(labels: dict[str, str]) -> str:
    """Return the name of a host: a label that says it, else its address without the port."""
    for name in _HOST_NAMES:
        if labels.get(name):
            return labels[name]
    return without_port(labels.get("instance", ""))


def without_port(address: str) -> str:
    """Return an address without its port: n1:9400 is n1, [::1]:9400 is [::1]."""
    head, colon, port = address.rpartition(":")
    return head if colon and port.isdecimal() else address


def is_label(text: str) -> bool:
    """Say whether a text may be the name of a label in a query."""
    return _LABEL.fullmatch(text) is not None


def _highest(series: str, over_s: int) -> str:
    return f"max by (instance, gpu) ({_over(series, over_s)})"


def _summed(series: str) -> str:
    """Return the query for the sum over the MIG instances of a GPU, of which a server may have several copies."""
    return f"sum by (instance, gpu) (max by (instance, gpu, GPU_I_ID) ({series}))"


def _over(series: str, over_s: int) -> str:
    return f"max_over_time({series}[{over_s}s])" if over_s else series
