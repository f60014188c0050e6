"""Labelled traces of jobs of several ranks: who hangs, who is the odd one out, who is slower, what only looks so."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Final, TypeAlias

from detector_benchmark import behaviour_shapes as shapes
from detector_benchmark.behaviour_frames import Rank, Scene
from detector_benchmark.behaviour_shapes import BOARDS, Second, Seconds, Shape, lasting, seeded
from msgspec import Struct
from msgspec.structs import replace

HEALTHY, HANG, SLOW_GPU, SLOW_HOST = "healthy", "hang", "slow GPU", "slow host"


class JobTrace(Struct):
    """``culprit``: the number of the rank that is to be named, None if no one is."""

    kind: str
    seed: int
    label: str
    scene: Scene
    onset_s: float | None = None
    culprit: int | None = None


Ranks: TypeAlias = "list[Seconds]"
Made: TypeAlias = "tuple[Ranks, str, float | None, int | None]"


def _healthy(rng: Random, k: int) -> Made:
    work = shapes.training(rng, is_multi=True)
    return [_like(work, rng, 900) for _ in range(k)], HEALTHY, None, None


def _like(work: Shape, rng: Random, seconds: int) -> Seconds:
    """Return the same work with a spread of 4 % between GPUs."""
    share = rng.uniform(0.96, 1.04)
    return [replace(one, effort=min(1.0, one.effort * share)) for one in lasting(work, seconds)]


def _pipeline(rng: Random, k: int) -> Made:
    ranks = []
    for _ in range(k):
        work, effort, gu = shapes.training(rng, is_multi=True), rng.uniform(0.45, 0.9), rng.uniform(85, 100)
        ranks.append([replace(one, effort=effort, gu=min(100, gu + rng.uniform(-1, 1))) for one in lasting(work, 900)])
    return ranks, HEALTHY, None, None


def _alone_at_times(rng: Random, k: int) -> Made:
    ranks: Ranks = [[] for _ in range(k)]
    work = shapes.training(rng, is_multi=True)
    for _ in range(2):
        before, phase = rng.randint(200, 400), rng.randint(60, 240)
        alone = rng.choice((shapes.decoding(rng), shapes.copying(shapes.idle(rng, thread=90), rng), work))
        for at, rank in enumerate(ranks):
            rank.extend(lasting(work, before) + lasting(shapes.hanging(rng) if at else alone, phase))
    return [rank + lasting(work, 100) for rank in ranks], HEALTHY, None, None


def _all_capped(rng: Random, k: int) -> Made:
    work = shapes.training(rng, is_multi=True)
    return (
        [[replace(one, clock=one.clock * 0.8, reasons=("power cap",)) for one in lasting(work, 900)] for _ in range(k)],
        HEALTHY, None, None,
    )  # fmt: skip


def _odd_one(rng: Random, k: int) -> Made:
    work, before, odd = shapes.training(rng, is_multi=True), rng.randint(200, 400), rng.randrange(k)
    how: Shape = rng.choice(
        (
            shapes.idle(rng),
            shapes.spinning(rng),
            lambda: Second(state="D", thread=0.0),
            lambda: Second(is_alive=False),
        )
    )
    ranks = [lasting(work, before) + lasting(how if at == odd else shapes.hanging(rng), 500) for at in range(k)]
    return ranks, HANG, before, odd


def _all_hang(rng: Random, k: int) -> Made:
    work, before = shapes.training(rng, is_multi=True), rng.randint(200, 400)
    return [lasting(work, before) + lasting(shapes.hanging(rng), 500) for _ in range(k)], HANG, before, None


def _slow_clock(rng: Random, k: int) -> Made:
    k = max(4, k)
    work, odd, clock = shapes.training(rng, is_multi=True), rng.randrange(k), rng.uniform(0.55, 0.88)
    ranks = [lasting(work, 900) for _ in range(k)]
    ranks[odd] = [
        replace(one, clock=one.clock * clock, reasons=("software thermal",) if rng.random() < 0.8 else ())
        for one in ranks[odd]
    ]
    return ranks, SLOW_GPU, 0.0, odd


def _slow_host(rng: Random, k: int) -> Made:
    k = max(4, k)
    work, odd, gu = shapes.training(rng, is_multi=True), rng.randrange(k), rng.uniform(30, 75)
    share = gu / 97
    ranks = [[replace(one, gu=99, effort=one.effort * share) for one in lasting(work, 900)] for _ in range(k)]
    ranks[odd] = [replace(one, gu=gu + rng.uniform(-4, 4)) for one in ranks[odd]]
    return ranks, SLOW_HOST, 0.0, odd


SCENARIOS: Final[dict[str, Callable[[Random, int], Made]]] = {
    "healthy": _healthy,
    "pipeline stages": _pipeline,
    "rank-0-only phases": _alone_at_times,
    "all capped equally": _all_capped,
    "hang, odd one out": _odd_one,
    "hang, all": _all_hang,
    "slow clock": _slow_clock,
    "slow host": _slow_host,
}


def job_trace(kind: str, seed: int) -> JobTrace:
    """Return a trace of a scenario. Half of the jobs hide their environment: nothing tells ranks and world."""
    rng = seeded(f"{kind}/{seed}")
    board, k, is_hidden = rng.choice(BOARDS), rng.choice((2, 4, 8)), rng.random() < 0.5
    held, label, onset_s, culprit = SCENARIOS[kind](rng, k)
    k = len(held)
    ranks = [
        Rank(
            seconds, gpu=at, has_launcher=True, framework=None if is_hidden else f"torchrun rank {at}/{k}",
            rank=None if is_hidden else at, world=None if is_hidden else k,
        )
        for at, seconds in enumerate(held)
    ]  # fmt: skip
    return JobTrace(kind, seed, label, Scene(ranks, board, seed), onset_s, culprit)
