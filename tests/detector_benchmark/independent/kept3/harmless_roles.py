"""Jobs whose ranks differ by design."""

from detector_benchmark.independent.activity import (
    CNN,
    COLLECTIVE,
    DECODE,
    FP32,
    FP64,
    HOST,
    IDLE,
    LLM,
    LORA,
    MANY,
    Activity,
    mix,
)
from detector_benchmark.independent.actors import Use, slurm
from detector_benchmark.independent.boards import A100, A6000, H100, H200, L40S, RTX_3090, RTX_4090, T4, V100
from detector_benchmark.independent.drawn import Draw
from detector_benchmark.independent.roles import program, ranks
from detector_benchmark.independent.scripts import cycle, level, script
from detector_benchmark.independent.sketches import mib_of, scene, turns
from detector_benchmark.independent.trace import Scene
from detector_benchmark.independent.workloads import train, wait_on
from msgspec.structs import replace


def _less(work: Activity, part: float) -> Activity:
    return work.but(share=work.share * part, tensor=work.tensor * part, mc=work.mc * part, dram=work.dram * part)


def rank_zero_writes_logs(seed: int) -> Scene:
    """Rank 0 of eight logs for a second in each ten steps, the others wait that second."""
    draw = Draw(seed, "k3role1")
    work = train(draw.work(LLM), step_s=2)
    does = lambda rank: cycle((20, work), (1, HOST if rank == 0 else COLLECTIVE))
    return scene(seed, [H100] * 8, ranks(range(8), does, mib_of(H100, 0.7)), 1500)


def stages_of_different_depth(seed: int) -> Scene:
    """Four stages of a pipeline have more and fewer layers: power and memory differ, from the start and for ever."""
    draw = Draw(seed, "k3role2")
    parts = [draw.between(0.62, 1.0) for _ in range(4)]
    work = draw.work(LLM)
    does = lambda rank: _less(work.but(util=98.5), parts[rank])
    memory = lambda rank: mib_of(A100, 0.4 + 0.5 * parts[rank])
    command = "python pretrain.py --pipeline-model-parallel-size 4"
    return scene(seed, [A100] * 4, ranks(range(4), does, None, memory, command=command), 1500)


def learner_and_players(seed: int) -> Scene:
    """One GPU learns at full load, three play games at 30 to 50 %, on the CPU for most of the time."""
    draw = Draw(seed, "k3role3")
    plays = mix((0.4, draw.work(FP32)), (0.6, MANY.but(cpu=300, thread=70)))
    does = lambda rank: plays if rank else draw.work(CNN)
    return scene(
        seed,
        [RTX_3090] * 4,
        ranks(range(4), does, mib_of(RTX_3090, 0.4), command="python impala.py"),
        1500,
        allows="launch~ input~",
    )


def array_of_separate_runs(seed: int) -> Scene:
    """Eight tasks of one Slurm job have nothing to do with each other; they end one after the other."""
    draw = Draw(seed, "k3role4")
    actors = [
        program(
            f"task{n}",
            f"python sweep.py --index {n}",
            n,
            draw.work(CNN).but(nv=0),
            level(9000),
            cgroup=slurm(6021),
            variables={"SLURM_JOB_ID": "6021", "SLURM_PROCID": str(n)},
            terminal=0,
            until_s=draw.between(500, 1500),
        )
        for n in range(8)
    ]
    return scene(seed, [V100] * 8, actors, 1600)


def searches_on_boards_of_two_kinds(seed: int) -> Scene:
    """Two RTX 4090 and two A6000 train separate models of one search; speeds and powers differ."""
    draw = Draw(seed, "k3role5")
    boards = [RTX_4090, RTX_4090, A6000, A6000]
    actors = [
        program(f"m{n}", f"python fit.py --fold {n}", n, draw.work(CNN).but(nv=0), level(9000 + 500 * n))
        for n in range(4)
    ]
    return scene(seed, boards, actors, 1500)


def experts_with_uneven_load(seed: int) -> Scene:
    """Eight ranks with experts: each has 90 to 100 % of the work of the busiest, in changing order."""
    draw = Draw(seed, "k3role6")
    work, wait = draw.work(LLM), COLLECTIVE
    does = lambda rank: cycle(
        (20, mix((0.96, work), (0.04, wait))), (20, mix((0.92, work), (0.08, wait))), (20, work), shift_s=7.5 * rank
    )
    return scene(seed, [H200] * 8, ranks(range(8), does, mib_of(H200, 0.8)), 1500)


def teacher_and_student(seed: int) -> Scene:
    """Of two L40S one holds a teacher that is half as busy as the student on the other."""
    draw = Draw(seed, "k3role7")
    teacher, student = draw.work(DECODE).at(0.5).but(cpu=60, thread=60), draw.work(LORA)
    does = lambda rank: student if rank else teacher
    return scene(
        seed, [L40S] * 2, ranks(range(2), does, mib_of(L40S, 0.6), launcher="spawn", command="python distill.py"), 1500
    )


def judge_that_is_asked_at_times(seed: int) -> Scene:
    """Three H100 train a policy; a fourth holds a reward model that is asked for 10 s of each minute."""
    draw = Draw(seed, "k3role8")
    work = train(draw.work(LLM), step_s=5)
    judge = cycle((10, draw.work(DECODE).but(nv=0)), (50, IDLE.but(cpu=3)))
    does = lambda rank: judge if rank == 3 else work
    return scene(seed, [H100] * 4, ranks(range(4), does, mib_of(H100, 0.6), command="python grpo.py"), 1600)


def one_process_on_four_boards(seed: int) -> Scene:
    """One process with DataParallel uses four T4; the first gathers, and works and holds more."""
    draw = Draw(seed, "k3role9")
    work = draw.work(CNN).but(nv=0)
    uses = tuple(
        Use(n, script(work.but(util=92) if n == 0 else work.at(0.8)), mib_of(T4, 0.7 if n == 0 else 0.45))
        for n in range(4)
    )
    actor = replace(program("dp", "python train_dp.py", 0, work, level(1)), uses=uses)
    return scene(seed, [T4] * 4, [actor], 1500)


def solver_with_uneven_blocks(seed: int) -> Scene:
    """A solver has cut its grid unevenly: its six ranks work 93 to 100 % of each step, always the same."""
    draw = Draw(seed, "k3role10")
    parts = [1.0, *(draw.between(0.93, 0.99) for _ in range(5))]
    work = draw.work(FP64)
    does = lambda rank: mix((parts[rank], work), (1 - parts[rank], wait_on(A100)))
    actors = ranks(range(6), does, mib_of(A100, 0.5), launcher="mpirun", command="./fvcom")
    return scene(seed, [A100] * 6, actors, 1500)


def second_job_starts_beside_the_first(seed: int) -> Scene:
    """Two jobs follow on a node: on GPU 0 and 1 one trains, a second starts on GPU 2 and 3 half-way."""
    draw = Draw(seed, "k3role11")
    at_s, work = draw.between(500, 700), train(draw.work(LORA), step_s=3)
    first = ranks((0, 1), lambda rank: work, mib_of(A6000, 0.6))
    fresh = turns(HOST, at_s + 40, work)
    second = ranks((2, 3), lambda rank: fresh, mib_of(A6000, 0.6), name="next", from_s=at_s, age_s=0.0, user="bob")
    return scene(seed, [A6000] * 4, [*first, *second], 1500)
