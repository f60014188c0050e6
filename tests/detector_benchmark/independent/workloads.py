"""Workloads: what the ranks of a training, a server, a notebook or an RL job do, from the length of their steps on."""

import math
from collections.abc import Callable
from typing import Final

from detector_benchmark.independent.activity import COLLECTIVE, COPY, DISK, HOST, IDLE, MANY, Activity, mix
from detector_benchmark.independent.actors import Steps
from detector_benchmark.independent.boards import NVLINK, Board
from detector_benchmark.independent.drawn import Draw
from detector_benchmark.independent.scripts import Curve, Part, Script, cycle, phases, script, sometimes

Ranks = Callable[[int], Script]
ASLEEP: Final = IDLE.but(cpu=0.2, thread=0.2)  # the main thread waits in a system call
EXCHANGE: Final = COLLECTIVE.but(share=0.1, mc=9, sm=16, dram=8, tensor=0, nv=42000, noise=0.08)  # gradients travel
VALIDATE: Final = (0.86, 0.62)  # utilization and power of a validation, compared with training


def train(
    work: Activity,
    *,
    step_s: float,
    talk: float = 0.08,
    host: float = 0.0,
    is_alone: bool = False,
    offset_s: float = 0.0,
) -> Script:
    """Return the steps of a training. ``talk``, ``host``: the shares of a step for gradients and for the CPU."""
    talks, thinks = (IDLE.but(cpu=60) if is_alone else EXCHANGE), HOST
    parts = ((1 - talk - host, work), (talk, talks), (host, thinks))
    if step_s * max(talk, host) < 1.0:
        return script(mix(*parts))
    return cycle(*[(share * step_s, part) for share, part in parts if share > 0], shift_s=offset_s)


def with_pauses(steps: Script, pause: Part, *, every_s: float, for_s: float, first_s: float = 0.0) -> Script:
    """Interrupt the steps by a pause in each period: a checkpoint, a validation, an epoch's end."""
    pauses = script(pause)
    return lambda t_s: (pauses if (t_s - first_s) % every_s >= every_s - for_s else steps)(t_s)


def saves(work: Script, *, every_s: float, for_s: float, first_s: float = 0.0) -> Ranks:
    """Return ranks of which rank 0 writes checkpoints while its peers wait in a barrier."""
    writes = cycle((3, HOST), (4, DISK))
    return lambda rank: with_pauses(
        work, writes if rank == 0 else COLLECTIVE, every_s=every_s, for_s=for_s, first_s=first_s
    )


def validates(work: Activity) -> Activity:
    """Return the validation of a training: no gradients, smaller batches."""
    return work.at(VALIDATE[0]).but(nv=0.0, share=work.share * VALIDATE[1], cpu=work.cpu)


def wait_on(board: Board) -> Activity:
    """Return a wait in a collective; without NVLink or P2P the ranks poll flags in host memory."""
    return COLLECTIVE if NVLINK in board.has else COLLECTIVE.but(rx=230.0, tx=60.0, noise=0.05)


def loads(draw: Draw, work: Part, *, slow: float = 1.0) -> Script:
    """Return the start of a job: imports, weights from disk, compilation, then work."""
    imports_s, reads_s, copies_s, compiles_s = (draw.about(s) * slow for s in (14, 22, 8, 18))
    return phases(
        HOST.but(cpu=97),
        (imports_s, DISK),
        (imports_s + reads_s, COPY),
        (imports_s + reads_s + copies_s, MANY),
        (imports_s + reads_s + copies_s + compiles_s, work),
    )


def since(from_s: float, work: Script) -> Script:
    """Begin the script of a process that is started within the trace."""
    return lambda t_s: work(t_s - from_s)


def serves(draw: Draw, busy: Part, *, each_s: float, for_s: float, rest: Part = IDLE) -> Script:
    """Return bursts of requests at random times."""
    return sometimes(rest, each_s=each_s, part=busy, for_s=for_s, seed=draw.seed())


def everyone(size: int, name: str = "rank", first_gpu: int = 0) -> str:
    """Return the names of the ranks of a job and of their boards, and of its launcher."""
    names = [f"{name}{n} gpu:{first_gpu + n}" for n in range(size)]
    return " ".join([f"{name}.job", *names])


def steps_until(end_s: float, *, each_s: float, report_s: float = 10.0) -> Steps:
    """Return the reports of a job that counts steps until some time: a line of its log every ``report_s``."""

    def reported(t_s: float) -> tuple[float, float]:
        at_s = min(t_s, end_s) // report_s * report_s
        return at_s, 4000 + at_s / each_s

    return reported


def poisson_steps(base: Curve, draw: Draw, *, mib: float, each_s: float, from_s: float, to_s: float) -> Curve:
    """Add memory in steps at random times that is never given back."""
    times, at_s = [], from_s
    while at_s < to_s:
        at_s += draw.about(each_s, 1.7)
        times.append((at_s, draw.about(mib, 1.3) // 2 * 2))
    return lambda t_s: base(t_s) + sum((size for when_s, size in times if when_s <= t_s), 0.0)


def saturating(base: Curve, *, mib: float, tau_s: float, chunk_mib: float = 20.0, from_s: float = 0.0) -> Curve:
    """Grow quickly at first, then ever more slowly, to a plateau: a cache, or an allocator's pool."""

    def curve(t_s: float) -> float:
        age_s = max(0.0, t_s - from_s)
        return base(t_s) + mib * (1 - math.exp(-age_s / tau_s)) // chunk_mib * chunk_mib

    return curve


def spikes(base: Curve, *, mib: float, every_s: float, for_s: float) -> Curve:
    """Need more for a while in each period."""
    return lambda t_s: base(t_s) + (mib if t_s % every_s >= every_s - for_s else 0)
