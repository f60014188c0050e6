"""The patterns that memory is filled with, and what each must be when it is read."""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Final

import torch
from torch import Tensor

from gputop_cuda_probe import noise
from gputop_cuda_probe.errors import Piece
from gputop_cuda_probe.memory import Filled, key, signed
from gputop_cuda_probe.turn import Turn

_CONSTANTS: Final = (0, 2**64 - 1, 0xAAAAAAAAAAAAAAAA, 0x5555555555555555, 0x0F0F0F0F0F0F0F0F)
_CHUNK_SHIFT: Final = 40  # the number of a chunk, above the number of a word in it
_STEPS: Final = 64
_STRIDE: Final = 29  # of the steps, when time is short those that are made lie apart
_CPU_STEPS: Final = 8
_MODULO: Final = 20
_ONCE: Final = ("retention", "resume")  # these take their time by waiting


def run(turn: Turn, name: str) -> None:
    """Fill the memory with the patterns of this name in turn, and read it, until the time is over; once at least."""
    filled, passes = Filled(turn), list(PATTERNS[name](turn))
    made = 0
    while made == 0 or not (turn.is_due() or (made == len(passes) and name in _ONCE)):
        passes[made % len(passes)](filled)
        made += 1
    turn.param(passes=made, of=len(passes))
    filled.report()


def _constants(turn: Turn) -> Iterator[Callable[[Filled], None]]:
    for value in (*_CONSTANTS, key(turn.seed, 0, 0) % 256 * 0x0101010101010101):
        yield partial(_constant, value=value)


def _constant(filled: Filled, value: int) -> None:
    filled.what = f"all 0x{value:016x}"
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
    """Write its address into each word: a read from a wrong address returns a wrong number."""
    filled.what = "its own address" + ", inverted" * is_inverted

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
    for number in range(_CPU_STEPS if turn.device.is_cpu else _STEPS):
        step = number * _STRIDE % _STEPS
        for is_inverted in (False, True):
            yield partial(_walk, step=step, is_inverted=is_inverted)


def _walk(filled: Filled, step: int, *, is_inverted: bool) -> None:
    filled.what = f"a {'zero' if is_inverted else 'one'} that walks, step {step}"
    base = torch.bitwise_left_shift(torch.ones_like(filled.iota), (filled.iota + step) % _STEPS)
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
    filled.what = f"0x{pattern:016x}, inverted in place"
    filled.fill(lambda piece: piece.words.fill_(signed(pattern)))
    for piece in filled.pieces():
        piece.words.bitwise_not_()
    _verify_same(filled, ~pattern)
    for piece in filled.pieces(backwards=True):
        piece.words.bitwise_not_()
    _verify_same(filled, pattern)


def _modulo(turn: Turn) -> Iterator[Callable[[Filled], None]]:
    """Every twentieth word has one value and the others another: no power of two, so no part of a cache repeats."""
    for offset in range(0, _MODULO, 5 if turn.device.is_cpu else 1):
        yield partial(_every, offset=offset, value=key(turn.seed, 0, offset))


def _every(filled: Filled, offset: int, value: int) -> None:
    filled.what = f"every {_MODULO}th word from {offset} on"

    def write(piece: Piece) -> None:
        at = (offset - piece.begin) % _MODULO
        piece.words[at::_MODULO].fill_(signed(value))
        for _ in range(2):  # neighbours are written again: they must not touch it
            _fill_others(piece.words, at, signed(~value))

    def constant(piece: Piece, scratch: Tensor) -> int:
        scratch.copy_(piece.words)
        scratch[(offset - piece.begin) % _MODULO :: _MODULO].bitwise_not_()
        return ~value

    filled.fill(write)
    filled.verify(constant, lambda piece, at: value if (piece.begin + at) % _MODULO == offset else ~value)


def _fill_others(words: Tensor, at: int, value: int) -> None:
    """Fill all words but one in twenty."""
    rows = words[: words.numel() // _MODULO * _MODULO].view(-1, _MODULO)
    rest = words[rows.numel() :]
    for part in (rows[:, :at], rows[:, at + 1 :], rest[:at], rest[at + 1 :]):
        part.fill_(value)


PATTERNS: Final = {
    "constants": _constants, "address": _address, "walking": _walking, "inversions": _inversions, "modulo": _modulo,
    "random": noise.random, "move": noise.move, "retention": noise.retention, "resume": noise.resume,
}  # fmt: skip
