"""Ranks send to each other in pairs, each pair once: what one rank is bad at shows in all of its pairs."""

import time
from collections.abc import Iterator
from statistics import median_high
from typing import Final

import torch
import torch.distributed as dist
from torch import Tensor

from gputop_cuda_probe.shared import compare
from gputop_cuda_probe.turn import SkippedError, Turn

_GPU_BYTES: Final = 64 << 20
_CPU_BYTES: Final = 1 << 18
_WORD: Final = 4
_VALUES: Final = 1024
_REPEATS: Final = 5
_MOST_MATRIX: Final = 16  # ranks up to which each pair is listed


def exchange(turn: Turn) -> None:
    """Have all ranks exchange numbers with one partner each, in as many rounds as there are partners."""
    ranks, rank = dist.get_world_size(), dist.get_rank()
    if ranks < 2:
        raise SkippedError("it takes two ranks")
    size = _CPU_BYTES if turn.device.is_cpu else min(_GPU_BYTES, turn.device.room() // 4)
    base = (torch.arange(size // _WORD, device=turn.device.torch) % _VALUES).float()
    speeds = torch.zeros(ranks, ranks, dtype=torch.float64, device=turn.device.torch)
    for partner in partners(rank, ranks):
        dist.barrier()
        held = torch.full_like(base, -1)
        if partner is not None:
            seconds = [_swap(turn, base + rank, held, partner) for _ in range(_REPEATS)]
            speeds[rank, partner] = size / (sorted(seconds)[_REPEATS // 2] * turn.faults.slowness)
        if turn.faults.has("flip"):
            held.view(torch.int32)[17] ^= 1
        if turn.faults.has("nan"):
            held[23] = float("nan")
        compare(turn, held, base + partner if partner is not None else torch.full_like(base, -1), size)
    dist.all_reduce(speeds)
    _tell(turn, speeds)


def partners(rank: int, ranks: int) -> Iterator[int | None]:
    """Return the partner of a rank in each round, so that each meets each once; None: no partner, the number is odd.

    The circle method: one sits still, the others move on by one.
    """
    count = ranks + ranks % 2
    for turned in range(count - 1):
        seats = [0, *(1 + (seat + turned) % (count - 1) for seat in range(count - 1))]
        at = seats.index(rank)
        other = seats[count - 1 - at]
        yield other if other < ranks else None


def _swap(turn: Turn, sent: Tensor, held: Tensor, partner: int) -> float:
    turn.device.wait()
    begun_s = time.perf_counter()
    works = dist.batch_isend_irecv([dist.P2POp(dist.isend, sent, partner), dist.P2POp(dist.irecv, held, partner)])
    for work in works:
        work.wait()
    turn.device.wait()
    taken_s = max(time.perf_counter() - begun_s, 1e-9)
    turn.tick(text=f"rank {dist.get_rank()} and {partner}", rate=(sent.numel() * _WORD / taken_s, "B/s"))
    return taken_s


def _tell(turn: Turn, speeds: Tensor) -> None:
    """Report the speed of each rank: of its better half of pairs, as one bad partner is not its own fault."""
    ranks = len(speeds)
    pairs = torch.minimum(speeds, speeds.t()).tolist()
    for rank in range(ranks):
        turn.metric(f"rank.{rank}", median_high(pairs[rank][:rank] + pairs[rank][rank + 1 :]), "B/s")
    slowest, a, b = min((pairs[a][b], a, b) for a in range(ranks) for b in range(a))
    turn.param(slowest_pair=f"{b}-{a}", slowest=slowest)
    if ranks <= _MOST_MATRIX:
        turn.param(pairs={f"{b}-{a}": pairs[a][b] for a in range(ranks) for b in range(a)})
