"""Waits that end by themselves: checkpoints, evaluations, barriers, rollouts, uneven but routine work."""

from detector_benchmark.independent.activity import (
    CNN,
    COLLECTIVE,
    DECODE,
    DISK,
    FP64,
    HOST,
    IDLE,
    LLM,
    LORA,
    MANY,
    mix,
)
from detector_benchmark.independent.actors import Actor
from detector_benchmark.independent.boards import A100, A6000, B200, H100, H200, L40S, RTX_3090, RTX_4090, T4, V100
from detector_benchmark.independent.disturbances import often_gaps
from detector_benchmark.independent.drawn import Draw
from detector_benchmark.independent.roles import program, ranks, with_loaders
from detector_benchmark.independent.scripts import cycle, script
from detector_benchmark.independent.sketches import mib_of, scene, turns, well_fed
from detector_benchmark.independent.trace import Scene
from detector_benchmark.independent.workloads import saves, since, train, validates, wait_on, with_pauses
from msgspec.structs import replace


def rank_zero_evaluates_alone(seed: int) -> Scene:
    """Rank 0 of eight evaluates for two to three minutes in each quarter of an hour; seven poll for it."""
    draw = Draw(seed, "k3wait1")
    work = train(draw.work(LLM), step_s=4)
    for_s = draw.between(120, 180)
    alone = draw.work(DECODE).but(nv=0)
    does = lambda rank: with_pauses(work, COLLECTIVE if rank else alone, every_s=900, for_s=for_s)
    return scene(seed, [H100] * 8, ranks(range(8), does, mib_of(H100, 0.7)), 2800, allows="hang~")


def checkpoints_of_a_minute(seed: int) -> Scene:
    """Rank 0 writes a checkpoint for a minute in each ten; three A100 wait in a barrier."""
    draw = Draw(seed, "k3wait2")
    does = saves(train(draw.work(LLM), step_s=6), every_s=600, for_s=draw.between(45, 75))
    return scene(seed, [A100] * 4, ranks(range(4), does, mib_of(A100, 0.8), launcher="srun"), 2500, allows="hang~")


def checkpoint_that_follows_every_step(seed: int) -> Scene:
    """A test writes a checkpoint after every step: seven of eight H100 poll for three of four seconds of the whole job."""
    draw = Draw(seed, "k3wait3")
    step_s, save_s = draw.between(4, 7), draw.between(15, 24)
    work = draw.work(LLM)
    does = lambda rank: cycle((step_s, work), (save_s, DISK.but(cpu=90) if rank == 0 else COLLECTIVE))
    return scene(seed, [H100] * 8, ranks(range(8), does, mib_of(H100, 0.6)), 1500, allows="hang~ straggler~")


def tokenising_before_the_first_step(seed: int) -> Scene:
    """Rank 0 tokenises a corpus with all cores for six minutes at the start, the others wait in a barrier; then all train."""
    draw = Draw(seed, "k3wait4")
    at_s = draw.between(300, 400)
    work = train(draw.work(LORA), step_s=3)
    does = lambda rank: turns(MANY if rank == 0 else wait_on(L40S), at_s, work)
    actors = ranks(range(4), does, mib_of(L40S, 0.4), age_s=30.0)
    return scene(seed, [L40S] * 4, actors, 1500, allows="hang~ spin~")


def epochs_begin_with_new_loaders(seed: int) -> Scene:
    """Each epoch of five minutes begins with 25 s in which new loaders are started and the GPUs rest."""
    draw = Draw(seed, "k3wait5")
    work = train(draw.work(CNN), step_s=0.5)
    does = lambda rank: with_pauses(work, IDLE.but(cpu=40), every_s=300, for_s=25)
    actors = with_loaders(ranks(range(2), does, mib_of(RTX_3090, 0.7), launcher="spawn"), 4, well_fed(draw))
    return scene(seed, [RTX_3090] * 2, actors, 2100)


def bubbles_of_a_pipeline(seed: int) -> Scene:
    """Four stages of a pipeline work in turn and wait for 3 s of each 9 s, at different times."""
    draw = Draw(seed, "k3wait6")
    work = draw.work(LLM)
    does = lambda rank: cycle((6, work), (3, COLLECTIVE), shift_s=1.5 * rank)
    command = "python pretrain.py --pipeline-model-parallel-size 4"
    return scene(seed, [A100] * 4, ranks(range(4), does, mib_of(A100, 0.7), command=command), 1800)


def another_node_is_slow_at_times(seed: int) -> Scene:
    """All local ranks wait for another node for 60 to 80 s, once in twelve minutes; then the job goes on."""
    draw = Draw(seed, "k3wait7")
    work = train(draw.work(LLM), step_s=8)
    for_s = draw.between(60, 80)
    does = lambda rank: with_pauses(work, COLLECTIVE, every_s=720, for_s=for_s)
    return scene(seed, [H200] * 8, ranks(range(8), does, mib_of(H200, 0.7), launcher="srun"), 2400)


def rollouts_and_updates_in_turn(seed: int) -> Scene:
    """Of four H100 two generate for 90 s while two trainers poll; then two train for 60 s while the generators rest."""
    draw = Draw(seed, "k3wait8")
    learns, plays = draw.work(LLM), draw.work(DECODE)
    learner = cycle((90, COLLECTIVE), (60, learns))
    player = cycle((90, plays), (60, IDLE.but(cpu=12)))
    does = lambda rank: learner if rank < 2 else player
    actors = ranks(range(4), does, mib_of(H100, 0.8), command="python -m verl.trainer.main_ppo")
    return scene(seed, [H100] * 4, actors, 2100, allows="hang~ straggler~")


def all_ranks_validate(seed: int) -> Scene:
    """All eight V100 validate for a minute in each six, with smaller batches and no gradients."""
    draw = Draw(seed, "k3wait9")
    work = draw.work(CNN)
    does = lambda rank: with_pauses(train(work, step_s=1), validates(work), every_s=360, for_s=60)
    return scene(seed, [V100] * 8, ranks(range(8), does, mib_of(V100, 0.7), launcher="mpirun"), 1800)


def trials_of_a_search(seed: int) -> Scene:
    """A search trains one trial after the other in one process; for 40 s between them it builds the next on the CPU."""
    draw = Draw(seed, "k3wait10")
    does = cycle((200, draw.work(CNN).but(nv=0)), (40, HOST))
    actor = program("search", "python search.py --trials 60", 0, does, mib_of(RTX_4090, 0.3))
    return scene(seed, [RTX_4090], [actor], 2000)


def output_of_a_solver(seed: int) -> Scene:
    """A solver on six A100 writes its fields for 50 s after each four minutes: all ranks are in D at times, none computes."""
    draw = Draw(seed, "k3wait11")
    writes = cycle((4, DISK), (3, HOST))
    does = lambda rank: with_pauses(script(draw.work(FP64)), writes, every_s=240, for_s=50)
    actors = ranks(range(6), does, mib_of(A100, 0.5), launcher="mpirun", command="./icon")
    return scene(seed, [A100] * 6, actors, 2000)


def routine_wait_seen_with_gaps(seed: int) -> Scene:
    """Rank 0 of eight B200 saves for 80 s in each eight minutes; gputop loses seconds at random."""
    draw = Draw(seed, "k3wait12")
    does = saves(train(draw.work(LLM), step_s=5), every_s=480, for_s=80)
    gaps = often_gaps(draw.seed(), each_s=70, from_s=2, to_s=9)
    return scene(seed, [B200] * 8, ranks(range(8), does, mib_of(B200, 0.6)), 2400, allows="hang~", disturb=[gaps])


def scoring_on_the_cpu_between_generations(seed: int) -> Scene:
    """A script generates for two minutes, then scores the texts on many cores for a minute and a half, again and again."""
    draw = Draw(seed, "k3wait13")
    does = cycle((120, draw.work(DECODE)), (85, MANY))
    actor = program("bench", "python lm_eval --model hf", 0, does, mib_of(A6000, 0.7))
    return scene(seed, [A6000], [actor], 1900, allows="spin~")


def upload_after_a_training(seed: int) -> Scene:
    """A training ends, uploads its model for three minutes with little CPU, and exits."""
    draw = Draw(seed, "k3wait14")
    at_s = draw.between(600, 900)
    does = turns(draw.work(LORA).but(nv=0), at_s, IDLE.but(cpu=14))
    actor = program("job", "python sft.py --push-to-hub", 0, does, mib_of(L40S, 0.8), until_s=at_s + 180)
    return scene(seed, [L40S], [actor], at_s + 400)


def job_that_starts_over_after_a_crash(seed: int) -> Scene:
    """Two ranks crash, torchrun starts two new ones within a minute, which load and train on."""
    draw = Draw(seed, "k3wait15")
    at_s, work = draw.between(400, 600), train(draw.work(CNN), step_s=1)
    first = [
        actor if actor.name == "rank.job" else _renamed(actor, until_s=at_s)
        for actor in ranks(range(2), lambda rank: work, mib_of(T4, 0.6))
    ]
    fresh = since(at_s + 20, turns(HOST, 50, work))
    second = [
        _renamed(actor, from_s=at_s + 20, name=f"again{actor.name[-1]}")
        for actor in ranks(range(2), lambda rank: fresh, mib_of(T4, 0.6))
        if actor.uses
    ]
    return scene(seed, [T4] * 2, [*first, *second], 1700)


def _renamed(actor: Actor, **changes: object) -> Actor:
    return replace(actor, **changes)


def ranks_that_are_nearly_even(seed: int) -> Scene:
    """Batches of uneven length: each of four ranks waits for a tenth of the time, in turn, never the same."""
    draw = Draw(seed, "k3wait16")
    work = draw.work(LLM)
    blend = mix((0.88, work), (0.12, wait_on(A100)))
    does = lambda rank: cycle((30, blend), (10, work), shift_s=10.0 * rank)
    return scene(seed, [A100] * 4, ranks(range(4), does, mib_of(A100, 0.7)), 1500)
