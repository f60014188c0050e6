"""Copies between the GPUs of a box, each to each, and what arrives: some boxes change data on the way without an error.

Before that each GPU copies from the host and to it while the others rest: together they may share a switch.

What must arrive is made on the GPU that it arrives at, so that it has not come the way that is tested.
"""

import time
from collections.abc import Callable
from typing import Final, NamedTuple

import torch
from torch import Tensor

from gputop_cuda_probe.bandwidth import random_words
from gputop_cuda_probe.turn import SkippedError, Turn

_WORD: Final = 8
_BLOCK: Final = 1 << 17
_GPU_BLOCKS: Final = (256 << 20) // _WORD // _BLOCK
_CPU_BLOCKS: Final = 8
_AT_ONCE: Final = 4
_LEAST: Final = 3  # repeats for a median
_ONE_WAY: Final = 0.7  # of a pair's time
_HOST_SHARE: Final = 0.2


def run(turn: Turn) -> None:
    """Copy from each to each, one way and both ways at once, and compare all that arrives."""
    turn.faults.strike()
    count = turn.device.count
    if count < 2:
        raise SkippedError("it takes two GPUs")
    ends = [_End(turn, number, count) for number in range(count)]
    turn.param(bytes=ends[0].source.numel() * _WORD, seed=turn.seed)
    for number, end in enumerate(ends):
        _with_host(turn, end, _HOST_SHARE * (number + 1) / count, _HOST_SHARE / count)
    pairs = [(a, b) for a in ends for b in ends if a is not b]
    for number, (a, b) in enumerate(pairs):
        _one_way(turn, a, b, _HOST_SHARE + (1 - _HOST_SHARE) * (number + _ONE_WAY) / len(pairs))
        if a.number < b.number:
            _both_ways(turn, a, b, _HOST_SHARE + (1 - _HOST_SHARE) * (number + 1) / len(pairs))


class _End:
    """One GPU: the data that it sends and the buffer that receives. ``device``: a CPU replaces all of them."""

    def __init__(self, turn: Turn, number: int, count: int) -> None:
        is_cpu = turn.device.is_cpu
        self.number = number
        self.label = str(turn.device.label(number))
        self.device = turn.device.torch if is_cpu else torch.device("cuda", number)
        self._count = count
        self._blocks = _CPU_BLOCKS if is_cpu else max(1, min(_GPU_BLOCKS, turn.device.room() // 4 // _WORD // _BLOCK))
        self._base = random_words(turn.seed, _BLOCK).to(self.device)
        self.source = self.content(number)
        self.target = torch.zeros_like(self.source)
        turn.tick()

    def content(self, number: int) -> Tensor:
        """Return what the GPU of this number sends, made here: no two have a word in common at the same place."""
        places = torch.arange(self._blocks, device=self.device).reshape(-1, 1) * self._count + number
        return (self._base ^ (places << 8)).reshape(-1)

    def wait(self) -> None:
        """Wait for all that this GPU has to do."""
        if self.device.type == "cuda":
            torch.cuda.synchronize(self.device)


class _Way(NamedTuple):
    """A way that is copied along: the GPUs at its ends, what they are called, the bytes of a copy."""

    ends: tuple[_End, ...]
    source: str
    target: str
    size: float


def _with_host(turn: Turn, end: _End, until: float, share: float) -> None:
    """Copy from the host and back, and compare what has come both ways."""
    host = end.source.clone() if turn.device.is_cpu else end.source.cpu().pin_memory()
    size, middle = host.numel() * _WORD, until - share / 2
    end.target.zero_()
    up = _timed(turn, _Way((end,), "host", end.label, size), lambda: end.target.copy_(host, non_blocking=True), middle)
    turn.metric(f"h2d_alone.{end.label}", [size / each for each in up], "B/s")
    host.zero_()
    down = _timed(turn, _Way((end,), end.label, "host", size), lambda: host.copy_(end.target, non_blocking=True), until)
    turn.metric(f"d2h_alone.{end.label}", [size / each for each in down], "B/s")
    end.target.copy_(host)
    _compare(turn, ("host", end.label), end.target, end.content(end.number))


def _one_way(turn: Turn, a: _End, b: _End, until: float) -> None:
    b.target.zero_()
    slow = turn.faults.slowness if (a.number, b.number) == (0, 1) else 1.0
    size = a.source.numel() * _WORD / slow
    way = _Way((a, b), a.label, b.label, size)
    seconds = _timed(turn, way, lambda: b.target.copy_(a.source, non_blocking=True), until)
    turn.metric(f"{_kind(a, b)}.{a.label}-{b.label}", [size / each for each in seconds], "B/s")
    _compare(turn, (a.label, b.label), b.target, b.content(a.number))


def _both_ways(turn: Turn, a: _End, b: _End, until: float) -> None:
    a.target.zero_()
    b.target.zero_()

    def copy() -> None:
        b.target.copy_(a.source, non_blocking=True)  # torch queues a copy on the GPU that it comes from
        a.target.copy_(b.source, non_blocking=True)

    size = 2 * a.source.numel() * _WORD
    seconds = _timed(turn, _Way((a, b), a.label, f"{b.label} and back", size), copy, until)
    turn.metric(f"{_kind(a, b)}_both.{a.label}-{b.label}", [size / each for each in seconds], "B/s")
    for one, other in ((a, b), (b, a)):
        _compare(turn, (one.label, other.label), other.target, other.content(one.number))


def _kind(a: _End, b: _End) -> str:
    """Return whether one device reaches the other, or the host carries the data: do not compare the two."""
    if a.device.type == "cpu":
        return "peer"
    return "peer" if torch.cuda.can_device_access_peer(a.device, b.device) else "staged"


def _timed(turn: Turn, way: _Way, copy: Callable[[], object], until: float) -> list[float]:
    """Return the seconds of a copy, several times: of some at once, so that the start of one hides in another."""
    found: list[float] = []
    copy()
    while len(found) < _LEAST or not turn.is_due(min(until, 1.0)):
        for end in way.ends:
            end.wait()
        begun_s = time.perf_counter()
        for _ in range(_AT_ONCE):
            copy()
        for end in way.ends:
            end.wait()
        found.append(max(time.perf_counter() - begun_s, 1e-9) / _AT_ONCE)
        turn.tick(text=f"{way.source} to {way.target}", rate=(way.size / found[-1], "B/s"))
    return found


def _compare(turn: Turn, way: tuple[str, str], arrived: Tensor, must: Tensor) -> None:
    """Compare what has arrived bit by bit."""
    if turn.faults.has("flip"):
        arrived[4711] ^= 1 << 21
    wrong = torch.ne(arrived, must)
    bad = int(wrong.sum())
    turn.tick()
    if bad:
        at = int(wrong.nonzero()[0, 0])
        is_, wanted = (int(each[at]) & (2**64 - 1) for each in (arrived, must))
        turn.finding(
            "pairs.data", "fail", f"{way[0]} to {way[1]}: {bad} of {must.numel()} words did not arrive as they were "
            "sent; if copies over the host do, look at IOMMU and ACS", source=way[0], target=way[1], bad=bad,
            word=at, expected=f"0x{wanted:016x}", actual=f"0x{is_:016x}", xor=f"0x{wanted ^ is_:016x}",
        )  # fmt: skip
