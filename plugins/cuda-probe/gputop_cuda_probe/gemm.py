"""Exact matrix products: whole numbers so small that no order of summing rounds, compared with what the CPU computed.

The operands repeat one block, so that the product of any size consists of copies of one block, which is known exactly.
"""

from collections.abc import Callable, Iterator
from math import isqrt
from typing import Final, NamedTuple

import torch
from torch import Tensor

from gputop_cuda_probe.timing import made_in, timed
from gputop_cuda_probe.turn import Device, SkippedError, Turn

FP16_MOST: Final = 65_504
_LOCATED: Final = 64  # bad elements that are listed one by one
_SPEED_SHARE: Final = 0.35  # of the time is spent on the figure
_BATCH_S: Final = 0.1  # between two looks at whether to stop
_LAYOUTS: Final = ("nn", "tn", "nt", "tt", "odd", "batch")
_PLAIN: Final = {"int8": ("nn", "odd"), "fp8": ("nn",)}  # these want columns, and multiples of 8 and 16
_BATCH: Final = 64
_UNIT: Final = "TFLOP/s"


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
    """Of a product: the block that repeats, how often it does downwards and to the right, and the depth."""

    rows: int
    columns: int
    down: int
    right: int
    depth: int


def run(turn: Turn, name: str) -> None:
    """Multiply until the time is over, comparing each product as a whole; then measure the speed."""
    kind = KINDS[name]
    _set_up(kind, turn.device)
    n, depth = _size(kind, turn)
    turn.param(n=n, depth=depth, largest=largest(kind, depth), seed=turn.seed)
    exact_share, made = 1 - _SPEED_SHARE, 0
    layouts = _PLAIN.get(kind.name, _LAYOUTS)
    for number, (seed, layout) in enumerate(_variants(turn.seed, layouts), 1):
        sizes = _sizes(n, depth, layout, is_small=turn.device.is_cpu)
        Product(kind, sizes, seed, layout, turn).work(until=exact_share * min(1.0, number / len(layouts)))
        made = number
        if turn.is_due(exact_share):
            break
    turn.param(layouts=list(layouts[:made]))
    _speed(kind, n, turn)


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


def _size(kind: Kind, turn: Turn) -> tuple[int, int]:
    """Return rows and depth of which one product takes a tenth of a second at most: stopping must not take long."""
    if turn.device.is_cpu:
        return 256, 512
    product = Product(kind, Sizes(256, 256, 4, 4, 1024), turn.seed, "nn", turn)
    product.multiply()
    second = min(timed(turn.device, product.multiply, 3))
    n, room = 8192, turn.device.room() // (6 * getattr(torch, kind.dtype).itemsize + 8)
    while n > 1024 and (second * (n / 1024) ** 2 * (kind.depth / 1024) > _BATCH_S or n * max(n, kind.depth) > room):
        n //= 2
    return n, kind.depth


def _sizes(n: int, depth: int, layout: str, *, is_small: bool) -> Sizes:
    """Return the sizes for a layout; odd ones choose other kernels."""
    if layout == "odd":
        rows, columns = (56, 40) if is_small else (248, 200)
        return Sizes(rows, columns, n // rows, -(-n // columns), depth)
    block = 64 if is_small else 256
    return Sizes(block, block, min(_BATCH, n // block) if layout == "batch" else n // block, n // block, depth)


def _variants(seed: int, layouts: tuple[str, ...]) -> Iterator[tuple[int, str]]:
    """Return other numbers and other layouts, which choose other kernels."""
    while True:
        for number, layout in enumerate(layouts):
            yield seed + number, layout
        seed += len(layouts)


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
        self._left0 = torch.randint(-most, most + 1, (sizes.rows, sizes.depth), generator=generator)
        self._right0 = torch.randint(-most, most + 1, (sizes.depth, sizes.columns), generator=generator)
        exact = self._left0.double() @ self._right0.double()  # each sum is below 2**53
        turn.tick()
        self._left, self._right = self._operands()
        self._call = _call(kind, self._left, self._right)
        self._reference = exact.to(turn.device.torch).to(self.multiply().dtype)

    def multiply(self) -> Tensor:
        """Return the product."""
        result = self._call(self._left, self._right)
        return result + 1 if self._turn.faults.has("odd") else result

    def work(self, until: float) -> None:
        """Multiply and compare until this share of the time is over, once at least."""
        turn, is_first = self._turn, True
        bad = torch.zeros((), dtype=torch.int64, device=turn.device.torch)
        while is_first or not turn.is_due(until):
            turn.faults.strike()
            result, seconds = made_in(turn.device, self.multiply)
            if is_first:
                self._spoil(result)
            bad = self._wrong(result).sum() + (1 if turn.faults.has("misread") else 0)
            rate = 2 * result.numel() * self._sizes.depth / 1e12 / (seconds * turn.faults.slowness)
            turn.tick(text=f"seed {self._seed}, {self._layout}", rate=(rate, _UNIT))
            if int(bad):
                return self._explain(result, int(bad))
            is_first = False
        if turn.faults.has("fade"):
            _bits(self._left)[(0,) * (self._left.dim() - 2) + (3, 5)] ^= 1
        if not self._has_good_operands():
            turn.finding(
                "gemm.operands", "fail", f"{self._kind.name}: the operands changed in memory", seed=self._seed,
                layout=self._layout,
            )  # fmt: skip
        return None

    def _operands(self) -> tuple[Tensor, Tensor]:
        """Return the operands on the device: blocks that repeat, in the layout that is asked for."""
        sizes, device, layout = self._sizes, self._turn.device.torch, self._layout
        dtype = getattr(torch, self._kind.dtype)
        left, right = self._left0.to(device).to(dtype), self._right0.to(device).to(dtype)
        if layout == "batch":
            return left.repeat(sizes.down, 1, 1), right.repeat(sizes.down, 1, 1)
        left, right = left.repeat(sizes.down, 1), right.repeat(1, sizes.right)
        if layout in ("tn", "tt"):
            left = left.t().contiguous().t()
        if layout in ("nt", "tt") or self._kind.name in _PLAIN:
            right = right.t().contiguous().t()
        return left, right

    def _wrong(self, result: Tensor) -> Tensor:
        """Return which elements are not what they must be: by value, so that -0 is 0, and NaN is never right."""
        sizes = self._sizes
        right = 1 if self._layout == "batch" else sizes.right
        tiles = result.view(sizes.down, sizes.rows, right, sizes.columns)
        return torch.ne(tiles, self._reference.view(1, sizes.rows, 1, sizes.columns))

    def _spoil(self, result: Tensor) -> None:
        """Make the faults that are injected, in two different tiles."""
        flat = result.view(-1, result.shape[-1])
        if self._turn.faults.has("flip"):
            _bits(flat)[1, 2] ^= 1
        if self._turn.faults.has("nan") and result.is_floating_point():
            flat[-1, -1] = float("nan")

    def _explain(self, result: Tensor, count: int) -> None:
        """Report where the product is wrong, and what the pattern says of the cause."""
        turn, kind, sizes = self._turn, self._kind, self._sizes
        wrong, again = self._wrong(result), self.multiply()
        is_uniform = bool((wrong == wrong[:1, :, :1, :]).all()) and bool(wrong.any()) and not bool(result.isnan().any())
        if is_uniform and self._has_good_operands() and torch.equal(again, result):
            turn.finding(
                "gemm.uniform", "fail", f"{kind.name}: all tiles are wrong in the same way, operands are intact",
                bad=count, seed=self._seed,
            )  # fmt: skip
            return
        cause = self._cause(result, again, wrong)
        turn.param(bad=count, cause=cause)
        places = wrong.nonzero()[:_LOCATED].tolist()
        if not places:
            turn.finding("gemm.misread", "fail", f"{kind.name}: {cause}", bad=count, seed=self._seed)
        flat, flat_again = (one.view(-1, one.shape[-1]) for one in (result, again))
        for row, i, column, j in places:
            at = (row * sizes.rows + i, column * sizes.columns + j)
            turn.finding(
                "gemm.wrong", "fail", f"{kind.name}: element {at[0]}, {at[1]} is wrong: {cause}", tile=[row, column],
                place=[i, j], seed=self._seed, layout=self._layout, cause=cause,
                **_values(flat, flat_again, at, self._reference[i, j]),
            )  # fmt: skip

    def _cause(self, result: Tensor, again: Tensor, wrong: Tensor) -> str:
        """Return the cause that a second reading, a second product and the operands suggest."""
        if not bool(wrong.any()):
            return "wrong when it was read, and right when read again: the way from the memory"
        if not self._has_good_operands():
            return "an operand changed in memory"
        if bool((_bits(again) != _bits(result)).any()):
            return "a second product is another: computing or a cache, and not each time"
        return "a second product is the same: each time"

    def _has_good_operands(self) -> bool:
        """Return whether the operands are unchanged."""
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
    way = torch.bmm if left.dim() == 3 else torch.mm
    if kind.name == "bf16":
        return _first_that_works(kind, left, right, lambda a, b: way(a, b, out_dtype=torch.float32), way)
    return _first_that_works(kind, left, right, way)


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


def _speed(kind: Kind, n: int, turn: Turn) -> None:
    """Measure the speed with random numbers: whole ones take less power, and would flatter."""
    dtype = getattr(torch, kind.dtype)
    generator = torch.Generator().manual_seed(turn.seed)
    piece = torch.randn(min(n, 1024), min(n, 1024), generator=generator) * 16
    square = piece.repeat(n // piece.shape[0], n // piece.shape[1]).to(turn.device.torch)
    left, right = square.to(dtype), square.t().contiguous().t().to(dtype)
    call = _call(kind, left, right) if kind.name in ("fp8", "int8") else torch.mm
    work, seconds = 2 * n**3 / 1e12 / turn.faults.slowness, list[float]()
    timed(turn.device, lambda: call(left, right), 2)
    while not seconds or not turn.is_due():
        seconds += timed(turn.device, lambda: call(left, right), 3)
        turn.tick(text="speed", rate=(work / seconds[-1], _UNIT))
    turn.metric("tflops", [work / each for each in seconds], _UNIT)
