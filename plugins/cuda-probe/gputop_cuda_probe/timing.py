"""How long work on a device takes: by its own events on a GPU, by the clock on a CPU."""

import time
from collections.abc import Callable

import torch

from gputop_cuda_probe.turn import Device


def timed(device: Device, work: Callable[[], object], repeats: int) -> list[float]:
    """Return the seconds of each repeat. On a GPU all are queued first, so that no launch is in the figure."""
    if device.is_cpu:
        return [_by_clock(work) for _ in range(repeats)]
    events = [(torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)) for _ in range(repeats)]
    for begin, end in events:
        begin.record()
        work()
        end.record()
    device.wait()
    return [begin.elapsed_time(end) / 1000 for begin, end in events]


def _by_clock(work: Callable[[], object]) -> float:
    begun_s = time.perf_counter()
    work()
    return max(time.perf_counter() - begun_s, 1e-9)
