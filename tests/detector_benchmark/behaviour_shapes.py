"""What a process does in a second, and building blocks of such seconds: training, hanging, waiting, starving.

Levels are those of published measurements; see the classes in `behaviour_traces`. Noise is added where frames are made.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Final, TypeAlias

from msgspec import Struct
from msgspec.structs import replace


class Board(Struct, frozen=True):
    """A kind of GPU, in watts: limit, without a process, with a context that does nothing."""

    name: str
    limit_w: float
    empty_w: float
    context_w: float
    has_gpm: bool
    default_w: float | None = None


H100: Final = Board("NVIDIA H100 80GB HBM3", 700, 70, 120, True)
A100: Final = Board("NVIDIA A100-SXM4-80GB", 400, 57, 85, False)
L40S: Final = Board("NVIDIA L40S", 350, 33, 99, False)
RTX_4090: Final = Board("NVIDIA GeForce RTX 4090", 450, 20, 55, False)
V100: Final = Board("Tesla V100-SXM2-32GB", 300, 40, 53, False)
BOARDS: Final = (H100, A100, L40S, RTX_4090, V100)


class Second(Struct, frozen=True):
    """One second of a process on a GPU. ``effort``: of the power between context and limit. Traffic: MB/s.

    ``workers``: CPU and state of each child. ``is_alive``: whether the process is still there.
    """

    gu: float = 0.0
    mu: float = 0.0
    effort: float = 0.0
    pcie: float = 1.0
    nvlink: float = 1.0
    sm: float = 0.0
    occupancy: float = 0.0
    tensor: float = 0.0
    dram: float = 0.0
    thread: float = 1.0
    workers: tuple[tuple[float, str], ...] = ()
    state: str = "S"
    clock: float = 0.96
    reasons: tuple[str, ...] = ()
    is_alive: bool = True
    step: int | None = None


Shape: TypeAlias = "Callable[[], Second]"
Seconds: TypeAlias = "list[Second]"


def seeded(key: object) -> Random:
    """Return the chance of a trace: the same for the same key."""
    return Random(str(key))  # noqa: S311 - nothing is secret


def lasting(shape: Shape, seconds: float) -> Seconds:
    """Return so many seconds of it."""
    return [shape() for _ in range(int(seconds))]


def workers(rng: Random, count: int, low: float, high: float, blocked: float = 0.0) -> tuple[tuple[float, str], ...]:
    """Return workers; ``blocked``: the share of them that waits for storage."""
    return tuple((rng.uniform(low, high), "D" if rng.random() < blocked else "S") for _ in range(count))


def training(rng: Random, *, is_multi: bool = False) -> Shape:
    """Return training that is well."""
    effort, gu, mu = rng.uniform(0.62, 0.95), rng.uniform(94, 99), rng.uniform(17, 58)
    tensor, nvlink = rng.uniform(37, 73), rng.uniform(2000, 50_000) if is_multi else 1.0
    thread, pcie, count = rng.uniform(52, 98), rng.uniform(25, 380), rng.choice((0, 4, 8, 16))
    busy = rng.uniform(6, 34)
    return lambda: Second(
        gu=gu + rng.uniform(-1, 1), mu=mu + rng.uniform(-2, 2), effort=effort + rng.uniform(-0.03, 0.03), pcie=pcie,
        nvlink=nvlink, sm=rng.uniform(70, 90), occupancy=rng.uniform(25, 45), tensor=tensor + rng.uniform(-2, 2),
        dram=mu * 0.7, thread=thread, workers=workers(rng, count, busy - 5, busy + 5), clock=0.9, state="R",
    )  # fmt: skip


def hanging(rng: Random, *, count: int = 0) -> Shape:
    """Return a kernel that waits: full, without power, nothing moved; the host thread spins or sleeps."""
    effort, sm, occupancy = rng.uniform(-0.02, 0.06), rng.uniform(3, 24), rng.uniform(1, 6)
    thread = 99.5 if rng.random() < 0.7 else rng.uniform(0, 4)
    mu = rng.choice((0, 1))
    return lambda: Second(
        gu=100, mu=mu, effort=effort, pcie=rng.uniform(0, 3), nvlink=rng.uniform(0, 5), sm=sm, occupancy=occupancy,
        dram=rng.uniform(0, 0.6), thread=thread, workers=workers(rng, count, 0, 1), state="R" if thread > 50 else "S",
    )  # fmt: skip


def idle(rng: Random, *, count: int = 0, thread: float = 2.0) -> Shape:
    """Return a process that does nothing, with workers that do nothing."""
    return lambda: Second(thread=rng.uniform(0, thread), workers=workers(rng, count, 0, 0.5))


def spinning(rng: Random) -> Shape:
    """Return a thread that runs while the GPU does nothing."""
    return lambda: Second(thread=rng.uniform(94, 101), state="R")


def decoding(rng: Random) -> Shape:
    """Return a server that decodes: memory-bound."""
    mu, effort, dram = rng.uniform(74, 96), rng.uniform(0.42, 0.78), rng.uniform(63, 84)
    return lambda: Second(
        gu=rng.uniform(92, 100), mu=mu, effort=effort, pcie=30, nvlink=300, sm=75, occupancy=30,
        tensor=rng.uniform(2, 15), dram=dram, thread=rng.uniform(60, 98), state="R",
    )  # fmt: skip


def launching(rng: Random) -> Shape:
    """Return an eager loop of small kernels."""
    gu, mu, effort, sm = rng.uniform(57, 99), rng.uniform(1.5, 11), rng.uniform(0.06, 0.32), rng.uniform(9, 39)
    return lambda: Second(
        gu=gu + rng.uniform(-2, 2), mu=mu, effort=effort + rng.uniform(-0.01, 0.01), pcie=rng.uniform(5, 60), sm=sm,
        occupancy=rng.uniform(1, 9), tensor=rng.uniform(0, 6), dram=mu, thread=rng.uniform(96, 101), state="R",
    )  # fmt: skip


def tiny(rng: Random) -> Shape:
    """Return a simulation of tiny kernels, full and without power for ever, and well."""
    mu = rng.uniform(0, 3)
    return lambda: Second(
        gu=rng.uniform(96, 100), mu=mu, effort=rng.uniform(0.03, 0.13), pcie=2, sm=rng.uniform(8, 10),
        occupancy=rng.uniform(2, 4), dram=rng.uniform(0, 2), thread=rng.uniform(90, 101), state="R",
    )  # fmt: skip


def communicating(rng: Random) -> Shape:
    """Return ranks that mostly exchange gradients."""
    effort, nvlink, pcie = rng.uniform(0.23, 0.49), rng.uniform(42_000, 300_000), rng.uniform(500, 9000)
    mu = rng.uniform(15, 45)
    return lambda: Second(
        gu=rng.uniform(96, 100), mu=mu, effort=effort, pcie=pcie, nvlink=nvlink, sm=rng.uniform(30, 60),
        occupancy=15, tensor=rng.uniform(3, 20), dram=mu * 0.6, thread=rng.uniform(60, 99), state="R",
    )  # fmt: skip


def starving(rng: Random, *, of_storage: bool) -> Shape:
    """Return training whose loaders do not keep up, by CPU or by storage; a period may be shorter than a second."""
    low, high, most = (0.05, 0.6, 12.0) if of_storage else (0.1, 0.7, 20.0)
    duty, period = rng.uniform(low, high), rng.uniform(1.0 if of_storage else 0.3, most)
    count = rng.randint(2, 16) if of_storage else rng.randint(1, 8)
    blocked = rng.uniform(0.33, 0.8) if of_storage else 0.0
    low_cpu, high_cpu = (3, 30) if of_storage else (85, 101)
    at = rng.uniform(0, period)
    work = training(rng)

    def second() -> Second:
        nonlocal at
        busy = min(1.0, sum(((at + n / 20) % period) < duty * period for n in range(20)) / 20)
        at += 1
        full = work()
        return replace(
            full, gu=100 * busy, mu=full.mu * busy, effort=full.effort * busy, tensor=full.tensor * busy,
            dram=full.dram * busy, sm=full.sm * busy, thread=10 + 30 * busy,
            workers=workers(rng, count, low_cpu, high_cpu, blocked),
        )  # fmt: skip

    return second


def preparing(rng: Random, count: int) -> Shape:
    """Return the host phase of a step: workers compute, the GPU waits."""
    return lambda: Second(thread=rng.uniform(5, 30), workers=workers(rng, count, 70, 100))


def throttled(rng: Random) -> Shape:
    """Return training on a board that is too hot."""
    work, clock = training(rng), rng.uniform(0.45, 0.7)
    reasons = ("software thermal", "hardware thermal") if rng.random() < 0.3 else ("software thermal",)

    def second() -> Second:
        full = work()
        return replace(full, effort=full.effort * 0.6, clock=clock, reasons=reasons)

    return second


def capped(rng: Random) -> Shape:
    """Return training at the power limit."""
    work, clock = training(rng), rng.uniform(0.72, 0.88)
    return lambda: replace(work(), effort=rng.uniform(0.985, 1.0), clock=clock, reasons=("power cap",))


def copying(shape: Shape, rng: Random) -> Shape:
    """Return a shape during which data is copied to the host."""
    return lambda: replace(shape(), pcie=rng.uniform(200, 4000))
