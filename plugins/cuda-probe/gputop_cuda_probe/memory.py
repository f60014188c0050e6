"""Patterns over the memory: all of it is written before any of it is read. One number tells a slice.

Every pattern can be turned, by a subtraction or an exclusive or, into one constant; the least and the largest of a
slice decide with one read. Only where they differ from the constant are the words looked at one by one.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from typing import Final, NamedTuple

import torch
from torch import Tensor

from gputop_cuda_probe.turn import SkippedError, Turn

_WORD: Final = 8
_MASK: Final = 2**64 - 1
_KEEP_LEAST: Final = 512 << 20
_TOLD_PER_SLICE: Final = 8
_MOST_TOLD: Final = 64


class Sizes(NamedTuple):
    """In words of 64 bits: of an allocation, its least, and of the piece that is worked on at once."""

    chunk: int
    least: int
    slice: int


GPU: Final = Sizes((1 << 30) // _WORD, (16 << 20) // _WORD, (64 << 20) // _WORD)
CPU: Final = Sizes((8 << 20) // _WORD, (4 << 20) // _WORD, (1 << 20) // _WORD)
_CPU_BYTES: Final = 32 << 20
_QUICK_SHARE: Final = 0.25


class Piece(NamedTuple):
    """A slice: of which chunk, from which word on."""

    chunk: int
    begin: int
    words: Tensor


def signed(value: int) -> int:
    """Return an unsigned number of 64 bits as torch knows it."""
    value &= _MASK
    return value - 2**64 if value >> 63 else value


def key(seed: int, chunk: int, begin: int) -> int:
    """Return a number that no two slices share: splitmix64 of where it is."""
    z = (seed * 0x9E3779B97F4A7C15 + (chunk << 40) + begin + 0x9E3779B97F4A7C15) & _MASK
    z = ((z ^ z >> 30) * 0xBF58476D1CE4E5B9) & _MASK
    z = ((z ^ z >> 27) * 0x94D049BB133111EB) & _MASK
    return z ^ z >> 31


class Filled:
    """Memory that was allocated for the test, and what was found wrong in it."""

    def __init__(self, turn: Turn) -> None:
        self.turn = turn
        self._sizes = CPU if turn.device.is_cpu else GPU
        self.chunks = list(self._allocate())
        if not self.chunks:
            raise SkippedError("there is no free memory to test")
        device = turn.device.torch
        self.iota = torch.arange(self._sizes.slice, device=device)
        self.scratch = torch.empty(self._sizes.slice, dtype=torch.int64, device=device)
        self._bad: set[tuple[int, int]] = set()
        self._bits: Counter[int] = Counter()
        self._flips: Counter[int] = Counter()

    @property
    def bytes(self) -> int:
        """Return how much is tested."""
        return sum(int(chunk.numel()) for chunk in self.chunks) * _WORD

    def pieces(self, *, backwards: bool = False) -> Iterator[Piece]:
        """Return the slices; the test goes on with each."""
        order = range(len(self.chunks))
        for number in reversed(order) if backwards else order:
            chunk = self.chunks[number]
            begins = range(0, chunk.numel(), self._sizes.slice)
            for begin in reversed(begins) if backwards else begins:
                yield Piece(number, begin, chunk[begin : begin + self._sizes.slice])
            self.turn.device.wait()  # nothing but this keeps the queue short, and stopping quick
            self.turn.tick()

    def fill(self, content: Callable[[Piece], object]) -> None:
        """Write all slices, and make the faults that are injected."""
        self.turn.faults.strike()
        for piece in self.pieces():
            content(piece)
        self.turn.device.wait()
        self._spoil()

    def verify(self, constant: Callable[[Piece, Tensor], int], word: Callable[[Piece, int], int]) -> None:
        """Read all slices. ``constant`` fills scratch and says what all of it must be; ``word``: one word."""
        for number in range(len(self.chunks)):
            held = list(self._of(number))
            wanted, found = [], []
            for piece in held:
                scratch = self.scratch[: piece.words.numel()]
                wanted.append(signed(constant(piece, scratch)))
                found.append(torch.stack(torch.aminmax(scratch)))
            for piece, must, (least, most) in zip(held, wanted, torch.stack(found).tolist(), strict=True):
                if least != must or most != must:
                    scratch = self.scratch[: piece.words.numel()]
                    constant(piece, scratch)
                    self._locate(piece, (scratch != must).nonzero(), word)
            self.turn.tick()

    def report(self) -> None:
        """Tell how much was tested, and the histograms of what was wrong."""
        self.turn.param(bytes=self.bytes, seed=self.turn.seed)
        if self._bad:
            self.turn.finding(
                "memory.errors", "fail", f"{len(self._bad)} words are wrong: {_taxonomy(self._bits, self._flips)}",
                words=len(self._bad), bits={str(k): v for k, v in sorted(self._bits.items())},
                flips={str(k): v for k, v in sorted(self._flips.items())},
            )  # fmt: skip

    def has_errors(self) -> bool:
        """Say whether anything was wrong so far."""
        return bool(self._bad)

    def _of(self, number: int) -> Iterator[Piece]:
        chunk = self.chunks[number]
        for begin in range(0, chunk.numel(), self._sizes.slice):
            yield Piece(number, begin, chunk[begin : begin + self._sizes.slice])

    def _allocate(self) -> Iterator[Tensor]:
        """Take chunks until the share of free memory is reached; smaller ones where large ones are not to be had."""
        left, size = self._target() // _WORD, self._sizes.chunk
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
            return _CPU_BYTES
        free, total = torch.cuda.mem_get_info()
        kept = max(_KEEP_LEAST, total // 50)
        wanted = min(int(free * device.memory), free - kept)
        return int(max(0, wanted if device.budget_bytes is None else min(wanted, device.budget_bytes)))

    def _spoil(self) -> None:
        """Flip bit 37 of a word; let a word take what is at another address."""
        faults, first, last = self.turn.faults, self.chunks[0], self.chunks[-1]
        if faults.has("flip"):
            first[12_345] ^= 1 << 37
        if faults.has("alias"):
            first[54_321] = last[321]

    def _locate(self, piece: Piece, places: Tensor, word: Callable[[Piece, int], int]) -> None:
        """Take down the bad words of a slice, the first few in full."""
        for number, (offset,) in enumerate(places[:4096].tolist()):
            at = (piece.chunk, piece.begin + offset)
            if at in self._bad:
                continue
            self._bad.add(at)
            must = word(piece, offset) & _MASK
            reads = [int(piece.words[offset]) & _MASK for _ in range(3)]
            differs = reads[0] ^ must
            flips = differs.bit_count()
            self._flips[flips] += 1
            if flips == 1:
                self._bits[differs.bit_length() - 1] += 1
            if number < _TOLD_PER_SLICE and len(self._bad) <= _MOST_TOLD:
                self.turn.finding(
                    "memory.wrong", "fail", f"chunk {at[0]} word {at[1]}: {flips} bits differ", chunk=at[0],
                    word=at[1], virtual_address=f"0x{piece.words.data_ptr() + _WORD * offset:x}",
                    expected=f"0x{must:016x}", actual=f"0x{reads[0]:016x}", xor=f"0x{differs:016x}", flips=flips,
                    rereads=[f"0x{each:016x}" for each in reads[1:]],
                )  # fmt: skip


def _taxonomy(bits: "Counter[int]", flips: "Counter[int]") -> str:
    """Say what the pattern of errors points to, after memtest_vulkan's experience."""
    if set(flips) == {0}:
        return "only the first read was wrong: the transfer, not the cells"
    if set(flips) == {1}:
        return "one bit, always the same: a data line or a cell" if len(bits) == 1 else "single bits: cells"
    if flips.keys() <= {7, 8}:
        return "seven or eight bits: inversion of the data bus"
    if any(count > 8 for count in flips):
        return "many bits: what is read is from another address"
    return "several bits"
