"""Jobs whose ranks wait in a collective that never ends."""

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from detector_benchmark.independent.activity import CNN, FP64, LLM, LORA, Activity
from detector_benchmark.independent.actors import Actor, Use
from detector_benchmark.independent.boards import (
    A100,
    A100_40,
    B200,
    GB200,
    H100,
    H200,
    L40S,
    RTX_3090,
    RTX_5090,
    V100,
    Board,
)
from detector_benchmark.independent.disturbances import (
    bad_process_zeros,
    faults,
    late_power,
    no_process_values,
    often_gaps,
)
from detector_benchmark.independent.drawn import Draw
from detector_benchmark.independent.roles import but, loaders
from detector_benchmark.independent.scripts import Part, phases, warmed
from detector_benchmark.independent.sketches import BATCH, jammed, mib_of, scene, team, turns, well_fed
from detector_benchmark.independent.textures import rippling, waits, waits_apart
from detector_benchmark.independent.trace import Scene, want
from detector_benchmark.independent.workloads import everyone, loads, train

_OK = "stalled idle~ spin blocked"  # true of a rank of such a job, or of the job
_SHOWN_S = 840  # after which an operator wants to see it

Odd = Callable[[Draw], Part]


def _freezes(
    seed: int,
    name: str,
    boards: Sequence[Board],
    *,
    work: Activity = LLM,
    odd: Mapping[int, Odd] = MappingProxyType({}),
    at: tuple[float, float] = (280, 560),
    change: Callable[[list[Actor], float], list[Actor]] = lambda actors, at_s: actors,
    disturb: Callable[[Draw], Sequence[Any]] = lambda draw: (),
    **more: Any,
) -> Scene:
    """Let a job train, and wait for ever from some time on; at 0 it has waited since before. ``odd``: other ranks."""
    draw = Draw(seed, name)
    at_s, size = draw.between(*at), len(boards)
    steps = rippling(draw, train(draw.work(work), step_s=draw.about(1.6, 1.7), talk=draw.between(0.05, 0.18)))

    wait = waits(draw, boards[0])

    def does(rank: int) -> Part:
        rest = odd[rank](draw) if rank in odd else _alike(draw, wait)
        return rest if at_s == 0 else turns(steps, at_s, rest)

    wants = want("hang", everyone(size), at_s, at_s + _SHOWN_S)
    given: Any = {"disturb": disturb(draw), "allows": _OK} | more
    memory = mib_of(boards[0], draw.between(0.45, 0.9))
    return team(seed, boards, does, memory, at_s + 900, wants, change=lambda actors: change(actors, at_s), **given)


def _alike(draw: Draw, wait: Activity) -> Activity:
    """Return the wait of one more rank: the ranks of a job wait in the same way, with powers that differ a little."""
    return wait.but(spin=wait.spin * draw.between(0.85, 1.15))


def _sleeps(draw: Draw) -> Part:
    return jammed(draw.between(0, 1.2))


def _other_call(board: Board) -> Odd:
    return lambda draw: waits_apart(draw, board)


# --- they worked, and one of them went another way ------------------------------------------------------------------
def shard_that_ran_out_of_batches(seed: int) -> Scene:
    """Rank 3 of eight H200 has one batch less and waits in the barrier after the epoch, its peers in an all-reduce."""
    return _freezes(seed, "k5hang1", [H200] * 8, odd={3: _other_call(H200)})


def breakpoint_left_in_rank_zero(seed: int) -> Scene:
    """Rank 0 of four A100 of 40 GB stopped at a forgotten breakpoint and reads an input that no user types."""
    return _freezes(seed, "k5hang2", [A100_40] * 4, work=LORA, odd={0: _sleeps})


def sharded_save_that_one_rank_never_finishes(seed: int) -> Scene:
    """Rank 5 of eight H100 waits for an object store that took its part of a checkpoint and never answered."""
    return _freezes(seed, "k5hang3", [H100] * 8, odd={5: lambda draw: jammed(draw.between(0.2, 2))}, launcher="srun")


def rank_ended_by_the_memory_killer(seed: int) -> Scene:
    """The kernel ended rank 2 of four A100, whose launcher does not look after its ranks; three wait for it."""
    ends = lambda actors, at_s: but(actors, "rank2", until_s=at_s)
    return _freezes(seed, "k5hang4", [A100] * 4, change=ends, launcher="spawn")


def loaders_of_one_rank_in_a_deadlock(seed: int) -> Scene:
    """The loaders of rank 1 of four L40S are stuck in a lock that a fork copied; its peers poll for its gradients."""
    draw = Draw(seed, "k5hang5+")

    def feeds(actors: list[Actor], at_s: float) -> list[Actor]:
        fed = well_fed(draw)
        stuck = turns(fed, at_s, jammed(0))
        parts = [loaders(one, 3, stuck if one.name == "rank1" else turns(fed, at_s, jammed(0.1))) for one in actors[1:]]
        return [*actors, *(each for part in parts for each in part)]

    return _freezes(seed, "k5hang5", [L40S] * 4, work=CNN, odd={1: _sleeps}, change=feeds)


def switch_of_the_fabric_rebooted(seed: int) -> Scene:
    """A switch of the fabric rebooted under a job of many nodes: the eight ranks of this one, on B200, wait for ever."""
    return _freezes(seed, "k5hang6", [B200] * 8, launcher="srun", disturb=lambda draw: [late_power(draw.seed(), 0.08)])


def stage_that_sends_without_a_receiver(seed: int) -> Scene:
    """In a pipeline of four GB200 a stage waits to send what no stage receives; all four poll, at different rates."""
    odd = {1: _other_call(GB200), 2: _other_call(GB200)}
    return _freezes(seed, "k5hang7", [GB200] * 4, odd=odd, interval_s=2.0)


# --- from the first collective on -----------------------------------------------------------------------------------
def gaming_boards_that_cannot_reach_each_other(seed: int) -> Scene:
    """Two RTX 5090 load a model and freeze in the first collective, as the IOMMU breaks their direct copies."""
    draw = Draw(seed, "k5hang8")
    at_s = draw.between(100, 140)
    wait = waits(draw, RTX_5090)
    rests = [_alike(draw, wait) for _ in range(2)]
    does = lambda rank: phases(loads(draw, rests[rank]), (at_s, rests[rank]))
    wants = want("hang", everyone(2), 50, at_s + _SHOWN_S)  # the wait begins when the last rank is loaded
    return team(
        seed, [RTX_5090] * 2, does, warmed(480, 16000, at_s=45, over_s=20), at_s + 900, wants, allows=_OK, age_s=0.0
    )


def solver_of_mpi_frozen_in_its_first_sum(seed: int) -> Scene:
    """Four ranks of a solver on V100 read their mesh and freeze in the first sum over all of them."""
    draw = Draw(seed, "k5hang9")
    at_s = draw.between(120, 160)
    wait = waits(draw, V100)
    rests = [_alike(draw, wait) for _ in range(4)]
    does = lambda rank: phases(loads(draw, rests[rank]), (at_s, rests[rank]))
    more: Any = {"launcher": "mpirun", "command": "./wave -i grid.nc", "age_s": 0.0, "allows": _OK}
    return team(
        seed,
        [V100] * 4,
        does,
        warmed(310, 6300, at_s=45, over_s=20),
        at_s + 900,
        want("hang", everyone(4), 50, at_s + 840),
        **more,
    )


# --- gputop came later, or sees badly -------------------------------------------------------------------------------
def job_that_froze_over_the_weekend(seed: int) -> Scene:
    """gputop is started on Monday: seven of eight A100 wait at 100 % since Saturday, and rank 6 sleeps at 0 %."""
    return _freezes(seed, "k5hang10", [A100] * 8, odd={6: _sleeps}, at=(0, 0), age_s=190000)


def freeze_seen_every_ten_seconds(seed: int) -> Scene:
    """Eight H100 freeze in a gather; a recording has one sample in ten seconds."""
    return _freezes(seed, "k5hang11", [H100] * 8, interval_s=10.0, launcher="srun")


def freeze_behind_missing_values(seed: int) -> Scene:
    """Four RTX 3090 freeze; shares of processes and the power are missing at times, and some samples are lost."""
    bad = lambda draw: [
        no_process_values(draw.seed(), 0.06),
        bad_process_zeros(draw.seed(), 0.02),
        faults(draw.seed(), 0.05, "power_average_w", "power_instant_w"),
        often_gaps(draw.seed(), each_s=100, from_s=3, to_s=14),
    ]
    return _freezes(seed, "k5hang12", [RTX_3090] * 4, work=LORA, disturb=bad)


def rank_that_reads_from_a_dead_server(seed: int) -> Scene:
    """Rank 2 of four H200 is blocked in a read of an NFS server that went down; the others wait for it at 100 %."""
    return _freezes(seed, "k5hang13", [H200] * 4, odd={2: lambda draw: jammed(0, "D")}, launcher="srun")


def one_program_on_eight_boards_frozen(seed: int) -> Scene:
    """One program in JAX drives eight A100; a sum over all of them never ends, and the host sleeps in a wait for it."""
    draw = Draw(seed, "k5hang14")
    at_s = draw.between(300, 500)
    steps, memory = rippling(draw, draw.work(FP64)), mib_of(A100, 0.75)
    wait = waits(draw, A100)
    uses = tuple(Use(gpu, turns(steps, at_s, _alike(draw, wait)), memory) for gpu in range(8))
    host = turns(jammed(140, "R"), at_s, jammed(draw.one_of((1.0, 100.0))))
    job = Actor(name="job", command="python -u train_jax.py", uses=uses, host=host, threads=180, **BATCH)
    names = " ".join(["job", *(f"gpu:{n}" for n in range(8))])
    wants = want("hang kernel", names, at_s, at_s + _SHOWN_S)
    return scene(seed, [A100] * 8, [job], at_s + 900, wants, allows=_OK + " kernel")
