"""Sums over all GPUs of a box, or of several: one process per GPU, started by torchrun or srun. Every sum is exact.

Rank 0 writes the events. The plan is in the variable ``GPUTOP_PROBE_PLAN``; the end of stdin ends all ranks.
"""

import json
import os
import threading
import time
from datetime import timedelta
from typing import Any, Final

import torch
import torch.distributed as dist

from gputop_cuda_probe.faults import Faults, read_faults
from gputop_cuda_probe.lines import Lines, Stop, heart
from gputop_cuda_probe.turn import Device, Turn

PLAN: Final = "GPUTOP_PROBE_PLAN"
TEST: Final = "allreduce"
_PATIENCE: Final = timedelta(seconds=60)
_GPU_BYTES: Final = (1 << 20, 256 << 20)
_CPU_BYTES: Final = (1 << 16, 1 << 20)
_REPEATS: Final = 5


def main() -> None:
    """Run one rank; the exit status is 0 if the test could be made, whatever it found."""
    _take_from_slurm(os.environ)
    plan = json.loads(os.environ.get(PLAN, "{}"))
    rank = int(os.environ["RANK"])
    lines = Lines() if rank == 0 else _Silent()
    stop = Stop()
    stop.listen()
    threading.Thread(target=lambda: (stop.wait(), os._exit(130)), daemon=True).start()
    device = Device(plan.get("device", "cuda" if torch.cuda.is_available() else "cpu"), rank, 1.0, None)
    turn = Turn(TEST, device, lines, Faults(read_faults(), TEST, rank))
    turn.seconds = float(plan.get("seconds", 10.0))
    lines.send("hello", name=f"{os.environ['WORLD_SIZE']} ranks", torch=torch.__version__, pid=os.getpid())
    heart(lines, turn.count)
    lines.send("start", id=TEST)
    turn.begin()
    _join(device)
    _sum(turn)
    status = "fail" if "fail" in turn.statuses else "pass"
    lines.send("end", id=TEST, status=status, dur_s=round(turn.elapsed_s, 3), reason="")
    lines.send("summary", status=status)
    dist.destroy_process_group()


def _take_from_slurm(environment: Any) -> None:  # noqa: ANN401 - os.environ, which is written to
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


def _sum(turn: Turn) -> None:
    """Sum whole numbers that depend on the rank, in two sizes: one shows latency, one bandwidth."""
    ranks, rank = dist.get_world_size(), dist.get_rank()
    turn.param(ranks=ranks, backend=dist.get_backend())
    for size in _CPU_BYTES if turn.device.is_cpu else _GPU_BYTES:
        turn.faults.strike()
        count = size // 4
        base = (torch.arange(count, device=turn.device.torch) % 1024).float()
        must = base * ranks + ranks * (ranks - 1) // 2
        seconds = [_once(turn, base + rank) for _ in range(2 + _REPEATS)][2:]
        held = base + rank
        dist.all_reduce(held)
        if turn.faults.has("flip"):
            held.view(torch.int32)[17] ^= 1
        if turn.faults.has("nan"):
            held[23] = float("nan")
        _compare(turn, held, must, size)
        longest = _longest(turn, seconds)
        factor = 2 * (ranks - 1) / ranks  # as nccl-tests count: what each link carries
        turn.metric(f"busbw_{size >> 10}k", [size / each * factor / turn.faults.slowness for each in longest], "B/s")


def _once(turn: Turn, held: torch.Tensor) -> float:
    dist.barrier()
    turn.device.wait()
    begun_s = time.perf_counter()
    dist.all_reduce(held)
    turn.device.wait()
    turn.tick()
    return time.perf_counter() - begun_s


def _longest(turn: Turn, seconds: "list[float]") -> "list[float]":
    """Return for each repeat the time of the slowest rank."""
    held = torch.tensor(seconds, dtype=torch.float64, device=turn.device.torch)
    dist.all_reduce(held, op=dist.ReduceOp.MAX)
    return [float(each) for each in held.tolist()]


def _compare(turn: Turn, held: torch.Tensor, must: torch.Tensor, size: int) -> None:
    """Tell which ranks have a wrong sum; all of them say so to rank 0."""
    bad = torch.ne(held, must)
    counts = torch.zeros(dist.get_world_size(), dtype=torch.int64, device=turn.device.torch)
    counts[dist.get_rank()] = bad.sum()
    dist.all_reduce(counts)
    for rank, count in enumerate(counts.tolist()):
        if count:
            turn.finding(
                "allreduce.wrong", "fail", f"rank {rank}: {count} of {held.numel()} sums of {size} bytes are wrong",
                rank=rank, bad=count, bytes=size,
            )  # fmt: skip


class _Silent(Lines):
    """The events of the other ranks, which are not told."""

    def __init__(self) -> None:
        os.dup2(2, 1)

    def send(self, event: str, **fields: Any) -> None:  # noqa: ANN401 - as its parent
        """Drop it."""


if __name__ == "__main__":
    main()
