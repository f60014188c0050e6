"""The yardstick of a snapshot: the same readings by a plain script with nvidia-ml-py, /proc and json.

    python bench/bare.py [SECONDS]      the time between the two readings of the processes (default 1)

It is a script that takes an hour to write: no start-up tricks, every call once, pynvml's own lists. A test compares
`CALLS` and `FIELDS` with gputop's catalogue, so that the yardstick grows with it.
"""
# ruff: noqa: ANN401 - pynvml has no types

import json
import pwd
import sys
import time
from typing import Any

import pynvml

CALLS: tuple[tuple[str, tuple[int, ...]], ...] = (
    ("nvmlDeviceGetUUID", ()),
    ("nvmlDeviceGetName", ()),
    ("nvmlDeviceGetPciInfo", ()),
    ("nvmlDeviceGetSerial", ()),
    ("nvmlDeviceGetVbiosVersion", ()),
    ("nvmlDeviceGetArchitecture", ()),
    ("nvmlDeviceGetCudaComputeCapability", ()),
    ("nvmlDeviceGetNumGpuCores", ()),
    ("nvmlDeviceGetMinorNumber", ()),
    ("nvmlDeviceGetUtilizationRates", ()),
    ("nvmlDeviceGetEncoderUtilization", ()),
    ("nvmlDeviceGetDecoderUtilization", ()),
    ("nvmlDeviceGetJpgUtilization", ()),
    ("nvmlDeviceGetOfaUtilization", ()),
    ("nvmlDeviceGetMemoryInfo", (pynvml.nvmlMemory_v2,)),
    ("nvmlDeviceGetBAR1MemoryInfo", ()),
    ("nvmlDeviceGetTemperatureV", (0,)),
    ("nvmlDeviceGetMarginTemperature", ()),
    ("nvmlDeviceGetTemperatureThreshold", (0,)),
    ("nvmlDeviceGetTemperatureThreshold", (1,)),
    ("nvmlDeviceGetTemperatureThreshold", (2,)),
    ("nvmlDeviceGetFanSpeed", ()),
    ("nvmlDeviceGetEnforcedPowerLimit", ()),
    ("nvmlDeviceGetPowerManagementDefaultLimit", ()),
    ("nvmlDeviceGetPowerManagementLimitConstraints", ()),
    *(("nvmlDeviceGetClockInfo", (kind,)) for kind in range(4)),
    *(("nvmlDeviceGetMaxClockInfo", (kind,)) for kind in range(4)),
    ("nvmlDeviceGetPerformanceState", ()),
    ("nvmlDeviceGetCurrentClocksEventReasons", ()),
    ("nvmlDeviceGetCurrPcieLinkGeneration", ()),
    ("nvmlDeviceGetCurrPcieLinkWidth", ()),
    ("nvmlDeviceGetMaxPcieLinkGeneration", ()),
    ("nvmlDeviceGetMaxPcieLinkWidth", ()),
    ("nvmlDeviceGetEccMode", ()),
    ("nvmlDeviceGetRemappedRows", ()),
    ("nvmlDeviceGetPersistenceMode", ()),
    ("nvmlDeviceGetComputeMode", ()),
    ("nvmlDeviceGetVirtualizationMode", ()),
    ("nvmlDeviceGetEncoderStats", ()),
    ("nvmlDeviceGetMigMode", ()),
    *(("nvmlDeviceGetNvLinkState", (link,)) for link in range(18)),
)
FIELDS: tuple[tuple[int, int], ...] = (
    (185, 1),
    *((field, 0) for field in (3, 4, 5, 6, 29, 30, 31, 74, 76, 82, 83, 91, 94, 161, 162, 163, 173, 179, 180, 185, 186)),
    *((field, 0) for field in (230, 269, 270, 271)),
    (138, 0xFFFFFFFF),
    (139, 0xFFFFFFFF),
)
PROFILING = (1, 2, 3, 5, 10, 11, 12, 13, 20, 21)
LISTS = (
    "nvmlDeviceGetComputeRunningProcesses",
    "nvmlDeviceGetGraphicsRunningProcesses",
    "nvmlDeviceGetMPSComputeRunningProcesses",
)


def main() -> None:
    """Read everything and print it."""
    wait_s = float(sys.argv[1]) if len(sys.argv) > 1 else 1.0
    pynvml.nvmlInit()
    handles = [pynvml.nvmlDeviceGetHandleByIndex(index) for index in range(pynvml.nvmlDeviceGetCount())]
    gpus = [read_gpu(handle) for handle in handles]
    before, samples = read_changing(handles), [profiling_sample(handle) for handle in handles]
    time.sleep(wait_s)
    after = read_changing(handles)
    activity = [profiling(handle, sample) for handle, sample in zip(handles, samples, strict=True)]
    driver = [ask(name) for name in ("nvmlSystemGetDriverVersion", "nvmlSystemGetCudaDriverVersion_v2")]
    print(json.dumps({"driver": driver, "gpus": gpus, "activity": activity, "before": before, "after": after}))


def ask(name: str, *args: Any) -> Any:
    """Return the answer, or None without one."""
    try:
        return getattr(pynvml, name)(*args)
    except pynvml.NVMLError:
        return None


def read_gpu(handle: Any) -> dict[str, Any]:
    """Make every call once."""
    return {f"{name}{args or ''}": plain(ask(name, handle, *args)) for name, args in CALLS}


def read_changing(handles: list[Any]) -> dict[str, Any]:
    """Read counters and processes; rates need them twice."""
    fields, uses = [], []
    utilization: dict[int, int] = {}
    for index, handle in enumerate(handles):
        values = ask("nvmlDeviceGetFieldValues", handle, list(FIELDS)) or ()
        fields.append([value.value.ullVal if value.nvmlReturn == 0 else None for value in values])
        for name in LISTS:
            uses += [{"gpu": index, "pid": use.pid, "memory": use.usedGpuMemory} for use in ask(name, handle) or ()]
        samples = ask("nvmlDeviceGetProcessUtilization", handle, 0) or ()
        utilization |= {sample.pid: sample.smUtil for sample in samples}
    return {"fields": fields, "uses": uses, "sm": utilization, "processes": read_processes({u["pid"] for u in uses})}


def read_processes(pids: set[int]) -> dict[int, Any]:
    """Return the values of these processes from /proc."""
    found = {}
    for pid in pids:
        try:
            with open(f"/proc/{pid}/stat") as file:
                stat = file.read().rpartition(")")[2].split()
            with open(f"/proc/{pid}/status") as file:
                status = dict(line.split(":\t", 1) for line in file.read().splitlines() if ":\t" in line)
            with open(f"/proc/{pid}/cmdline") as file:
                command = file.read().replace("\0", " ").strip()
        except OSError:
            continue
        user = pwd.getpwuid(int(status["Uid"].split()[0])).pw_name
        ticks = int(stat[11]) + int(stat[12])
        found[pid] = {"user": user, "ticks": ticks, "rss": status.get("VmRSS"), "state": stat[0], "command": command}
    return found


def profiling_sample(handle: Any) -> Any:
    """Take a sample of the profiling counters, if there are any."""
    support = ask("nvmlGpmQueryDeviceSupport", handle)
    if support is None or not support.isSupportedDevice:
        return None
    return ask("nvmlGpmSampleGet", handle, pynvml.nvmlGpmSampleAlloc())


def profiling(handle: Any, before: Any) -> list[float] | None:
    """Return the activity of the chip since the sample."""
    after = profiling_sample(handle) if before is not None else None
    if after is None:
        return None
    request = pynvml.c_nvmlGpmMetricsGet_t()
    request.version, request.numMetrics = pynvml.NVML_GPM_METRICS_GET_VERSION, len(PROFILING)
    request.sample1, request.sample2 = before, after
    for place, metric in enumerate(PROFILING):
        request.metrics[place].metricId = metric
    pynvml.nvmlGpmMetricsGet(request)
    return [request.metrics[place].value for place in range(len(PROFILING))]


def plain(value: Any) -> Any:
    """Return numbers and text instead of a structure."""
    fields = getattr(value, "_fields_", None)
    if not fields:
        return value
    values = {field[0]: getattr(value, field[0]) for field in fields}
    return {name: v.decode(errors="replace") if isinstance(v, bytes) else v for name, v in values.items()}


if __name__ == "__main__":
    main()
