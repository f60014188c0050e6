"""Programs whose thread uses a whole core for long, while their GPU has nothing to do."""

from collections.abc import Callable, Sequence
from typing import Any

from detector_benchmark.independent.activity import (
    CNN,
    DECODE,
    DIFFUSION,
    FP32,
    FP64,
    LLM,
    LORA,
    PREFILL,
    STENCIL,
    Activity,
)
from detector_benchmark.independent.actors import TMUX, Actor, docker, slurm
from detector_benchmark.independent.boards import (
    A10G,
    A100,
    A100_MIG,
    B200,
    H100,
    H100_PCIE,
    H200,
    L4,
    LAPTOP_4070,
    PRO_6000,
    RTX_3090,
    T4,
    V100,
    Board,
)
from detector_benchmark.independent.disturbances import late_power, no_process_values, often_gaps
from detector_benchmark.independent.drawn import Draw
from detector_benchmark.independent.roles import desktop, loaders
from detector_benchmark.independent.scripts import level
from detector_benchmark.independent.sketches import alone, jammed, mib_of, notebook, scene, team, turns, well_fed
from detector_benchmark.independent.textures import drifting
from detector_benchmark.independent.trace import Scene, want
from detector_benchmark.independent.workloads import everyone, train

_OK = "stalled idle"


def _alone_on_a_core(draw: Draw) -> Activity:
    return jammed(draw.between(97, 102), "R")


def _burns(
    seed: int,
    name: str,
    board: Board,
    work: Activity,
    command: str,
    *,
    at: tuple[float, float] = (200, 520),
    workers: int = 0,
    beside: Sequence[Actor] = (),
    disturb: Callable[[Draw], Sequence[Any]] = lambda draw: (),
    **more: Any,
) -> Scene:
    """Let a program work on its GPU, then on one core alone until the end."""
    draw = Draw(seed, name)
    at_s = draw.between(*at)
    children = loaders(Actor(name="job", command=command), workers, turns(well_fed(draw), at_s, jammed(0)))
    does = turns(drifting(draw, draw.work(work)), at_s, _alone_on_a_core(draw))
    wants = want("spin", "job gpu:0", at_s, at_s + 540)
    given: Any = {"actors": [*beside, *children], "allows": _OK, "disturb": disturb(draw), "command": command} | more
    return alone(seed, board, does, mib_of(board, draw.between(0.2, 0.8)), at_s + 700, wants, **given)


def boxes_merged_by_a_loop_in_python(seed: int) -> Scene:
    """An evaluation on an A10G merges a million boxes in a loop in Python, and has not used the board for minutes."""
    return _burns(seed, "k5spin1", A10G, CNN, "python val.py --save-json")


def tree_search_that_forgot_its_net(seed: int) -> Scene:
    """A player of Go on an H200 searches in positions that it has seen, on one core, and asks its net no more."""
    return _burns(seed, "k5spin2", H200, PREFILL, "./katago gtp-batch games.txt")


def tokens_counted_twice(seed: int) -> Scene:
    """A tuning on an H100 packs its data set anew in one thread after its first epoch, for an hour."""
    return _burns(seed, "k5spin3", H100, LORA, "python sft.py --packing", workers=2)


def answer_that_a_grammar_never_accepts(seed: int) -> Scene:
    """A constrained generation on an L4 walks a grammar on the host without an end; the board waits for a mask."""
    return _burns(seed, "k5spin4", L4, DECODE, "python extract_json.py", cgroup=docker("f"))


def spring_that_never_converges(seed: int) -> Scene:
    """An outer loop on a V100 minimises a function on the host that no longer converges."""
    return _burns(seed, "k5spin5", V100, FP64, "./relax -i cell.in", cgroup=slurm(1201))


def lock_that_is_polled(seed: int) -> Scene:
    """A program on a T4 polls for the lock of a build directory that a dead program left, at 100 % of a core."""
    return _burns(seed, "k5spin6", T4, FP32, "python run_ext.py", disturb=lambda draw: [late_power(draw.seed(), 0.1)])


def cell_that_walks_over_a_frame(seed: int) -> Scene:
    """A cell of a notebook on an RTX PRO 6000 walks row by row over a table of ten million; the board holds a model."""
    draw = Draw(seed, "k5spin7")
    at_s = draw.between(200, 420)
    actors = notebook("nb", 0, turns(draw.work(LORA), at_s, _alone_on_a_core(draw)), mib_of(PRO_6000, 0.35))
    return scene(seed, [PRO_6000], actors, at_s + 700, want("spin", "nb gpu:0", at_s, at_s + 540), allows=_OK)


def player_that_draws_on_the_host(seed: int) -> Scene:
    """A tool on a laptop's RTX 4070 draws its maps in one thread after a short analysis, with a desktop beside."""
    return _burns(seed, "k5spin8", LAPTOP_4070, CNN, "./maptool --batch", beside=desktop(), variables=TMUX)


def compression_of_a_result_in_one_thread(seed: int) -> Scene:
    """A simulation on a B200 is done and compresses a result of 200 GB in one thread and holds a part of the board."""
    return _burns(seed, "k5spin9", B200, STENCIL, "./seismic --out cube.zst")


def loop_seen_through_gaps(seed: int) -> Scene:
    """A crawl over a graph runs on one core, an H100 PCIe waits for it; samples and shares of processes are missing."""
    bad = lambda draw: [often_gaps(draw.seed(), each_s=60, from_s=3, to_s=11), no_process_values(draw.seed(), 0.05)]
    return _burns(seed, "k5spin10", H100_PCIE, LLM, "python graphwalk.py", disturb=bad)


def loop_in_a_coarse_recording(seed: int) -> Scene:
    """A scheduler of an optimiser loops over a list on one core beside a 3090; there is a sample in five seconds."""
    return _burns(seed, "k5spin11", RTX_3090, DIFFUSION, "python train_lora.py", interval_s=5.0)


def loop_in_a_slice(seed: int) -> Scene:
    """A program in a slice of an A100 simulates a market in Python after its fit, and its slice has had nothing since."""
    draw = Draw(seed, "k5spin12")
    at_s = draw.between(200, 420)
    does = turns(draw.work(FP32).but(share=0.2), at_s, _alone_on_a_core(draw))
    wants = want("spin", "job gpu:0", at_s, at_s + 540)
    return alone(
        seed, A100_MIG, does, level(9000), at_s + 700, wants, command="python market.py", instance=2, allows=_OK
    )


def ranks_that_poll_each_other_on_the_host(seed: int) -> Scene:
    """Four ranks of an MPI code on A100 poll in a receive on the host at 100 % of a core each, and their boards are at 0 %."""
    draw = Draw(seed, "k5spin13")
    at_s = draw.between(260, 480)
    work = train(draw.work(FP64), step_s=1.3, is_alone=True)
    does = lambda rank: turns(work, at_s, jammed(draw.between(98, 101), "R"))
    wants = want("spin hang stalled", everyone(4), at_s, at_s + 840)
    more: Any = {"launcher": "mpirun", "command": "./mhd -i disk.par", "allows": "spin hang stalled idle~"}
    return team(seed, [A100] * 4, does, mib_of(A100, 0.4), at_s + 900, wants, **more)
