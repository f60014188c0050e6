"""A simulated box with a fault for each GPU, and what gputop should say of a GPU whose calls fail.

One GPU of the box is healthy. All are alike otherwise, so that it tells what the others would say: one run of the
program tries a function with every error code.
"""

import json
from collections.abc import Iterable, Sequence
from typing import Any, Final

from gputop.core.model.catalogue import CATALOGUE
from gputop.core.model.metric import Field, FieldRate, Gpm, Metric, NvmlCall, Origin

CODES: Final = (*range(1, 31), 77, 999)  # 77: of a driver that is newer than nvml.h
LOST: Final = (15, 16)
REASONS: Final = {
    3: "unsupported", 4: "forbidden", 13: "outdated", 15: "lost", 16: "lost", 17: "forbidden", 21: "not_yet",
    25: "outdated", 26: "outdated", 27: "not_yet",
}  # fmt: skip
LASTING: Final = ("unsupported", "forbidden", "outdated")
FIELDS: Final = "nvmlDeviceGetFieldValues"
GPM: Final = ("nvmlGpmQueryDeviceSupport", "nvmlGpmSampleGet", "nvmlGpmMetricsGet")
OF_READINGS: Final = {
    "multiprocessors": ("nvmlDeviceGetNumGpuCores", "nvmlDeviceGetCudaComputeCapability"),
    "nvlink_links_down": ("nvmlDeviceGetNvLinkState",),
}
OF_GPU: Final = (
    "nvmlDeviceGetComputeRunningProcesses", "nvmlDeviceGetGraphicsRunningProcesses",
    "nvmlDeviceGetMPSComputeRunningProcesses", "nvmlDeviceGetProcessesUtilizationInfo", "nvmlDeviceGetName",
    "nvmlDeviceGetPciInfo", "nvmlDeviceGetUUID", "nvmlDeviceGetSupportedEventTypes", "nvmlDeviceRegisterEvents",
)  # fmt: skip
SYSTEM: Final = (
    "nvmlSystemGetDriverVersion", "nvmlSystemGetNVMLVersion", "nvmlSystemGetCudaDriverVersion", "nvmlEventSetCreate",
    "nvmlEventSetWait", "nvmlGpmSampleAlloc",
)  # fmt: skip
LATE: Final = ("nvmlGpmMetricsGet",)  # fails in the second reading; a rate in its place needs two more
OTHERS: Final = ("nvmlEventSetCreate", "nvmlEventSetWait")  # only a stream calls them
MOVING: Final = {
    "energy_j",
    "pcie_tx_bytes_per_s",
    "pcie_rx_bytes_per_s",
    "nvlink_tx_bytes_per_s",
    "nvlink_rx_bytes_per_s",
    "serial",
    "minor_number",
}  # fmt: skip - grows, or tells GPUs apart


def functions_of(origin: Origin) -> tuple[str, ...]:
    """Return the driver's functions that an origin of a metric calls."""
    match origin:
        case NvmlCall():
            return (origin.name,)
        case Field() | FieldRate():
            return (FIELDS,)
        case Gpm():
            return GPM
        case _:
            return OF_READINGS.get(origin.name, ("nvmlDeviceGetMemoryInfo",))


METRIC_FUNCTIONS: Final = tuple(
    dict.fromkeys(name for metric in CATALOGUE for origin in metric.origins for name in functions_of(origin))
)


def expected(metric: Metric[Any], function: str, code: int) -> str | None:
    """Return why a metric is absent where a function fails; None where another origin has the value."""
    why = REASONS.get(code, "fault")
    if not any(function in functions_of(origin) for origin in metric.origins):
        return None
    if function not in functions_of(metric.origins[0]):
        return None  # it is not asked for
    others = [origin for origin in metric.origins if function not in functions_of(origin)]
    return None if why in LASTING and others else why


def scenario(faults: Iterable[Sequence[str]], pids: Sequence[int] = (), *, box: str = "") -> str:
    """Return a box of H100s: a healthy one, and one for each fault, with a process on each."""
    held = list(faults)
    lines = [f"[box]\ngpus = {len(held) + 1}\nmodel = h100\n{box}", "[gpu *]\nutil = 50\ntemp = 60\npower = 400"]
    lines += ["nvlink.tx = 1000000\nnvlink.rx = 1000000\npcie.tx = 1000\npcie.rx = 1000"]
    lines += ["\n".join((f"[gpu {n}]", *fault)) for n, fault in enumerate(held, 1)]
    lines += [f"[process]\npid = {pid}\ngpu = 0-{len(held)}\nmem = 1GiB\nsm = 40\n" for pid in pids]
    return "\n".join(lines) + "\n"


def compared(gpu: dict[str, Any], healthy: dict[str, Any], why: dict[str, str | None]) -> list[str]:
    """Return what is wrong with what a GPU says; ``why``: the metrics that are to be absent."""
    wrong = []
    for key, good in healthy["metrics"].items():
        value, reason = gpu["metrics"][key], gpu["missing"].get(key)
        if why.get(key) is not None:
            if value is not None or reason != why[key]:
                wrong.append(f"{key}: {value} ({reason}) and not absent ({why[key]})")
        elif (value is None) is not (good is None) or reason != healthy["missing"].get(key):
            wrong.append(f"{key}: {value} ({reason}) and not {good}")
        elif key not in MOVING and not alike(value, good):
            wrong.append(f"{key}: {value} and not {good}")
    return wrong


def alike(value: Any, good: Any) -> bool:
    """Return whether two readings of GPUs with the same work are equal."""
    if isinstance(good, bool) or not isinstance(good, (int, float)):
        return bool(value == good)
    return isinstance(value, (int, float)) and abs(value - good) <= max(5.0, abs(good) * 0.2)


def frame_of(text: str) -> dict[str, Any]:
    """Return the last frame of what was printed."""
    return dict(json.loads(text.strip().splitlines()[-1]))
