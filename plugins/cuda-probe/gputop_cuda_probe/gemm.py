"""Exact matrix products: whole numbers so small that no order of summing rounds, compared with what the CPU computed.

The operands repeat one block, so that the product of any size consists of copies of one block, which is known exactly.
"""

from collections.abc import Callable, Iterator
from math import isqrt
from typing import Final, NamedTuple

import torch
from torch import Tensor

from gputop_cuda_probe.timing import timed
from gputop_cuda_probe.turn import Device, SkippedError, Turn

FP16_MOST: Final = 65_504
_LOCATED: Final = 64  # bad elements that are told one by one
_SPEED_SHARE: Final = 0.35  # of the time is spent on the figure
_BATCH_S: Final = 0.1  # between two looks at whether to stop
_LAYOUTS: Final = ("nn", "tn", "nt")


class Kind(NamedTuple):
    """A kind of number. ``bits``: up to which whole numbers the accumulator is exact; ``cap``: the operand is."""

    name: str
    dtype: str
    bits: int
    depth: int
    cap: int
    capability: tuple[int, int] = (0, 0)


KINDS: Final = {
    kind.name: kind
    for kind in (
        Kind("fp64", "float64", 53, 4096, 2**20),
        Kind("fp32", "float32", 24, 8192, 2**24),
        Kind("tf32", "float32", 24, 8192, 2048, (8, 0)),
        Kind("bf16", "bfloat16", 24, 8192, 256, (8, 0)),
        Kind("fp16", "float16", 24, 8192, 2048, (7, 0)),
        Kind("fp8", "float8_e4m3fn", 12, 4096, 16, (8, 9)),
        Kind("int8", "int8", 31, 8192, 127, (7, 5)),
    )
}


def largest(kind: Kind, depth: int) -> int:
    """Return the largest operand for which every partial sum is exact, in any order."""
    bound = 2**kind.bits // depth
    if kind.dtype == "float16":
        bound = min(bound, FP16_MOST // depth)  # the result is fp16 as well
    if kind.dtype == "int8":
        bound = (2**kind.bits - 1) // depth
    return min(isqrt(bound), kind.cap)


class Sizes(NamedTuple):
    """Of a product: rows and columns, the depth, and the block that repeats."""

    n: int
    depth: int
    block: int


def run(turn: Turn, name: str) -> None:
    """Multiply until the time is over, comparing each product as a whole; then measure the speed."""
    kind = KINDS[name]
    _set_up(kind, turn.device)
    sizes = _sizes(kind, turn)
    turn.param(n=sizes.n, depth=sizes.depth, block=sizes.block, largest=largest(kind, sizes.depth), seed=turn.seed)
    exact_share = 1 - _SPEED_SHARE
    for number, (seed, layout) in enumerate(_variants(turn.seed, kind), 1):
        Product(kind, sizes, seed, layout, turn).work(until=exact_share * min(1.0, number / len(_LAYOUTS)))
        if turn.is_due(exact_share):
            break
    _speed(kind, sizes, turn)


def _set_up(kind: Kind, device: Device) -> None:
    """Choose how torch multiplies: nothing may be rounded on the way."""
    if device.is_cpu:
        return
    if torch.cuda.get_device_capability() < kind.capability:
        raise SkippedError(f"this GPU does not have {kind.name}")
    matmul = torch.backends.cuda.matmul
    matmul.allow_tf32 = kind.name == "tf32"
    matmul.allow_bf16_reduced_precision_reduction = False
    matmul.allow_fp16_reduced_precision_reduction = False
    if hasattr(matmul, "allow_fp16_accumulation"):
        matmul.allow_fp16_accumulation = False


def _sizes(kind: Kind, turn: Turn) -> Sizes:
    """Return sizes of which one product takes a tenth of a second at most, so that stopping never takes long."""
    if turn.device.is_cpu:
        return Sizes(256, 512, 64)
    small = Sizes(1024, 1024, 256)
    product = Product(kind, small, turn.seed, "nn", turn)
    product.multiply()
    second = min(timed(turn.device, product.multiply, 3))
    n = 8192
    while n > 1024 and second * (n / 1024) ** 2 * (kind.depth / 1024) > _BATCH_S:
        n //= 2
    return Sizes(n, kind.depth, 256)


def _variants(seed: int, kind: Kind) -> Iterator[tuple[int, str]]:
    """Return other numbers and other layouts, which choose other kernels."""
    while True:
        for number, layout in enumerate(_LAYOUTS):
            yield seed + number, "nn" if kind.name in ("fp8", "int8") else layout
        seed += len(_LAYOUTS)


class Product:
    """Operands, the block that is right, and the comparison."""

    def __init__(self, kind: Kind, sizes: Sizes, seed: int, layout: str, turn: Turn) -> None:
        self._kind = kind
        self._sizes = sizes
        self._turn = turn
        self._seed = seed
        self._layout = layout
        generator = torch.Generator().manual_seed(seed)
        most = largest(kind, sizes.depth)
        self._left0 = torch.randint(-most, most + 1, (sizes.block, sizes.depth), generator=generator)
        self._right0 = torch.randint(-most, most + 1, (sizes.depth, sizes.block), generator=generator)
        exact = self._left0.double() @ self._right0.double()  # each sum is below 2**53
        turn.tick()
        self._left, self._right = self._operands()
        self._call = _call(kind, self._left, self._right)
        self._reference = exact.to(turn.device.torch).to(self.multiply().dtype)

    def multiply(self) -> Tensor:
        """Return the product."""
        return self._call(self._left, self._right)

    def work(self, until: float) -> None:
        """Multiply and compare until this share of the time is over, once at least."""
        turn, is_first = self._turn, True
        bad = torch.zeros((), dtype=torch.int64, device=turn.device.torch)
        while is_first or not turn.is_due(until):
            turn.faults.strike()
            result = self.multiply()
            if is_first:
                self._spoil(result)
            bad = self._wrong(result).sum()
            turn.tick(text=f"seed {self._seed}, {self._layout}")
            if int(bad):
                return self._explain(result, int(bad))
            is_first = False
        return None

    def _operands(self) -> tuple[Tensor, Tensor]:
        """Return the operands on the device: blocks that repeat, in the layout that is asked for."""
        sizes, device = self._sizes, self._turn.device.torch
        times, dtype = sizes.n // sizes.block, getattr(torch, self._kind.dtype)
        left = self._left0.to(device).repeat(times, 1).to(dtype)
        right = self._right0.to(device).repeat(1, times).to(dtype)
        if self._layout == "tn":
            left = left.t().contiguous().t()
        if self._layout == "nt" or self._kind.name in ("fp8", "int8"):
            right = right.t().contiguous().t()  # those two want columns
        return left, right

    def _wrong(self, result: Tensor) -> Tensor:
        """Return which elements are not what they must be: by value, so that -0 is 0, and NaN is never right."""
        times, block = self._sizes.n // self._sizes.block, self._sizes.block
        tiles = result.view(times, block, times, block)
        return torch.ne(tiles, self._reference.view(1, block, 1, block))

    def _spoil(self, result: Tensor) -> None:
        """Make the faults that are injected, in two different tiles."""
        if self._turn.faults.has("flip"):
            _bits(result)[1, 2] ^= 1
        if self._turn.faults.has("nan") and result.is_floating_point():
            result[-1, -1] = float("nan")

    def _explain(self, result: Tensor, count: int) -> None:
        """Report where the product is wrong, and what the pattern says of the cause."""
        turn, kind = self._turn, self._kind
        wrong = self._wrong(result)
        block = self._sizes.block
        places = wrong.nonzero()[:_LOCATED].tolist()
        again = self.multiply()
        is_uniform = bool((wrong == wrong[:1, :, :1, :]).all()) and not bool(result.isnan().any())
        if is_uniform and self._has_good_operands() and torch.equal(again, result):
            turn.finding(
                "gemm.uniform", "fail", f"{kind.name}: all tiles are wrong in the same way, operands are intact",
                bad=count, seed=self._seed,
            )  # fmt: skip
            return
        for row, i, column, j in places:
            at = (row * block + i, column * block + j)
            turn.finding(
                "gemm.wrong", "fail", f"{kind.name}: element {at[0]}, {at[1]} is wrong", tile=[row, column],
                place=[i, j], seed=self._seed, layout=self._layout, **_values(result, again, at, self._reference[i, j]),
            )  # fmt: skip
        turn.param(bad=count)

    def _has_good_operands(self) -> bool:
        """Say whether the operands are still what was put there."""
        left, right = self._operands()
        pairs = ((left, self._left), (right, self._right))
        return all(bool(torch.equal(_bits(fresh), _bits(held))) for fresh, held in pairs)


def _values(result: Tensor, again: Tensor, at: tuple[int, int], expected: Tensor) -> dict[str, str | bool]:
    """Return an element as it is, as it must be, and what differs; whether a second product gives the same."""
    width = 2 * result.element_size()
    mask = (1 << (8 * result.element_size())) - 1
    is_, must = int(_bits(result)[at]) & mask, int(_bits(expected.reshape(1, 1))[0, 0]) & mask
    return {
        "expected": f"0x{must:0{width}x}",
        "actual": f"0x{is_:0{width}x}",
        "xor": f"0x{is_ ^ must:0{width}x}",
        "value": str(result[at].item()),
        "is_repeated": bool((_bits(again)[at] == _bits(result)[at]).item()),
    }


def _bits(tensor: Tensor) -> Tensor:
    """Return the same memory as whole numbers."""
    whole = {1: torch.int8, 2: torch.int16, 4: torch.int32, 8: torch.int64}
    return tensor.view(whole[tensor.element_size()])


def _call(kind: Kind, left: Tensor, right: Tensor) -> Callable[[Tensor, Tensor], Tensor]:
    """Return how this kind is multiplied here. Raises `SkippedError` where this torch has no way."""
    if kind.name == "int8":
        return _first_that_works(kind, left, right, torch._int_mm)
    if kind.name == "fp8":
        one = torch.ones((), device=left.device)

        def scaled(a: Tensor, b: Tensor, out: torch.dtype = torch.float32) -> Tensor:
            return torch._scaled_mm(a, b, scale_a=one, scale_b=one, out_dtype=out, use_fast_accum=False)

        return _first_that_works(kind, left, right, scaled, lambda a, b: scaled(a, b, torch.bfloat16))
    if kind.name == "bf16":
        return _first_that_works(kind, left, right, lambda a, b: torch.mm(a, b, out_dtype=torch.float32), torch.mm)
    return _first_that_works(kind, left, right, torch.mm)


def _first_that_works(
    kind: Kind, left: Tensor, right: Tensor, *ways: Callable[[Tensor, Tensor], Tensor]
) -> Callable[[Tensor, Tensor], Tensor]:
    why = ""
    for way in ways:
        try:
            way(left, right)
        except (RuntimeError, NotImplementedError, TypeError, ValueError) as error:  # noqa: PERF203 - two ways at most
            if "CUDA error" in str(error) or "out of memory" in str(error):
                raise
            why = str(error).partition("\n")[0]
        else:
            return way
    raise SkippedError(f"this torch does not multiply {kind.name} here: {why}")


def _speed(kind: Kind, sizes: Sizes, turn: Turn) -> None:
    """Measure the speed with random numbers: whole ones take less power, and would flatter."""
    n, dtype = sizes.n, getattr(torch, kind.dtype)
    generator = torch.Generator().manual_seed(turn.seed)
    piece = torch.randn(min(n, 1024), min(n, 1024), generator=generator) * 16
    square = piece.repeat(n // piece.shape[0], n // piece.shape[1]).to(turn.device.torch)
    left, right = square.to(dtype), square.t().contiguous().t().to(dtype)
    call = _call(kind, left, right) if kind.name in ("fp8", "int8") else torch.mm
    seconds: list[float] = []
    timed(turn.device, lambda: call(left, right), 2)
    while not seconds or not turn.is_due():
        seconds += timed(turn.device, lambda: call(left, right), 3)
        turn.tick(text="speed")
    slow = turn.faults.slowness
    turn.metric("tflops", [2 * n**3 / 1e12 / (each * slow) for each in seconds], "TFLOP/s")
