"""Incidents of public issue threads as steady boxes; `python -m real.incidents FOLDER` prints what gputop says."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from examples import NOW
from judging import judge_of

from gputop.core.model.catalogue import (
    GPU_UTILIZATION,
    MEMORY_TOTAL,
    MEMORY_USED,
    MEMORY_UTILIZATION,
    POWER_AVERAGE,
    POWER_LIMIT,
    PSTATE,
    TEMPERATURE,
)
from gputop.core.model.metric import Missing
from gputop.core.model.owner import Owner
from gputop.core.model.sample import DriverInfo, Gpu, GpuProcess, Host, HostProcess, Job, Sample
from gputop.core.processes.jobs import JobFinder

MIB: Final = 1024**2
MINUTES: Final = 30
CONTEXT_MIB: Final = 150  # less belongs to the driver
LAUNCHER: Final = 900
HOST: Final = Host(name="incident", is_initial_pid_namespace=True)
NO_PROCESS: Final = ("orphan", "hidden_pid")  # the memory is there, its process is not


class Incident:
    """An incident. ``truth``: what the thread says that it was."""

    def __init__(self, line: str) -> None:
        known: dict[str, Any] = json.loads(line)
        self.id, self.truth, self.note = known["id"], known["truth"].partition(":")[0], known["note"]
        self._gpus: list[dict[str, Any]] = known["gpus"] or []
        self._name = known["boards"] or "GPU"

    @property
    def has_figures(self) -> bool:
        """Say whether it can be played: utilization, memory and power of each board are known."""
        return bool(self._gpus) and all({"util", "used_mib", "power_w"} <= gpu.keys() for gpu in self._gpus)

    def samples(self) -> Iterator[tuple[Sample, tuple[Job, ...]]]:
        """Return the samples of half an hour in which nothing changes; several boards are the ranks of one job."""
        finder = JobFinder()
        held = [] if self.truth in NO_PROCESS else [g for g in self._gpus if g["used_mib"] > CONTEXT_MIB]
        world = len(held)
        processes = tuple(_process(at, gpu, world) for at, gpu in enumerate(held))
        relatives = (_launcher(),) if world > 1 else ()
        for second in range(MINUTES * 60):
            gpus = tuple(_gpu(at, gpu, self._name, NOW + second) for at, gpu in enumerate(self._gpus))
            sample = Sample(
                time_s=NOW + second, interval_s=1.0, driver=DriverInfo(), host=HOST, gpus=gpus, processes=processes,
                relatives=relatives,
            )  # fmt: skip
            yield sample, finder.find(processes, relatives)

    def said(self) -> set[tuple[str, str]]:
        """Return code and stage of all that gputop says within the half hour."""
        judge = judge_of()
        return {(f.code, f.stage.value) for sample, jobs in self.samples() for f in judge.judge(sample, jobs)}


def incidents(folder: Path) -> list[Incident]:
    """Return the incidents that have figures."""
    found = (Incident(line) for line in (folder / "incidents.jsonl").read_text().splitlines())
    return [incident for incident in found if incident.has_figures]


def _process(at: int, gpu: dict[str, Any], world: int) -> HostProcess:
    index = gpu.get("index", at)
    use = GpuProcess(
        gpu=f"GPU-{index:08d}", gpu_index=index, type="C", memory_bytes=(gpu["used_mib"] - 100) * MIB,
        sm_percent=gpu["util"], window_s=1.0,
    )  # fmt: skip
    spins = gpu["util"] > 50
    owner = Owner(framework="torch", rank=at, world_size=world, master="node7:29500") if world > 1 else Owner()
    return HostProcess(
        pid=1000 + index, start_ticks=7, started_s=NOW - 3600, user="ann", command="python -u train.py",
        parent_pid=LAUNCHER if world > 1 else 1, state="R" if spins else "S", threads=8,
        cpu_percent=99.0 if spins else 0.0, busiest_thread_percent=99.0 if spins else 0.0, owner=owner, gpus=(use,),
    )  # fmt: skip


def _launcher() -> HostProcess:
    return HostProcess(
        pid=LAUNCHER, start_ticks=5, user="ann", command="python -m torch.distributed.run train.py", parent_pid=1,
        state="S", threads=4, cpu_percent=0.5, busiest_thread_percent=0.5, owner=Owner(framework="torchrun launcher"),
    )  # fmt: skip


def _gpu(at: int, gpu: dict[str, Any], name: str, time_s: float) -> Gpu:
    index = gpu.get("index", at)
    total = gpu.get("total_mib")
    state = gpu.get("pstate")
    metrics = {
        GPU_UTILIZATION.key: gpu["util"], MEMORY_UTILIZATION.key: gpu.get("mem_util"),
        POWER_AVERAGE.key: gpu["power_w"],
        POWER_LIMIT.key: gpu.get("limit_w"), MEMORY_USED.key: gpu["used_mib"] * MIB,
        MEMORY_TOTAL.key: total and total * MIB, TEMPERATURE.key: gpu.get("temp_c"),
        PSTATE.key: None if state is None else int(state[1:]),
    }  # fmt: skip
    missing = {key: Missing.UNSUPPORTED for key, value in metrics.items() if value is None}
    return Gpu(
        index=index, uuid=f"GPU-{index:08d}", name=name, bus_id=f"00000000:{index + 1:02X}:00.0", read_s=time_s,
        metrics=metrics, missing=missing,
    )  # fmt: skip


if __name__ == "__main__":
    for each in incidents(Path(sys.argv[1])):
        print(each.id, each.truth, *sorted(": ".join(pair) for pair in each.said()), sep=" | ")  # noqa: T201
