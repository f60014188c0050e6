"""Random words in memory, no two slices the same: read, moved, kept without access, and read after a pause."""

import time
from collections.abc import Callable, Iterator
from functools import partial
from itertools import pairwise
from typing import Final

import torch
from torch import Tensor

from gputop_cuda_probe.errors import Piece
from gputop_cuda_probe.memory import Filled, key, signed
from gputop_cuda_probe.turn import Turn

_POLL_S: Final = 0.05
_SEEDS: Final = 4
_ALONE_SHARE: Final = 0.75  # of the time without access to the words
_ROUNDS: Final = 2
_MOVES: Final = 2
_PAUSE_S: Final = 15.0  # long enough for clocks to fall
_PAUSE_SHARE: Final = 0.3


class Noise:
    """One random slice, changed by a number of where it is: any slice can be read at any time, in any order."""

    def __init__(self, filled: Filled, seed: int) -> None:
        self._filled = filled
        self._seed = seed
        generator = torch.Generator().manual_seed(seed)
        count = filled.iota.numel()
        words = torch.randint(-(2**63), 2**63 - 1, (count,), dtype=torch.int64, generator=generator)
        self._base = words.to(filled.iota.device)
        self._origin: dict[tuple[int, int], Piece] = {}

    def write(self) -> None:
        """Write all slices, and make the faults that are injected."""
        self._filled.what = f"random words, seed {self._seed}"
        self._filled.fill(self.put)

    def put(self, piece: Piece) -> None:
        """Write a slice."""
        torch.bitwise_xor(self._base[: piece.words.numel()], self._key(piece), out=piece.words)

    def moved(self, origin: "dict[tuple[int, int], Piece]") -> None:
        """Take down which slice the content of each comes from."""
        self._origin = origin

    def verify(self) -> None:
        """Read all slices."""

        def constant(piece: Piece, scratch: Tensor) -> int:
            torch.bitwise_xor(piece.words, self._base[: piece.words.numel()], out=scratch)
            return self._key(piece)

        self._filled.verify(constant, lambda piece, at: int(self._base[at]) ^ self._key(piece))

    def fade(self) -> None:
        """Lose a bit, if that is to be injected."""
        if self._filled.turn.faults.has("fade"):
            word = int(self._filled.chunks[-1][99])
            self._filled.chunks[-1][99] = word & (word - 1)

    def _key(self, piece: Piece) -> int:
        origin = self._origin.get((piece.chunk, piece.begin), piece)
        return signed(key(self._seed, origin.chunk, origin.begin))


def random(turn: Turn) -> Iterator[Callable[[Filled], None]]:
    """Write and read, with several seeds."""
    for number in range(_SEEDS):
        yield partial(_write_and_read, seed=turn.seed + number)


def move(turn: Turn) -> Iterator[Callable[[Filled], None]]:
    """Have each slice take the content of the next, several times, and read what has arrived where."""
    for number in range(_SEEDS):
        yield partial(_move, seed=turn.seed + number)


def retention(turn: Turn) -> Iterator[Callable[[Filled], None]]:
    """Write, leave the memory alone, and read it twice."""
    yield partial(_keep, seed=turn.seed)


def resume(turn: Turn) -> Iterator[Callable[[Filled], None]]:
    """Write and read, pause so that clocks fall, and write and read at once."""
    for number in range(_ROUNDS):
        yield partial(_resume, seed=turn.seed + number)


def _write_and_read(filled: Filled, seed: int) -> None:
    noise = Noise(filled, seed)
    noise.write()
    noise.verify()


def _move(filled: Filled, seed: int) -> None:
    """Move slices round, in a chain of copies that are made in two ways."""
    noise = Noise(filled, seed)
    filled.what = f"random words that were moved, seed {seed}"
    filled.write(noise.put)
    full = filled.iota.numel()
    numbers = range(len(filled.chunks))
    pieces = [piece for number in numbers for piece in filled.slices(number) if piece.words.numel() == full]
    for number in range(_MOVES):
        filled.start()
        filled.scratch.copy_(pieces[0].words)
        for here, there in pairwise(pieces):
            _copy(there.words, here.words, is_by_kernel=bool(number))
        _copy(filled.scratch, pieces[-1].words, is_by_kernel=bool(number))
        filled.turn.device.wait()
        filled.went_on(len(pieces) * full)
    filled.spoil()
    shifted = pieces[_MOVES % len(pieces) :] + pieces[: _MOVES % len(pieces)]
    noise.moved({(is_.chunk, is_.begin): was for is_, was in zip(pieces, shifted, strict=True)})
    noise.verify()


def _copy(source: Tensor, target: Tensor, *, is_by_kernel: bool) -> None:
    if is_by_kernel:
        torch.bitwise_or(source, 0, out=target)
    else:
        target.copy_(source)


def _keep(filled: Filled, seed: int) -> None:
    noise, turn = Noise(filled, seed), filled.turn
    noise.write()
    _pause(turn, turn.seconds * _ALONE_SHARE)
    noise.fade()
    noise.verify()
    noise.verify()


def _resume(filled: Filled, seed: int) -> None:
    turn = filled.turn
    begun_s, share = turn.elapsed_s, (1 - 2 * _PAUSE_SHARE) / _ROUNDS / 2
    while True:
        _write_and_read(filled, seed)
        if turn.elapsed_s - begun_s >= turn.seconds * share:
            break
    _pause(turn, min(_PAUSE_S, turn.seconds * _PAUSE_SHARE))
    noise = Noise(filled, seed)
    noise.write()
    noise.fade()
    noise.verify()


def _pause(turn: Turn, seconds: float) -> None:
    begun_s = time.monotonic()
    while time.monotonic() - begun_s < seconds:
        time.sleep(_POLL_S)
        turn.tick(text="waiting")
