"""Timing of work on a device: by its own events on a GPU, by the clock on a CPU."""

import time
from collections.abc import Callable
from typing import TypeVar

import torch

from gputop_cuda_probe.turn import Device

Made = TypeVar("Made")


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


def made_in(device: Device, work: Callable[[], Made]) -> tuple[Made, float]:
    """Return what work makes, and its seconds."""
    made: list[Made] = []
    seconds = timed(device, lambda: made.append(work()), 1)[0]
    return made[0], seconds


def _by_clock(work: Callable[[], object]) -> float:
    begun_s = time.perf_counter()
    work()
    return max(time.perf_counter() - begun_s, 1e-9)
