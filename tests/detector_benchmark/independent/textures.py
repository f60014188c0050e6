"""Textures of recordings: the unsteadiness of boards on which nothing is wrong, and the levels of those that wait."""

import math

from detector_benchmark.independent.activity import COLLECTIVE, IDLE, Activity, mix
from detector_benchmark.independent.boards import Board
from detector_benchmark.independent.drawn import Draw
from detector_benchmark.independent.scripts import Part, Script, cycle, script
from detector_benchmark.independent.workloads import Ranks, wait_on


def drifting(draw: Draw, work: Activity, *, depth: float = 0.06) -> Script:
    """Let the speed of a work drift by some percent over a minute, as that of H100 that train a ResNet."""
    waves = [(draw.between(35, 110), draw.between(0, math.tau)) for _ in range(3)]

    def does(t_s: float) -> Activity:
        level = sum(math.sin(math.tau * t_s / period_s + phase) for period_s, phase in waves) / 3
        return work.at(1 - depth + depth * level)

    return does


def rippling(draw: Draw, work: Part, *, every_s: int = 10) -> Script:
    """Copy half as much again in one second of some, as recorded of H100 that train a language model."""
    steady, shift = script(work), draw.whole(0, every_s - 1)

    def does(t_s: float) -> Activity:
        now = steady(t_s)
        is_ripple = (int(t_s) + shift) % every_s == 0
        return now.but(rx=1.47 * now.rx, tx=1.43 * now.tx, nv=now.nv + 8400 * (now.nv > 0)) if is_ripple else now

    return does


def dipping(draw: Draw, work: Activity, rest: Activity, *, every_s: float, for_s: float) -> Script:
    """Interrupt a work for seconds in each period; the edges fall into seconds, as recorded of TITAN X."""
    edge = draw.between(0.2, 0.8)
    left = mix((edge, work), (1 - edge, rest))
    right = mix((1 - edge, work), (edge, rest))
    return cycle((every_s - for_s, work), (1, left), (max(0.0, for_s - 2) + 0.01, rest), (1, right))


def saving(draw: Draw, work: Activity, board: Board, *, works_s: float, saves_s: float) -> Ranks:
    """Return ranks of which rank 0 writes a checkpoint after some seconds of work, while the others wait for it.

    Recorded of eight H100: 2, 23 or 234 s of work, then 15 to 55 s at 100 % and a fifth of the power.
    """
    wait = waits(draw, board)
    writes = IDLE.but(util=1, mc=1, cpu=38, state="D", tx=210, noise=0.3)
    return lambda rank: cycle((works_s, work), (saves_s, writes if rank == 0 else wait))


def waits(draw: Draw, board: Board) -> Activity:
    """Return a wait in a collective, from the power of a mere context to that of busy polling, as in reported hangs."""
    asleep = draw.between(0, 1) < 0.25
    cpu = draw.between(1, 5) if asleep else draw.between(99, 104)
    state = "S" if asleep else "R"
    spin, sm = draw.between(0.05, 1.1), draw.between(3, 18)
    return wait_on(board).but(spin=spin, sm=sm, cpu=cpu, thread=min(100.0, cpu), state=state)


def waits_apart(draw: Draw, board: Board) -> Activity:
    """Return a wait in another collective than that of the peers: other channels, another traffic of its polls."""
    wait = wait_on(board)
    return wait.but(sm=COLLECTIVE.sm * draw.between(0.3, 2.2), rx=wait.rx * draw.between(0.2, 3), tx=wait.tx * 2)
