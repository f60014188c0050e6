"""Load and none, a second each: what a power supply and clocks that change make of it. All GPUs in step."""

import time
from typing import Final

import torch

from gputop_cuda_probe.soak import operands
from gputop_cuda_probe.turn import SkippedError, Turn
from gputop_cuda_probe.vote import bits, digest

_PHASE_S: Final = 1.0
_POLL_S: Final = 0.02
_LEAST: Final = 2
_DEEP: Final = 8  # products between two looks at the clock


def run(turn: Turn) -> None:
    """Multiply in the even seconds of the machine's clock, rest in the odd ones; each product has the same digest."""
    if not turn.is_named and not turn.device.is_cpu and "GeForce" in torch.cuda.get_device_name():
        raise SkippedError("swings of power are hard on the power supply of a desktop: name the test to run it")
    left, right = operands(turn)
    output, must, pulses = torch.empty_like(left), "", 0
    phase_s = min(_PHASE_S, turn.seconds / 2 / _LEAST)
    while pulses < _LEAST or not turn.is_due():
        turn.faults.strike()
        _rest(turn, phase_s)
        torch.mm(left, right, out=output)  # the first one, clocks being low
        if turn.faults.has("flip") and must:
            bits(output)[1, 1] ^= 1
        found = digest(output)
        must = must or found
        if found != must:
            turn.finding("pulse.wrong", "fail", f"pulse {pulses}: the product differs", first=must, found=found)
            break
        while _is_on(phase_s):
            for _ in range(_DEEP):
                torch.mm(left, right, out=output)
            turn.device.wait()
            turn.tick(text=f"pulse {pulses}")
        pulses += 1
    turn.param(pulses=pulses, seed=turn.seed)


def _is_on(phase_s: float) -> bool:
    return int(time.time() / phase_s) % 2 == 0


def _rest(turn: Turn, phase_s: float) -> None:
    """Wait for the beginning of a second of load."""
    while _is_on(phase_s):
        time.sleep(_POLL_S)
        turn.tick()
    while not _is_on(phase_s):
        time.sleep(_POLL_S)
        turn.tick()
