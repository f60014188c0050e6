"""Steady load: products of random numbers without a pause, one in sixteen looked at. gputop watches power and heat."""

from typing import Final

import torch
from torch import Tensor

from gputop_cuda_probe.timing import timed
from gputop_cuda_probe.turn import Turn
from gputop_cuda_probe.vote import bits, digest

_LOOK_EVERY: Final = 16
_BATCH_S: Final = 0.25
_WARM_SHARE: Final = 0.1
_MOST_OUTPUTS: Final = 4096
_READ_S: Final = 3.0
_READ_SHARE: Final = 0.05


def run(turn: Turn) -> None:
    """Load the device for the whole time, its memory full of outputs, and report the course of the speed."""
    left, right = operands(turn)
    n = left.shape[0]
    ring = _ring(turn, left)
    speeds: list[float] = []
    must, count, batch = "", 0, 1
    turn.param(n=n, dtype=str(left.dtype).removeprefix("torch."), outputs=len(ring), seed=turn.seed)
    while len(speeds) < 10 or not turn.is_due():
        turn.faults.strike()
        seconds = sum(_multiply(turn, (left, right), ring, range(count, count + batch)))
        count += batch
        speeds.append(2 * n**3 * batch / seconds / 1e12)
        turn.tick(rate=(speeds[-1], "TFLOP/s"))
        if (count // batch) % max(1, _LOOK_EVERY // batch) == 0 or not must:
            output = ring[(count - 1) % len(ring)]
            if turn.faults.has("flip") and must:
                bits(output)[11, 13] ^= 1
            found = digest(output)
            must = must or found
            if found != must:
                turn.finding("soak.wrong", "fail", f"product {count} differs from the first", first=must, found=found)
                break
        batch = max(1, min(64, int(_BATCH_S / max(seconds / batch, 1e-6))))
    _read_again(turn, ring[: min(count, len(ring))], must)
    _tell(turn, speeds)


def _read_again(turn: Turn, outputs: "list[Tensor]", must: str) -> None:
    """Look at the outputs once more, as far as there is time: most were not, and all lay in memory under load."""
    if turn.faults.has("fade"):
        bits(outputs[-1])[7, 9] ^= 1
    bad = made = 0
    until_s = turn.elapsed_s + max(_READ_S, _READ_SHARE * turn.seconds)
    while made < len(outputs) and turn.elapsed_s < until_s:
        made += 1
        bad += digest(outputs[-made]) != must
        turn.tick(text="reading all outputs")
    turn.param(outputs_read=made)
    if bad:
        turn.finding("soak.outputs", "fail", f"{bad} of {made} outputs differ from the first product", bad=bad)


def _tell(turn: Turn, speeds: "list[float]") -> None:
    """Report the speed, and by how much it fell from the first tenth after the warm-up to the last."""
    if turn.faults.has("droop"):
        speeds = [speed * (1 - number / len(speeds)) ** 3 for number, speed in enumerate(speeds)]
    held = speeds[int(len(speeds) * _WARM_SHARE) :]
    tenth = max(1, len(held) // 10)
    first, last = sorted(held[:tenth])[tenth // 2], sorted(held[-tenth:])[tenth // 2]
    slow = turn.faults.slowness
    turn.metric("tflops", [speed / slow for speed in held], "TFLOP/s")
    turn.metric("droop", max(0.0, 100 * (1 - last / first)), "%")


def operands(turn: Turn) -> tuple[Tensor, Tensor]:
    """Return what loads this device fully: bf16 where it has it. Their digests are those of any GPU of the model."""
    is_cpu = turn.device.is_cpu
    dtype, n = torch.float32, 256 if is_cpu else 8192
    if not is_cpu:
        capability = torch.cuda.get_device_capability()
        dtype = torch.bfloat16 if capability >= (8, 0) else torch.float16 if capability >= (7, 0) else dtype
        n = n if dtype != torch.float32 else 4096
    generator = torch.Generator().manual_seed(turn.seed)
    piece = torch.randn(min(n, 1024), min(n, 1024), generator=generator)
    left = piece.repeat(n // piece.shape[0], n // piece.shape[0]).to(turn.device.torch).to(dtype)
    return left, left.t().contiguous()


def _ring(turn: Turn, like: Tensor) -> "list[Tensor]":
    """Return outputs that are written in turn: as many as fill the memory that may be used."""
    if turn.device.is_cpu:
        return [torch.empty_like(like) for _ in range(4)]
    count = turn.device.room() // (like.numel() * like.element_size()) - 1
    return [torch.empty_like(like) for _ in range(max(1, min(_MOST_OUTPUTS, count)))]


def _multiply(turn: Turn, pair: tuple[Tensor, Tensor], ring: "list[Tensor]", numbers: range) -> "list[float]":
    """Make a batch of products; return its seconds as one figure, so that nothing waits between two products."""

    def work() -> None:
        for number in numbers:
            torch.mm(*pair, out=ring[number % len(ring)])

    return timed(turn.device, work, 1)
