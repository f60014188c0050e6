"""Collectives over all GPUs of a box, or of several: one process per GPU, started by torchrun or srun. All are exact.

The first rank of each box writes the events. The plan is in the variable ``GPUTOP_PROBE_PLAN``, and then the end of
stdin ends all ranks; without it all tests are run.
"""

import json
import os
import threading
from collections.abc import MutableMapping
from datetime import timedelta
from typing import Any, Final

import torch
import torch.distributed as dist

from gputop_cuda_probe.exchange import exchange
from gputop_cuda_probe.faults import Faults, read_faults
from gputop_cuda_probe.lines import Lines, Stop, heart
from gputop_cuda_probe.shared import MADE, run
from gputop_cuda_probe.turn import Device, SkippedError, Turn

PLAN: Final = "GPUTOP_PROBE_PLAN"
_PREFIX: Final = "collective."
_PATIENCE: Final = timedelta(seconds=60)
_SECONDS: Final = 10.0
RUN: Final = {f"{_PREFIX}{name}": made for name, made in MADE.items()} | {f"{_PREFIX}sendrecv": None}


def main() -> None:
    """Run one rank; the exit status is 0 if the tests could be made, whatever they found."""
    _take_from_slurm(os.environ)
    plan = json.loads(os.environ.get(PLAN, "{}"))
    rank = int(os.environ["RANK"])
    lines = Lines() if os.environ.get("LOCAL_RANK", "0") == "0" else _Silent()
    if PLAN in os.environ:  # without gputop stdin is that of srun, which may be closed
        stop = Stop()
        stop.listen()
        threading.Thread(target=lambda: (stop.wait(), os._exit(130)), daemon=True).start()
    kind = plan.get("device", "cuda" if torch.cuda.is_available() else "cpu")
    device = Device(kind, rank, float(plan.get("memory", 0.9)), plan.get("budget"))
    lines.send("hello", name=f"{os.environ['WORLD_SIZE']} ranks", torch=torch.__version__, pid=os.getpid())
    count = [0]
    heart(lines, count)
    _join(device)
    faults = read_faults()
    for row in plan.get("tests") or [{"id": name, "seconds": _SECONDS} for name in RUN]:
        turn = Turn(row["id"], device, lines, Faults(faults, row["id"], rank))
        turn.seconds, turn.seed, turn.count = float(row["seconds"]), int(plan.get("seed", 1)), count
        _run_one(turn, lines)
    lines.send("summary", status="done")
    dist.destroy_process_group()


def _run_one(turn: Turn, lines: Lines) -> None:
    lines.send("start", id=turn.test)
    turn.begin()
    reason, status = "", ""
    turn.param(ranks=dist.get_world_size(), backend=dist.get_backend())
    try:
        turn.faults.strike()
        made = RUN[turn.test]
        if made is None:
            exchange(turn)
        else:
            run(turn, made)
    except SkippedError as error:
        reason, status = str(error), "skip"
    if "fail" in turn.statuses:
        status = "fail"
    turn.device.clear()
    lines.send("end", id=turn.test, status=status or "pass", dur_s=round(turn.elapsed_s, 3), reason=reason)


def _take_from_slurm(environment: MutableMapping[str, str]) -> None:
    """Name the rank as torch does, where srun started us and not torchrun."""
    names = {"RANK": "SLURM_PROCID", "LOCAL_RANK": "SLURM_LOCALID", "WORLD_SIZE": "SLURM_NTASKS"}
    for name, other in names.items():
        if name not in environment and other in environment:
            environment[name] = environment[other]
    environment.setdefault("MASTER_PORT", "29511")


def _join(device: Device) -> None:
    """Meet the other ranks, on GPUs over NCCL."""
    if device.is_cpu:
        dist.init_process_group("gloo", timeout=_PATIENCE)
        return
    local = int(os.environ.get("LOCAL_RANK", "0"))
    torch.cuda.set_device(local)
    device.torch = torch.device("cuda", local)
    dist.init_process_group("nccl", timeout=_PATIENCE, device_id=device.torch)


class _Silent(Lines):
    """Drops the events of the other ranks."""

    def __init__(self) -> None:
        os.dup2(2, 1)

    def send(self, event: str, **fields: Any) -> None:  # noqa: ANN401 - as its parent
        """Drop it."""


if __name__ == "__main__":
    main()
