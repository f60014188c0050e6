"""Time until a GPU can be used. A long time points to trouble in driver, firmware or fabric."""

import time
from typing import Final

import torch

from gputop_cuda_probe.turn import Turn

_SLOW_S: Final = 10.0  # what the fault adds
_started_s: "list[float]" = []


def run(turn: Turn) -> None:
    """Use the device for the first time. The worker runs this test first, and does nothing with the device before."""
    turn.faults.strike()
    begun_s = time.perf_counter()
    turn.tick()
    one = torch.ones(1, device=turn.device.torch)
    turn.device.wait()
    taken_s = time.perf_counter() - begun_s + (_SLOW_S if turn.faults.has("slow") else 0.0)
    turn.metric("context", taken_s, "s")
    if not turn.device.is_cpu:
        free, total = torch.cuda.mem_get_info()
        turn.param(used_bytes=total - free)  # used by the context, if no other process uses the GPU
    turn.metric("import", _started_s[0] if _started_s else 0.0, "s")
    if turn.faults.has("flip"):
        one += 1
    if float(one) != 1.0:
        turn.finding("context.value", "fail", f"the first value came back as {float(one)}")


def note_import(seconds: float) -> None:
    """Keep how long torch took to import."""
    _started_s[:] = [seconds]
