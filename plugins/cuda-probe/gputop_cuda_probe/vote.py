"""The vote of the siblings: products of random numbers, whose bits GPUs of one model must agree on.

Nothing repeats in these operands, so a row that is read from a wrong address is seen here and not in `gemm`.
"""

from typing import Final

import torch
from torch import Tensor

from gputop_cuda_probe.turn import SkippedError, Turn

_ROWS: Final = 1024
_ODD: Final = 0x9E3779B97F4A7C15 - 2**64  # two's complement
DTYPES: Final = {"fp32": torch.float32, "bf16": torch.bfloat16}


def run(turn: Turn, name: str) -> None:
    """Repeat one product until the time is over: each must have the digest of the first, which is then reported."""
    if turn.device.kind == "cuda" and name == "bf16" and torch.cuda.get_device_capability() < (8, 0):
        raise SkippedError("this GPU does not have bf16")
    n = 256 if turn.device.is_cpu else 4096
    left, right = (_random(n, turn.seed + part).to(turn.device.torch).to(DTYPES[name]) for part in (0, 1))
    turn.param(n=n, seed=turn.seed)
    first = ""
    repeats = 0
    while repeats < 2 or not turn.is_due():
        turn.faults.strike()
        result = left @ right
        if turn.faults.has("flip") or turn.faults.has("odd"):  # each time: this GPU is wrong, and agrees with itself
            bits(result)[3, 5] ^= 1
        if turn.faults.has("nan") and repeats:
            result[0, 0] = float("nan")
        found = digest(result)
        first = first or found
        repeats += 1
        turn.tick(text=f"repeat {repeats}")
        if found != first:
            turn.finding("vote.repeat", "fail", f"repeat {repeats} differs from the first", first=first, found=found)
            return
    if bool(result.isnan().any()):
        turn.finding("vote.nan", "fail", "the product of finite numbers holds one that is none")
    turn.param(repeats=repeats)
    turn.digest(f"{name}/{n}/{turn.seed}", first)


def digest(tensor: Tensor) -> str:
    """Return a fingerprint of the bits: each is multiplied by an odd number of its place, all are summed."""
    whole = bits(tensor).reshape(-1)
    total = torch.zeros((), dtype=torch.int64, device=tensor.device)
    step = _ROWS * 4096
    for begin in range(0, whole.numel(), step):
        part = whole[begin : begin + step].to(torch.int64)
        places = torch.arange(begin, begin + part.numel(), device=part.device)
        total += (part * (2 * places + 1) * _ODD).sum()
    return f"0x{int(total) & (2**64 - 1):016x}"


def _random(n: int, seed: int) -> Tensor:
    """Return normal numbers, made on the CPU: the same for all GPUs."""
    return torch.randn(n, n, generator=torch.Generator().manual_seed(seed))


def bits(tensor: Tensor) -> Tensor:
    """Return the same memory as whole numbers."""
    return tensor.view({2: torch.int16, 4: torch.int32, 8: torch.int64}[tensor.element_size()])
