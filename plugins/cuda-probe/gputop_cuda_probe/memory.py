"""Patterns over the memory: all of it is written before any of it is read. One number tells a slice.

Every pattern can be turned, by a subtraction or an exclusive or, into one constant; the least and the largest of a
slice decide with one read. Only where they differ from the constant are the words looked at one by one.
"""

import time
from collections.abc import Callable, Iterator
from typing import Final, NamedTuple

import torch
from torch import Tensor

from gputop_cuda_probe.errors import MASK, Errors, Piece
from gputop_cuda_probe.turn import SkippedError, Turn

_WORD: Final = 8
_KEEP_LEAST: Final = 512 << 20


class Sizes(NamedTuple):
    """In words of 64 bits: of an allocation, its least, and of the piece that is worked on at once."""

    chunk: int
    least: int
    slice: int


GPU: Final = Sizes((1 << 30) // _WORD, (16 << 20) // _WORD, (64 << 20) // _WORD)
CPU: Final = Sizes((8 << 20) // _WORD, (4 << 20) // _WORD, (1 << 20) // _WORD)
_CPU_BYTES: Final = 32 << 20


def signed(value: int) -> int:
    """Return an unsigned number of 64 bits as torch knows it."""
    value &= MASK
    return value - 2**64 if value >> 63 else value


def key(seed: int, chunk: int, begin: int) -> int:
    """Return a number that no two slices share: splitmix64 of where it is."""
    z = (seed * 0x9E3779B97F4A7C15 + (chunk << 40) + begin + 0x9E3779B97F4A7C15) & MASK
    z = ((z ^ z >> 30) * 0xBF58476D1CE4E5B9) & MASK
    z = ((z ^ z >> 27) * 0x94D049BB133111EB) & MASK
    return z ^ z >> 31


class Filled:
    """Memory that was allocated for the test, and what was found wrong in it."""

    def __init__(self, turn: Turn, most_bytes: int | None = None) -> None:
        self.turn = turn
        self.what = ""  # the pattern, for people
        self._sizes = CPU if turn.device.is_cpu else GPU
        self.chunks = list(self._allocate(most_bytes))
        if not self.chunks:
            raise SkippedError("there is no free memory to test")
        device = turn.device.torch
        self.iota = torch.arange(self._sizes.slice, device=device)
        self.scratch = torch.empty(self._sizes.slice, dtype=torch.int64, device=device)
        self._errors = Errors(turn)
        self.start()

    @property
    def bytes(self) -> int:
        """Return how much is tested."""
        return sum(int(chunk.numel()) for chunk in self.chunks) * _WORD

    def pieces(self, *, backwards: bool = False) -> Iterator[Piece]:
        """Return the slices; the test goes on with each."""
        self.start()
        order = range(len(self.chunks))
        for number in reversed(order) if backwards else order:
            chunk = self.chunks[number]
            begins = range(0, chunk.numel(), self._sizes.slice)
            for begin in reversed(begins) if backwards else begins:
                yield Piece(number, begin, chunk[begin : begin + self._sizes.slice])
            self.turn.device.wait()  # nothing but this keeps the queue short, and stopping quick
            self.went_on(chunk.numel())

    def slices(self, number: int) -> Iterator[Piece]:
        """Return the slices of one chunk."""
        chunk = self.chunks[number]
        for begin in range(0, chunk.numel(), self._sizes.slice):
            yield Piece(number, begin, chunk[begin : begin + self._sizes.slice])

    def start(self) -> None:
        """Begin a pass over all words."""
        self._words, self._began_s = 0, time.perf_counter()

    def went_on(self, words: int) -> None:
        """Report that this number of words is done, and the speed of this pass."""
        self._words += words
        taken_s = max(time.perf_counter() - self._began_s, 1e-9)
        self.turn.tick(text=self.what, rate=(self._words * _WORD / taken_s, "B/s"))

    def fill(self, content: Callable[[Piece], object]) -> None:
        """Write all slices, and make the faults that are injected."""
        self.write(content)
        self.spoil()

    def write(self, content: Callable[[Piece], object]) -> None:
        """Write all slices."""
        self.turn.faults.strike()
        for piece in self.pieces():
            content(piece)
        self.turn.device.wait()

    def verify(self, constant: Callable[[Piece, Tensor], int], word: Callable[[Piece, int], int]) -> None:
        """Read all slices. ``constant`` fills scratch and says what all of it must be; ``word``: one word."""
        self.start()
        for number, chunk in enumerate(self.chunks):
            held = list(self.slices(number))
            wanted, found = [], []
            for piece in held:
                scratch = self.scratch[: piece.words.numel()]
                wanted.append(signed(constant(piece, scratch)))
                found.append(torch.stack(torch.aminmax(scratch)))
            if self.turn.faults.has("misread"):
                found[0] += 1
            for piece, must, (least, most) in zip(held, wanted, torch.stack(found).tolist(), strict=True):
                if least != must or most != must:
                    scratch = self.scratch[: piece.words.numel()]
                    constant(piece, scratch)
                    self._errors.take(self.what, piece, (scratch != must).nonzero(), word)
            self.went_on(chunk.numel())

    def report(self) -> None:
        """Tell how much was tested, and the histograms of what was wrong."""
        self.turn.param(bytes=self.bytes, seed=self.turn.seed)
        self._errors.report()

    def _allocate(self, most_bytes: int | None) -> Iterator[Tensor]:
        """Take chunks until the share of free memory is reached; smaller ones where large ones are not to be had."""
        wanted = self._target()
        left, size = (wanted if most_bytes is None else min(wanted, most_bytes)) // _WORD, self._sizes.chunk
        while left >= self._sizes.least:
            self.turn.tick()
            try:
                made = torch.empty(min(size, left), dtype=torch.int64, device=self.turn.device.torch)
            except torch.cuda.OutOfMemoryError:
                size //= 2
                if size < self._sizes.least:
                    return
                continue
            left -= made.numel()
            yield made

    def _target(self) -> int:
        device = self.turn.device
        if device.is_cpu:
            return min(_CPU_BYTES, _CPU_BYTES if device.budget_bytes is None else device.budget_bytes)
        free, total = torch.cuda.mem_get_info()
        kept = max(_KEEP_LEAST, total // 50)
        wanted = min(int(free * device.memory), free - kept)
        return int(max(0, wanted if device.budget_bytes is None else min(wanted, device.budget_bytes)))

    def spoil(self) -> None:
        """Make the faults that are injected: flip bit 37 of a word; let a word take what is at another address."""
        faults, first, last = self.turn.faults, self.chunks[0], self.chunks[-1]
        if faults.has("flip"):
            first[12_345] ^= 1 << 37
        if faults.has("alias"):
            first[54_321] = last[321]
