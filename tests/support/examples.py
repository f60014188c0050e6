"""Frames made by hand, for tests that need no machine."""

from typing import Any

from gputop.core.model.catalogue import (
    GPU_UTILIZATION,
    MEMORY_TOTAL,
    MEMORY_USED,
    POWER_AVERAGE,
    POWER_LIMIT,
    TEMPERATURE,
    TEMPERATURE_SLOWDOWN,
)
from gputop.core.model.metric import Metric, Missing
from gputop.core.model.sample import DriverInfo, Frame, Gpu, GpuProcess, Host, HostProcess

GIB = 1024**3
NOW = 1_800_000_000.0


def gpu(index: int = 0, values: dict[Metric[Any], Any] | None = None, **fields: Any) -> Gpu:
    """Return a busy GPU; a `Missing` among ``values`` is an absent value with that reason."""
    usual: dict[Metric[Any], Any] = {
        GPU_UTILIZATION: 90,
        MEMORY_TOTAL: 80 * GIB,
        MEMORY_USED: 40 * GIB,
        TEMPERATURE: 60,
        TEMPERATURE_SLOWDOWN: 89,
        POWER_AVERAGE: 500.0,
        POWER_LIMIT: 700.0,
    }
    answers = usual | (values or {})
    given: dict[str, Any] = {
        "index": index,
        "uuid": f"GPU-{index:08d}",
        "name": "NVIDIA H100 80GB HBM3",
        "bus_id": f"00000000:{index + 1:02X}:00.0",
        "read_s": NOW,
        "metrics": {m.key: None if isinstance(v, Missing) else v for m, v in answers.items()},
        "missing": {m.key: v for m, v in answers.items() if isinstance(v, Missing)},
    } | fields
    return Gpu(**given)


def process(pid: int = 4711, *indices: int, **fields: Any) -> HostProcess:
    """Return a process on the GPUs of these indices (0 if none is given)."""
    given: dict[str, Any] = {
        "pid": pid,
        "start_ticks": pid * 10,
        "started_s": NOW - 3600,
        "user": "ann",
        "command": f"python train.py --seed {pid}",
        "state": "S",
        "nice": 0,
        "threads": 8,
        "cpu_percent": 99.0,
        "busiest_thread_percent": 98.0,
        "memory_bytes": 3 * GIB,
        "gpus": tuple(
            GpuProcess(gpu=f"GPU-{i:08d}", gpu_index=i, type="C", memory_bytes=10 * GIB, sm_percent=80.0)
            for i in indices or (0,)
        ),
    } | fields
    return HostProcess(**given)


def frame(gpus: int | tuple[Gpu, ...] = 2, processes: tuple[HostProcess, ...] | None = None, **fields: Any) -> Frame:
    """Return a frame of so many GPUs, or of these, with a process on each unless others are given."""
    held = tuple(gpu(i) for i in range(gpus)) if isinstance(gpus, int) else gpus
    given: dict[str, Any] = {
        "time_s": NOW,
        "interval_s": 1.0,
        "sequence": 1,
        "driver": DriverInfo(version="570.124.06", cuda_version="12.8", nvml_version="12.570.124.06"),
        "host": Host(
            name="node7",
            uptime_s=86_400.0,
            cpu_percent=12.0,
            cores_percent=(10.0, 14.0),
            load=(1.0, 2.0, 3.0),
            memory_total_bytes=1000 * GIB,
            memory_used_bytes=250 * GIB,
            swap_total_bytes=8 * GIB,
            swap_used_bytes=0,
        ),
        "gpus": held,
        "processes": tuple(process(4711 + g.index, g.index) for g in held) if processes is None else processes,
    } | fields
    return Frame(**given)
