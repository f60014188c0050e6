"""Memory errors: each word with its address and difference, two histograms, and the likely cause."""

from collections import Counter
from collections.abc import Callable
from typing import Final, NamedTuple

from torch import Tensor

from gputop_cuda_probe.turn import Turn

MASK: Final = 2**64 - 1
_WORD: Final = 8
_TOLD_PER_SLICE: Final = 8
_COUNTED_PER_SLICE: Final = 4096
_MOST_TOLD: Final = 48  # below the limit of a test: the sum needs a line as well
_MOST_MISREADS: Final = 8
_GARBAGE: Final = frozenset({0, 0xFFFFFFFF})  # of both halves of a word: what a controller gives for no answer


class Piece(NamedTuple):
    """A slice: of which chunk, from which word on."""

    chunk: int
    begin: int
    words: Tensor


class Errors:
    """The wrong words of one test. A word counts once, however often it is read."""

    def __init__(self, turn: Turn) -> None:
        self._turn = turn
        self._what = ""
        self._bad: set[tuple[int, int]] = set()
        self._bits: Counter[int] = Counter()
        self._flips: Counter[int] = Counter()
        self._garbage = self._fresh = self._more = self._misreads = 0

    def take(self, what: str, piece: Piece, places: Tensor, word: Callable[[Piece, int], int]) -> None:
        """Take down the bad words of a slice, the first few in full. ``what``: the pattern; ``word``: what must be."""
        self._what = what
        if not places.numel():
            self._misread(piece)
        self._more += max(0, len(places) - _COUNTED_PER_SLICE)
        for number, (offset,) in enumerate(places[:_COUNTED_PER_SLICE].tolist()):
            at = (piece.chunk, piece.begin + offset)
            if at in self._bad:
                continue
            self._bad.add(at)
            must = word(piece, offset) & MASK
            reads = [int(piece.words[offset]) & MASK for _ in range(3)]
            self._count(reads, must)
            if number < _TOLD_PER_SLICE and len(self._bad) <= _MOST_TOLD:
                self._tell(piece, offset, reads, must)

    def report(self) -> None:
        """Tell the histograms, and what they point to."""
        if not self._bad:
            return
        words = len(self._bad) + self._more
        self._turn.finding(
            "memory.errors", "fail", f"{words} words are wrong: {self._taxonomy()}", words=words,
            bits={str(k): v for k, v in sorted(self._bits.items())},
            flips={str(k): v for k, v in sorted(self._flips.items())},
        )  # fmt: skip

    def _misread(self, piece: Piece) -> None:
        """Tell of a slice that was wrong when it was read first and is right now."""
        self._misreads += 1
        if self._misreads > _MOST_MISREADS:
            return
        self._turn.finding(
            "memory.misread", "fail", f"chunk {piece.chunk}, slice at word {piece.begin}: wrong when it was read, and "
            "right when read again: the way from the memory, not its cells", chunk=piece.chunk, word=piece.begin,
            pattern=self._what,
        )  # fmt: skip

    def _count(self, reads: "list[int]", must: int) -> None:
        differs = reads[0] ^ must
        flips = differs.bit_count()
        self._flips[flips] += 1
        if flips == 1:
            self._bits[differs.bit_length() - 1] += 1
        self._garbage += {reads[0] >> 32, reads[0] & 0xFFFFFFFF} <= _GARBAGE or (reads[0] >> 8) & 0xFFFFFF == 0x0BADAC
        self._fresh += must in reads

    def _tell(self, piece: Piece, offset: int, reads: "list[int]", must: int) -> None:
        at, differs = piece.begin + offset, reads[0] ^ must
        self._turn.finding(
            "memory.wrong", "fail", f"chunk {piece.chunk} word {at}: {differs.bit_count()} bits differ",
            chunk=piece.chunk, word=at, virtual_address=f"0x{piece.words.data_ptr() + _WORD * offset:x}",
            expected=f"0x{must:016x}", actual=f"0x{reads[0]:016x}", xor=f"0x{differs:016x}", flips=differs.bit_count(),
            rereads=[f"0x{each:016x}" for each in reads[1:]], pattern=self._what, at_s=round(self._turn.elapsed_s, 2),
        )  # fmt: skip

    def _taxonomy(self) -> str:
        """Return the likely cause of the pattern of errors, after memtest_vulkan's experience."""
        bits, flips, words = self._bits, self._flips, len(self._bad)
        if self._fresh == words:
            return "right when read again: the way from the memory, not its cells"
        if set(flips) == {1}:
            return "one bit, always the same: a data line or a cell" if len(bits) == 1 else "single bits: cells"
        if flips.keys() <= {7, 8}:
            return "seven or eight bits: inversion of the data bus"
        if self._garbage == words:
            return "what is read is a fixed word: the memory controller"
        if any(count > 8 for count in flips):
            return "many bits: what is read is from another address"
        return "several bits"
