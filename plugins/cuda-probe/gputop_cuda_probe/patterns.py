"""The patterns that memory is filled with, and what each must be when it is read."""

import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Final

import torch
from torch import Tensor

from gputop_cuda_probe.memory import Filled, Piece, key, signed
from gputop_cuda_probe.turn import Turn

_CONSTANTS: Final = (0, 2**64 - 1, 0xAAAAAAAAAAAAAAAA, 0x5555555555555555, 0x0F0F0F0F0F0F0F0F)
_CHUNK_SHIFT: Final = 40  # the number of a chunk, above the number of a word in it
_QUICK_STEPS: Final = 8
_POLL_S: Final = 0.05


def run(turn: Turn, name: str) -> None:
    """Fill the memory with the patterns of this name and read it, until the time is over; all of them once."""
    filled = Filled(turn)
    for number, pattern in enumerate(PATTERNS[name](turn)):
        if number and turn.is_due():
            break
        pattern(filled)
    filled.report()


def _constants(_: Turn) -> Iterator[Callable[[Filled], None]]:
    for value in _CONSTANTS:
        yield partial(_constant, value=value)


def _constant(filled: Filled, value: int) -> None:
    filled.fill(lambda piece: piece.words.fill_(signed(value)))
    _verify_same(filled, value)


def _verify_same(filled: Filled, value: int) -> None:
    """Read memory that holds one value everywhere."""

    def constant(piece: Piece, scratch: Tensor) -> int:
        scratch.copy_(piece.words)
        return value

    filled.verify(constant, lambda _, __: value)


def _address(_: Turn) -> Iterator[Callable[[Filled], None]]:
    yield partial(_own_address, is_inverted=False)
    yield partial(_own_address, is_inverted=True)


def _own_address(filled: Filled, *, is_inverted: bool) -> None:
    """Write into each word where it is: whoever reads a wrong address reads another number."""

    def base(piece: Piece) -> int:
        return (piece.chunk << _CHUNK_SHIFT) + piece.begin

    def write(piece: Piece) -> None:
        torch.add(filled.iota[: piece.words.numel()], base(piece), out=piece.words)
        if is_inverted:
            piece.words.bitwise_not_()

    def constant(piece: Piece, scratch: Tensor) -> int:
        scratch.copy_(piece.words)
        if is_inverted:
            scratch.bitwise_not_()
        scratch.sub_(filled.iota[: piece.words.numel()])
        return base(piece)

    filled.fill(write)
    filled.verify(constant, lambda piece, at: ~(base(piece) + at) if is_inverted else base(piece) + at)


def _walking(turn: Turn) -> Iterator[Callable[[Filled], None]]:
    """Walk a one through zeros, and a zero through ones. The time says how many of the 64 steps there are."""
    steps = range(0, 64, 64 // _QUICK_STEPS) if turn.device.is_cpu else range(64)
    for step in steps:
        for is_inverted in (False, True):
            yield partial(_walk, step=step, is_inverted=is_inverted)


def _walk(filled: Filled, step: int, *, is_inverted: bool) -> None:
    base = torch.bitwise_left_shift(torch.ones_like(filled.iota), (filled.iota + step) % 64)
    if is_inverted:
        base.bitwise_not_()
    filled.fill(lambda piece: piece.words.copy_(base[: piece.words.numel()]))

    def constant(piece: Piece, scratch: Tensor) -> int:
        torch.bitwise_xor(piece.words, base[: piece.words.numel()], out=scratch)
        return 0

    filled.verify(constant, lambda _, at: int(base[at]))


def _inversions(turn: Turn) -> Iterator[Callable[[Filled], None]]:
    for pattern in (0, key(turn.seed, 0, 0), *(0x00000001_00000001 << shift for shift in range(0, 32, 4))):
        yield partial(_moving, pattern=pattern)


def _moving(filled: Filled, pattern: int) -> None:
    """Invert each word where it is, upwards and then downwards: a word that was wrong stays so, and is seen."""
    filled.fill(lambda piece: piece.words.fill_(signed(pattern)))
    for piece in filled.pieces():
        piece.words.bitwise_not_()
    _verify_same(filled, ~pattern)
    for piece in filled.pieces(backwards=True):
        piece.words.bitwise_not_()
    _verify_same(filled, pattern)


def _random(turn: Turn) -> Iterator[Callable[[Filled], None]]:
    for number in range(4):
        yield partial(_write_and_read, seed=turn.seed + number)


def _retention(turn: Turn) -> Iterator[Callable[[Filled], None]]:
    yield lambda filled: _Noise(filled, turn.seed).keep(turn.seconds * 0.6)


def _write_and_read(filled: Filled, seed: int) -> None:
    _Noise(filled, seed).write_and_read()


class _Noise:
    """Random words, no two slices the same: one random slice, changed by a number of where it is."""

    def __init__(self, filled: Filled, seed: int) -> None:
        self._filled = filled
        self._seed = seed
        generator = torch.Generator().manual_seed(seed)
        count = filled.iota.numel()
        words = torch.randint(-(2**63), 2**63 - 1, (count,), dtype=torch.int64, generator=generator)
        self._base = words.to(filled.iota.device)

    def write_and_read(self) -> None:
        self._filled.fill(self._write)
        self._verify()

    def keep(self, seconds: float) -> None:
        """Write, leave the memory alone, and read it twice."""
        self._filled.fill(self._write)
        turn, begun_s = self._filled.turn, time.monotonic()
        while time.monotonic() - begun_s < seconds:
            time.sleep(_POLL_S)
            turn.tick(text="left alone")
        if turn.faults.has("fade"):
            word = int(self._filled.chunks[-1][99])
            self._filled.chunks[-1][99] = word & (word - 1)
        self._verify()
        self._verify()

    def _write(self, piece: Piece) -> None:
        torch.bitwise_xor(self._base[: piece.words.numel()], self._key(piece), out=piece.words)

    def _verify(self) -> None:
        def constant(piece: Piece, scratch: Tensor) -> int:
            torch.bitwise_xor(piece.words, self._base[: piece.words.numel()], out=scratch)
            return self._key(piece)

        self._filled.verify(constant, lambda piece, at: int(self._base[at]) ^ self._key(piece))

    def _key(self, piece: Piece) -> int:
        return signed(key(self._seed, piece.chunk, piece.begin))


PATTERNS: Final = {
    "constants": _constants, "address": _address, "walking": _walking, "inversions": _inversions, "random": _random,
    "retention": _retention,
}  # fmt: skip
