"""Collectives on whole numbers that depend on the rank: every result is known exactly."""

import time
from collections.abc import Callable
from typing import Final, NamedTuple

import torch
import torch.distributed as dist
from torch import Tensor

from gputop_cuda_probe.turn import SkippedError, Turn

_GPU_BYTES: Final = (1 << 20, 256 << 20, 4 << 30)
_CPU_BYTES: Final = (1 << 16, 1 << 20)
_SMALL_GPU: Final = 16 << 20
_SMALL_CPU: Final = 1 << 17
_BUFFERS: Final = 8  # of the size, that a test holds at the same time at the most
_LEAST: Final = 5
_WARM_UP: Final = 2
_VALUES: Final = 1024  # small enough that sums over 16,000 ranks are exact
_WORD: Final = 4


class Made(NamedTuple):
    """One collective. ``begin`` makes the output ready, ``run`` fills it, ``must`` is what it holds then.

    ``output``: its size for that of the input and so many ranks. ``factor``: of bus bandwidth, as nccl-tests count.
    """

    output: Callable[[int, int], int]
    begin: Callable[[Tensor, Tensor], object]
    run: Callable[[Tensor, Tensor], object]
    must: Callable[["Place"], Tensor]
    factor: Callable[[int], float]


class Place(NamedTuple):
    """One rank: its number, the number of ranks, the common input, and its own part of it."""

    rank: int
    ranks: int
    base: Tensor

    @property
    def part(self) -> Tensor:
        """Return the part of the base that this rank is given."""
        size = self.base.numel() // self.ranks
        return self.base[self.rank * size : (self.rank + 1) * size]

    @property
    def sum(self) -> int:
        """Return the sum of all ranks."""
        return self.ranks * (self.ranks - 1) // 2


def _empty(output: Tensor, _: Tensor) -> None:
    output.fill_(-1)


def _numbers(place: Place) -> Tensor:
    return torch.arange(place.ranks, device=place.base.device, dtype=place.base.dtype)


_gather: Final = getattr(dist, "all_gather_single", dist.all_gather_into_tensor)  # the name since torch 2.13
_scatter: Final = getattr(dist, "reduce_scatter_single", dist.reduce_scatter_tensor)
MADE: Final = {
    "allreduce": Made(
        output=lambda size, _: size, begin=Tensor.copy_, run=lambda output, _: dist.all_reduce(output),
        must=lambda p: p.base * p.ranks + p.sum, factor=lambda n: 2 * (n - 1) / n,
    ),
    "allgather": Made(
        output=lambda size, n: size * n, begin=_empty, run=_gather, factor=lambda n: (n - 1) / n,
        must=lambda p: (p.base.reshape(1, -1) + _numbers(p).reshape(-1, 1)).reshape(-1),
    ),
    "reducescatter": Made(
        output=lambda size, n: size // n, begin=_empty, run=_scatter, factor=lambda n: (n - 1) / n,
        must=lambda p: p.part * p.ranks + p.sum,
    ),
    "alltoall": Made(
        output=lambda size, _: size, begin=_empty, run=dist.all_to_all_single, factor=lambda n: (n - 1) / n,
        must=lambda p: (p.part.reshape(1, -1) + _numbers(p).reshape(-1, 1)).reshape(-1),
    ),
}  # fmt: skip


def run(turn: Turn, made: Made) -> None:
    """Make it with buffers of several sizes: a small one shows latency, large ones bandwidth."""
    is_cpu = turn.device.is_cpu
    room = _least(turn, turn.device.room())
    sizes = [size for size in (_CPU_BYTES if is_cpu else _GPU_BYTES) if size * _BUFFERS <= room]
    if not sizes:
        raise SkippedError("there is too little free memory")
    for number, size in enumerate(sizes, 1):
        _one_size(turn, made, size, number / len(sizes))


def _one_size(turn: Turn, made: Made, size: int, until: float) -> None:
    ranks, rank = dist.get_world_size(), dist.get_rank()
    total = size // _WORD // ranks * ranks  # the larger one of input and output is of this size
    count = total // ranks if made.output(1, ranks) > 1 else total
    base = (torch.arange(count, dtype=torch.int32, device=turn.device.torch) % _VALUES).float()
    held = base + rank
    output = torch.empty(made.output(count, ranks), device=turn.device.torch)
    seconds: list[float] = []
    while len(seconds) < _WARM_UP + _LEAST or not _all_due(turn, until):
        made.begin(output, held)
        seconds.append(_once(turn, lambda: made.run(output, held)))
        rate = total * _WORD * made.factor(ranks) / (seconds[-1] * turn.faults.slowness)
        turn.tick(text=f"{_size(size)} over {ranks} ranks", rate=(rate, "B/s"))
    if turn.faults.has("flip"):
        output.view(torch.int32)[17] ^= 1
    if turn.faults.has("nan"):
        output[23] = float("nan")
    compare(turn, output, made.must(Place(rank, ranks, base)), size)
    longest = largest(turn, [each * turn.faults.slowness for each in seconds[_WARM_UP:]])
    if size <= (_SMALL_CPU if turn.device.is_cpu else _SMALL_GPU):
        turn.metric(f"time.{_size(size)}", longest, "s")
    else:
        factor = made.factor(ranks)
        turn.metric(f"busbw.{_size(size)}", [total * _WORD * factor / each for each in longest], "B/s")


def _once(turn: Turn, work: Callable[[], object]) -> float:
    """Return how long it takes from when all ranks are ready."""
    dist.barrier()
    turn.device.wait()
    begun_s = time.perf_counter()
    work()
    turn.device.wait()
    return max(time.perf_counter() - begun_s, 1e-9)


def largest(turn: Turn, values: "list[float]") -> "list[float]":
    """Return for each value the largest of all ranks."""
    held = torch.tensor(values, dtype=torch.float64, device=turn.device.torch)
    dist.all_reduce(held, op=dist.ReduceOp.MAX)
    return [float(each) for each in held.tolist()]


def compare(turn: Turn, held: Tensor, must: Tensor, size: int) -> None:
    """Tell which ranks have a wrong result; all of them say so to those that write."""
    bad = torch.ne(held, must)
    counts = torch.zeros(dist.get_world_size(), dtype=torch.int64, device=turn.device.torch)
    counts[dist.get_rank()] = bad.sum()
    dist.all_reduce(counts)
    for rank, count in enumerate(counts.tolist()):
        if count:
            turn.finding(
                "collective.wrong", "fail", f"rank {rank}: {count} of {held.numel()} numbers are wrong, {_size(size)}",
                rank=rank, bad=count, bytes=size,
            )  # fmt: skip


def _least(turn: Turn, value: int) -> int:
    """Return the least of all ranks: all have to do the same."""
    held = torch.tensor([value], dtype=torch.int64, device=turn.device.torch)
    dist.all_reduce(held, op=dist.ReduceOp.MIN)
    return int(held)


def _all_due(turn: Turn, until: float) -> bool:
    """Return whether the time is over by the first rank's clock: all ranks must stop at the same time."""
    held = torch.tensor([int(turn.is_due(until))], dtype=torch.int64, device=turn.device.torch)
    dist.broadcast(held, 0)
    return bool(int(held))


def _size(size: int) -> str:
    return next(f"{size >> shift}{unit}" for shift, unit in ((30, "GiB"), (20, "MiB"), (10, "KiB")) if size >> shift)
