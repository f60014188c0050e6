"""Bandwidth and correctness of copies: on the device, to it, from it, both. Slow and wrong are separate results."""

from collections import deque
from collections.abc import Callable
from functools import partial
from typing import Final

import torch
from torch import Tensor

from gputop_cuda_probe.timing import timed
from gputop_cuda_probe.turn import Turn

_WORD: Final = 8
_BLOCK: Final = 1 << 17
_AT_ONCE: Final = 5
_LEAST_REPEATS: Final = 5


def run(turn: Turn, name: str) -> None:
    """Copy until the time is over; then compare what arrived."""
    turn.faults.strike()
    {"copy": _on_device, "h2d": _to_device, "d2h": _to_host, "both": _both_ways}[name](turn)


def _on_device(turn: Turn) -> None:
    source = random_words(turn.seed, _words(turn, 1 << 30)).to(turn.device.torch)
    target = torch.zeros_like(source)
    size = source.numel() * _WORD
    _measure(turn, "copy", 2 * size, lambda: target.copy_(source), 0.6)
    _compare(turn, target, source)
    _measure(turn, "read", size, lambda: torch.aminmax(source), 0.8)
    _measure(turn, "write", size, lambda: target.fill_(0), 1.0)


def _to_device(turn: Turn) -> None:
    words = _words(turn, 256 << 20)
    target = torch.zeros(words, dtype=torch.int64, device=turn.device.torch)
    for number, (name, source) in enumerate(_hosts(turn, words)):
        target.zero_()
        copy = partial(target.copy_, source, non_blocking=True)
        _measure(turn, name, words * _WORD, copy, 0.5 + number)
        _compare(turn, target.cpu(), source)


def _to_host(turn: Turn) -> None:
    words = _words(turn, 256 << 20)
    for number, (name, target) in enumerate(_hosts(turn, words)):
        held = target.clone()
        source = held.to(turn.device.torch)
        target.zero_()
        _measure(turn, name, words * _WORD, partial(target.copy_, source, non_blocking=True), 0.5 + number)
        _compare(turn, target, held)


def _both_ways(turn: Turn) -> None:
    """Copy to the device and from it at the same time, on a GPU in two streams."""
    words = _words(turn, 256 << 20)
    up, sent = _hosts(turn, words)[0][1], random_words(turn.seed + 1, words)
    down = _hosts(turn, words)[0][1].zero_()
    here, there = torch.zeros_like(up, device=turn.device.torch), sent.to(turn.device.torch)
    _measure(
        turn, "both", 2 * words * _WORD, _in_streams(turn, partial(_copy, here, up), partial(_copy, down, there)), 1.0
    )
    _compare(turn, here.cpu(), up)
    _compare(turn, down, sent)


def _copy(target: Tensor, source: Tensor) -> None:
    target.copy_(source, non_blocking=True)


def _in_streams(turn: Turn, *works: Callable[[], object]) -> Callable[[], object]:
    """Return what does all of these, each in a stream of its own, and has the current one wait for them."""
    if turn.device.is_cpu:
        return lambda: deque((work() for work in works), maxlen=0)
    streams = [torch.cuda.Stream() for _ in works]

    def work_all() -> None:
        current = torch.cuda.current_stream()
        for stream, work in zip(streams, works, strict=True):
            stream.wait_stream(current)
            with torch.cuda.stream(stream):
                work()
        for stream in streams:
            current.wait_stream(stream)

    return work_all


def _hosts(turn: Turn, words: int) -> "list[tuple[str, Tensor]]":
    """Return random words in the two kinds of the host's memory. On a CPU there is one kind."""
    pageable = random_words(turn.seed, words)
    if turn.device.is_cpu:
        return [("pageable", pageable)]
    return [("pinned", pageable.pin_memory()), ("pageable", pageable)]


def _words(turn: Turn, on_gpu: int) -> int:
    """Return how many words to copy: a quarter of what may be used, at most, as there are others beside them."""
    most = min(16 << 20 if turn.device.is_cpu else on_gpu, turn.device.room() // 4)
    return max(_BLOCK, most // _WORD // _BLOCK * _BLOCK)


def random_words(seed: int, words: int) -> Tensor:
    """Return random words: a block that is repeated, each time with another number in it."""
    generator = torch.Generator().manual_seed(seed)
    block = min(words, _BLOCK)
    base = torch.randint(-(2**62), 2**62, (block,), dtype=torch.int64, generator=generator)
    return torch.cat([base ^ number for number in range(words // block)])


def _measure(turn: Turn, name: str, size: int, work: Callable[[], object], until: float) -> None:
    """Report bytes per second until this share of the time is over."""
    timed(turn.device, work, 2)
    seconds: list[float] = []
    slow = turn.faults.slowness
    while len(seconds) < _LEAST_REPEATS or not turn.is_due(min(until, 1.0)):
        seconds += timed(turn.device, work, _AT_ONCE)
        turn.tick(text=name, rate=(size / slow / seconds[-1], "B/s"))
    turn.metric(name, [size / slow / each for each in seconds], "B/s")


def _compare(turn: Turn, arrived: Tensor, sent: Tensor) -> None:
    """Compare bit by bit."""
    turn.device.wait()
    if turn.faults.has("flip"):
        arrived[4711] ^= 1 << 21
    wrong = torch.ne(arrived, sent)
    bad = int(wrong.sum())
    turn.tick()
    if bad:
        at = int(wrong.nonzero()[0, 0])
        must, is_ = int(sent[at]) & (2**64 - 1), int(arrived[at]) & (2**64 - 1)
        turn.finding(
            "bandwidth.data", "fail", f"{bad} of {sent.numel()} words did not arrive as they were sent", bad=bad,
            word=at, expected=f"0x{must:016x}", actual=f"0x{is_:016x}", xor=f"0x{must ^ is_:016x}",
        )  # fmt: skip
