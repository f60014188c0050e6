"""Recordings of real boards as samples: the boards as they were, and one stand-in process per GPU in use."""

import csv
import lzma
from collections.abc import Iterable, Iterator
from itertools import groupby
from pathlib import Path
from typing import Final

from examples import NOW

from gputop.core.model.catalogue import (
    CLOCKS_EVENT_REASONS,
    DRAM_ACTIVE,
    EVENT_REASONS,
    GPU_UTILIZATION,
    MEMORY_TOTAL,
    MEMORY_USED,
    MEMORY_UTILIZATION,
    NVLINK_RX,
    NVLINK_TX,
    PCIE_RX,
    PCIE_TX,
    POWER_AVERAGE,
    POWER_LIMIT,
    SM_ACTIVE,
    TEMPERATURE,
    TENSOR_ACTIVE,
)
from gputop.core.model.metric import Metric, Missing
from gputop.core.model.owner import Owner
from gputop.core.model.sample import DriverInfo, Gpu, GpuProcess, Host, HostProcess, Job, MetricValue, Sample
from gputop.core.processes.jobs import JobFinder

MIB: Final = 1024**2
LAUNCHER: Final = 900
EMPTY_MIB: Final = 100  # a board without a context holds less
LIMITS_W: Final = {"H100": 700.0, "TITAN X": 250.0}

# column, metric, factor
_COLUMNS: Final[tuple[tuple[str, Metric[float] | Metric[int], float], ...]] = (
    ("power_w", POWER_AVERAGE, 1), ("util_pct", GPU_UTILIZATION, 1), ("mem_util_pct", MEMORY_UTILIZATION, 1),
    ("mem_used_mib", MEMORY_USED, MIB), ("mem_total_mib", MEMORY_TOTAL, MIB), ("temp_c", TEMPERATURE, 1),
    ("sm_active_pct", SM_ACTIVE, 1), ("tensor_active_pct", TENSOR_ACTIVE, 1), ("dram_active_pct", DRAM_ACTIVE, 1),
    ("pcie_tx_bytes_s", PCIE_TX, 1), ("pcie_rx_bytes_s", PCIE_RX, 1), ("nvlink_tx_bytes_s", NVLINK_TX, 1),
    ("nvlink_rx_bytes_s", NVLINK_RX, 1),
)  # fmt: skip

Row = dict[str, str]
Second = tuple[float, list[Row]]


class Recording:
    """A recording. ``hours``: its GPU-hours."""

    def __init__(self, path: Path) -> None:
        self.name = path.name.split(".")[0]
        with lzma.open(path, "rt") as file:
            rows = list(csv.DictReader(file))
        self.seconds: list[Second] = [
            (float(key), list(group)) for key, group in groupby(rows, lambda row: row["second"])
        ]
        self.hours = len(rows) / 3600

    def samples(self, *, has_cpu: bool) -> Iterator[tuple[Sample, tuple[Job, ...]]]:
        """Return the samples and jobs; eight busy GPUs are the ranks of one job.

        ``has_cpu``: the CPU use of the stand-ins is known; they feed their GPU with a thread.
        """
        return self.played(self.seconds, has_cpu=has_cpu)

    def played(self, seconds: Iterable[Second], *, has_cpu: bool) -> Iterator[tuple[Sample, tuple[Job, ...]]]:
        """Return the samples and jobs of other seconds of the same boards."""
        finder = JobFinder()
        work = max(float(row["util_pct"]) for _, rows in self.seconds for row in rows)
        is_job = len(self.seconds[0][1]) == 8 and work > 50
        relatives = (_launcher(),) if is_job else ()
        for second, rows in seconds:
            time_s = NOW + second
            held = [row for row in rows if float(row["mem_used_mib"]) > EMPTY_MIB]
            processes = tuple(_process(row, is_job=is_job, has_cpu=has_cpu) for row in held)
            gpus = tuple(_gpu(row, time_s) for row in rows)
            sample = Sample(
                time_s=time_s, interval_s=1.0, driver=DriverInfo(), host=Host(name="real", cores_percent=(10.0,) * 64),
                gpus=gpus, processes=processes, relatives=relatives if processes else (),
            )  # fmt: skip
            yield sample, finder.find(sample.processes, sample.relatives)


def _launcher() -> HostProcess:
    return HostProcess(
        pid=LAUNCHER, start_ticks=5, user="ann", command="python -m torch.distributed.run train.py", parent_pid=1,
        state="S", threads=4, cpu_percent=0.5, busiest_thread_percent=0.5, owner=Owner(framework="torchrun launcher"),
    )  # fmt: skip


def _process(row: Row, *, is_job: bool, has_cpu: bool) -> HostProcess:
    index, feeds = int(row["gpu"]), float(row["util_pct"]) > 0
    cpu_percent = (99.0 if feeds else 1.0) if has_cpu else None
    use = GpuProcess(
        gpu=f"GPU-{index:08d}", gpu_index=index, type="C", memory_bytes=int(float(row["mem_used_mib"]) * MIB),
        sm_percent=float(row["util_pct"]), window_s=1.0,
    )  # fmt: skip
    owner = Owner(framework="torch", rank=index, world_size=8, master="node7:29500") if is_job else Owner()
    return HostProcess(
        pid=1000 + index, start_ticks=7, started_s=NOW - 60, user="ann", command="python -u train.py",
        parent_pid=LAUNCHER if is_job else 1, state="R" if feeds else "S", threads=8, cpu_percent=cpu_percent,
        busiest_thread_percent=cpu_percent, owner=owner, gpus=(use,),
    )  # fmt: skip


def _gpu(row: Row, time_s: float) -> Gpu:
    index, name = int(row["gpu"]), row["name"]
    metrics: dict[str, MetricValue] = {
        metric.key: float(row[column]) * factor if row[column] else None for column, metric, factor in _COLUMNS
    }
    mask = row["clocks_event_reasons"]
    metrics[EVENT_REASONS.key] = _reasons(int(float(mask))) if mask else None
    metrics[POWER_LIMIT.key] = next(watts for mark, watts in LIMITS_W.items() if mark in name)
    missing = {key: Missing.UNSUPPORTED for key, value in metrics.items() if value is None}
    return Gpu(
        index=index, uuid=f"GPU-{index:08d}", name=name, bus_id=f"00000000:{index + 1:02X}:00.0", read_s=time_s,
        metrics=metrics, missing=missing,
    )  # fmt: skip


def _reasons(mask: int) -> tuple[str, ...]:
    return tuple(name for bit, name in CLOCKS_EVENT_REASONS.items() if mask & bit)
