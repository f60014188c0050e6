"""Memory and processes that were left behind: without a parent, without a process, or by the dead."""

from collections.abc import Sequence
from typing import Any

from detector_benchmark.independent.activity import CNN, COLLECTIVE, DECODE, FP32, LLM, LORA
from detector_benchmark.independent.actors import Actor, Use
from detector_benchmark.independent.boards import (
    A100,
    A6000,
    B200,
    H100,
    H200,
    L40S,
    RTX_3090,
    RTX_4090,
    T4,
    TITAN_X,
    V100,
)
from detector_benchmark.independent.drawn import Draw
from detector_benchmark.independent.roles import but, program, ranks, shell
from detector_benchmark.independent.scripts import level, script
from detector_benchmark.independent.sketches import ghost, jammed, mib_of, scene, turns
from detector_benchmark.independent.trace import Scene, want
from detector_benchmark.independent.workloads import ASLEEP, train, wait_on
from msgspec.structs import replace

from gputop.core.model.sample import Presence, Sample


def _without_ghosts(sample: Sample) -> Sample:
    """Take the stand-ins of unowned memory out of the sample: no driver and no /proc has them."""
    return replace(sample, relatives=tuple(one for one in sample.relatives if one.presence is Presence.ALIVE))


def _ghostly(seed: int, boards: Sequence[Any], actors: Sequence[Actor], at_s: float, name: str) -> Scene:
    wants = want("orphan", name, at_s, at_s + 420)
    return scene(seed, boards, actors, at_s + 600, wants, disturb=[_without_ghosts])


def launcher_was_killed_and_ranks_poll(seed: int) -> Scene:
    """torchrun was killed with -9; one rank went with it, three spin in a collective on their A100, without a parent."""
    draw = Draw(seed, "k3orphan1")
    at_s = draw.between(300, 600)
    does = lambda rank: turns(train(draw.work(LLM), step_s=4), at_s, COLLECTIVE)
    actors = but(but(ranks(range(4), does, level(50000)), "rank.job", until_s=at_s), "rank1", until_s=at_s)
    wants = want("orphan", "rank0 rank2 rank3 rank.job gpu:0 gpu:2 gpu:3", at_s, at_s + 600)
    return scene(seed, [A100] * 4, actors, at_s + 900, wants, allows="hang stalled orphan")


def ranks_asleep_after_their_launcher(seed: int) -> Scene:
    """mpirun crashed; seven of eight ranks sleep for ever with their memory, parent 1."""
    draw = Draw(seed, "k3orphan2")
    at_s = draw.between(300, 600)
    does = lambda rank: turns(draw.work(FP32), at_s, ASLEEP)
    actors = ranks(range(8), does, level(9000), launcher="mpirun", command="./solve in.nml")
    actors = but(but(actors, "rank.job", until_s=at_s), "rank4", until_s=at_s)
    names = " ".join(f"rank{n} gpu:{n}" for n in range(8) if n != 4)
    wants = want("orphan", f"rank.job {names}", at_s, at_s + 600)
    return scene(seed, [V100] * 8, actors, at_s + 900, wants, allows="stalled hang idle~ orphan")


def engine_outlived_its_server(seed: int) -> Scene:
    """The API server of vLLM was killed; its engine process stays with 90 % of an H100 and does nothing."""
    draw = Draw(seed, "k3orphan3")
    at_s = draw.between(300, 500)
    lead = shell("api", "python -m vllm.entrypoints.openai.api_server --model m --port 8000", until_s=at_s)
    use = Use(0, script(turns(draw.work(DECODE).at(0.6), at_s, jammed(0.5))), mib_of(H100, 0.9))
    engine = Actor(name="engine", command="VLLM::EngineCore", parent="api", uses=(use,))
    wants = want("orphan", "engine gpu:0 api", at_s, at_s + 600)
    return scene(seed, [H100], [lead, engine], at_s + 900, wants, allows="stalled idle orphan")


def zombie_with_memory(seed: int) -> Scene:
    """A killed training is a zombie that its parent does not collect, and the driver still charges it with 14 GiB."""
    draw = Draw(seed, "k3orphan4")
    at_s = draw.between(200, 400)
    parent = shell("sup", "python supervisor.py")
    actor = program("job", "python train.py", 0, draw.work(CNN).but(nv=0), level(14000), parent="sup", zombie_s=at_s)
    wants = want("orphan", "job gpu:0 sup", at_s, at_s + 300)
    return scene(seed, [RTX_4090], [parent, actor], at_s + 600, wants, allows="orphan idle~")


def process_is_gone_and_still_listed(seed: int) -> Scene:
    """A container was removed by force; the driver lists a process that /proc no longer has, for ten minutes."""
    draw = Draw(seed, "k3orphan5")
    at_s = draw.between(200, 400)
    actor = program("job", "python serve.py", 0, draw.work(DECODE).at(0.4), level(21000), gone_s=at_s)
    return scene(
        seed, [L40S], [actor], at_s + 600, want("orphan", "job gpu:0", at_s, at_s + 300), allows="orphan idle~"
    )


def memory_without_a_process(seed: int) -> Scene:
    """A training crashed on an A6000: its process is gone from every list, 31 GiB of the board are not."""
    draw = Draw(seed, "k3orphan6")
    at_s = draw.between(200, 400)
    actor = program("job", "python train.py", 0, draw.work(LORA), level(31500), until_s=at_s)
    return _ghostly(seed, [A6000], [actor, ghost(0, 31000, at_s)], at_s, "gpu:0")


def memory_without_a_process_beside_a_job(seed: int) -> Scene:
    """On one of two TITAN X 5 GiB belong to no process since a crash; another user works beside them."""
    draw = Draw(seed, "k3orphan7")
    at_s = draw.between(200, 300)
    crashed = program("crashed", "python old.py", 1, draw.work(FP32).at(0.5), level(5200), until_s=at_s)
    works = program("works", "python new.py", 1, draw.work(CNN).at(0.7), level(4100), user="bob")
    return _ghostly(seed, [TITAN_X] * 2, [crashed, works, ghost(1, 5000, at_s)], at_s, "gpu:1")


def ranks_left_over_when_the_program_ended(seed: int) -> Scene:
    """The main program ended by an error and did not join its ranks: GPU 1 to 3 stay full, their processes sleep."""
    draw = Draw(seed, "k3orphan8")
    at_s = draw.between(300, 500)
    work = draw.work(LLM)
    lead = program("main", "python train.py", 0, work, level(70000), until_s=at_s)
    rest = [
        program(f"left{n}", "python train.py", n, turns(work, at_s, ASLEEP), level(70000), parent="main")
        for n in (1, 2, 3)
    ]
    wants = want("orphan", "left1 left2 left3 gpu:1 gpu:2 gpu:3 main", at_s, at_s + 600)
    return scene(seed, [H200] * 4, [lead, *rest], at_s + 900, wants, allows="stalled hang idle~ orphan")


def worker_on_the_gpu_without_its_main_process(seed: int) -> Scene:
    """A worker that used the GPU for its images survived its training, which was killed: it holds 1.5 GiB for ever."""
    draw = Draw(seed, "k3orphan9")
    at_s = draw.between(200, 400)
    lead = program("main", "python train.py", 0, draw.work(CNN).at(0.7), level(9000), until_s=at_s)
    worker = program(
        "worker", "python train.py", 0, turns(draw.work(FP32).at(0.1), at_s, jammed(1)), level(1500), parent="main"
    )
    wants = want("orphan", "worker gpu:0 main", at_s, at_s + 600)
    return scene(seed, [RTX_3090], [lead, worker], at_s + 900, wants, allows="stalled idle~ orphan")


def zombies_of_four_ranks(seed: int) -> Scene:
    """Four ranks on B200 were killed and are zombies of a launcher that hangs itself; each GPU still has their memory."""
    draw = Draw(seed, "k3orphan10")
    at_s = draw.between(250, 450)
    actors = ranks(range(4), lambda rank: train(draw.work(LLM), step_s=6), level(120000))
    for n in range(4):
        actors = but(actors, f"rank{n}", zombie_s=at_s)
    wants = want("orphan", "rank.job " + " ".join(f"rank{n} gpu:{n}" for n in range(4)), at_s, at_s + 300)
    return scene(seed, [B200] * 4, actors, at_s + 600, wants, allows="orphan stalled hang idle~")


def small_board_that_a_crash_left_half_full(seed: int) -> Scene:
    """An inference on a T4 crashed in its driver call; 6 GiB stay without a process, the board is cold."""
    draw = Draw(seed, "k3orphan11")
    at_s = draw.between(150, 300)
    actor = program("job", "python infer.py", 0, draw.work(DECODE, level=0.6), level(6100), until_s=at_s)
    return _ghostly(seed, [T4], [actor, ghost(0, 6000, at_s)], at_s, "gpu:0")


def polling_rank_that_is_alone(seed: int) -> Scene:
    """The spawning program and one rank died; the other rank polls alone at 100 % on an RTX 4090, parent 1."""
    draw = Draw(seed, "k3orphan12")
    at_s = draw.between(300, 500)
    does = lambda rank: turns(train(draw.work(LORA), step_s=2), at_s, wait_on(RTX_4090))
    actors = ranks(range(2), does, level(18000), launcher="spawn")
    actors = but(but(actors, "rank.job", until_s=at_s), "rank0", until_s=at_s)
    wants = want("orphan", "rank1 gpu:1 rank.job", at_s, at_s + 600)
    return scene(seed, [RTX_4090] * 2, actors, at_s + 900, wants, allows="hang stalled kernel orphan")
