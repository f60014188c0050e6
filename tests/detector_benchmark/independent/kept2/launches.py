"""Programs whose GPU waits for the CPU to launch kernels, and kernels that are too small to fill the board."""

from detector_benchmark.independent.activity import GRAPHS, HOST, LLM, SMALL, Activity
from detector_benchmark.independent.boards import (
    A100,
    A6000,
    B200,
    GTX_1080_TI,
    H100,
    H200,
    L4,
    L40S,
    RTX_4090,
    T4,
    V100,
    Board,
)
from detector_benchmark.independent.disturbances import no_process_values
from detector_benchmark.independent.drawn import Draw
from detector_benchmark.independent.roles import program, ranks
from detector_benchmark.independent.scripts import Part, level, phases
from detector_benchmark.independent.trace import Scene, allow, want
from detector_benchmark.independent.workloads import everyone, saves, with_pauses
from detector_benchmark.independent.world import World


def _eager(draw: Draw, util: float, **changes: float) -> Activity:
    """Return small kernels of an eager program, of which the CPU thread that launches them is the limit."""
    scale = util / SMALL.util
    work = draw.work(SMALL).but(util=util, share=SMALL.share * scale * draw.between(0.8, 1.4), sm=SMALL.sm * scale)
    return work.but(cpu=draw.between(99, 103), thread=100.0, **changes)


def _launching(
    draw: Draw, seed: int, board: Board, command: str, does: Part, *, from_s: float = 0, kinds: str = "launch"
) -> Scene:
    main = program("main", command, 0, does, level(draw.mib(board, 0.05, 0.3)))
    return Scene(
        world=World([board], [main], seed=seed),
        until_s=from_s + 1100,
        wants=[want(kinds, "main gpu:0", from_s, from_s + 900)],
        allows=allow("tiny~"),
    )


def small_network_in_eager_mode(seed: int) -> Scene:
    """A network of tiny layers on an H100 in eager mode: the main thread at 100 %, the board at 55 % and 130 W."""
    draw = Draw(seed, "launch1")
    return _launching(draw, seed, H100, "python train_mlp.py", _eager(draw, draw.between(50, 65)))


def graph_network_on_an_a100(seed: int) -> Scene:
    """A graph network with thousands of scatter kernels per step on an A100, saved to disk every 4 minutes."""
    draw = Draw(seed, "launch2")
    does = with_pauses(phases(_eager(draw, draw.between(55, 75))), HOST, every_s=240, for_s=8)
    return _launching(draw, seed, A100, "python gnn.py", does)


def policy_that_plays_one_game(seed: int) -> Scene:
    """An RL agent steps one environment at a time: little kernels, and one core that is never free."""
    draw = Draw(seed, "launch3")
    work = _eager(draw, draw.between(45, 58), rx=18.0, tx=16.0)
    return _launching(draw, seed, V100, "python ppo.py --envs 1", work)


def decoding_token_by_token_without_graphs(seed: int) -> Scene:
    """A script generates with batch 1 and without CUDA graphs from a model of 0.5 B on an RTX 4090."""
    draw = Draw(seed, "launch4")
    work = _eager(draw, draw.between(50, 70), mc=13.0, dram=11.0)
    return _launching(draw, seed, RTX_4090, "python chat.py --model 0.5b", work)


def recurrent_network_in_a_python_loop(seed: int) -> Scene:
    """A recurrent network in a Python loop over time steps, on a GTX 1080 Ti without utilization per process."""
    draw = Draw(seed, "launch5")
    return _launching(draw, seed, GTX_1080_TI, "python rnn.py", _eager(draw, draw.between(55, 70)))


def debug_flag_slows_the_launches(seed: int) -> Scene:
    """From some time on the anomaly detection of the framework is on: the board falls from 99 % to 55 %."""
    draw = Draw(seed, "launch6")
    at_s = draw.between(300, 600)
    does = phases(draw.work(LLM).but(nv=0), (at_s, _eager(draw, 55)))
    return _launching(draw, seed, H200, "python train.py --debug", does, from_s=at_s)


def four_ranks_launch_slowly(seed: int) -> Scene:
    """Four ranks with a model of many little layers: each main thread at its limit, each board at 55 to 65 %."""
    draw = Draw(seed, "launch7")
    work = _eager(draw, draw.between(55, 65), nv=900.0)
    actors = ranks(range(4), saves(phases(work), every_s=400, for_s=6), level(5200))
    return Scene(
        world=World([A6000] * 4, actors, seed=seed),
        until_s=1200,
        wants=[want("launch", everyone(4), 0, 1000)],
        allows=allow("launch tiny~"),
    )


def optimizer_without_fusion(seed: int) -> Scene:
    """An optimizer that updates 900 tensors one by one on a B200 that is too fast for it."""
    draw = Draw(seed, "launch8")
    return _launching(draw, seed, B200, "python sweep.py", _eager(draw, draw.between(48, 60)))


def physics_in_many_small_kernels(seed: int) -> Scene:
    """A differentiable simulation of springs on an L40S: ten kernels of 4 us per millisecond of Python."""
    draw = Draw(seed, "launch9")
    return _launching(draw, seed, L40S, "python springs.py", _eager(draw, draw.between(46, 60)))


def launch_bound_with_missing_values(seed: int) -> Scene:
    """Small kernels on a T4; the driver has no utilization of the process in one of twenty samples."""
    draw = Draw(seed, "launch10")
    scene = _launching(draw, seed, T4, "python tiny.py", _eager(draw, draw.between(52, 66)))
    return Scene(
        world=scene.world,
        until_s=scene.until_s,
        wants=scene.wants,
        allows=scene.allows,
        disturbances=[no_process_values(draw.seed(), 0.05)],
    )


def tokenizer_thread_shares_the_lock(seed: int) -> Scene:
    """A server script decodes while a tokenizer thread holds Python's lock: the board is at 60 % with small batches."""
    draw = Draw(seed, "launch11")
    work = _eager(draw, 60, mc=15.0, dram=14.0)
    return _launching(draw, seed, L4, "python rerank.py", work)


def graphs_of_tiny_kernels(seed: int) -> Scene:
    """CUDA graphs of tiny kernels keep an H100 at 99 % in time with 7 % of its multiprocessors and 170 W."""
    draw = Draw(seed, "tiny1")
    return _launching(draw, seed, H100, "python sim_graphs.py", draw.work(GRAPHS), kinds="tiny launch")


def one_block_on_a_big_board(seed: int) -> Scene:
    """A kernel of one block computes all the time on an A100: 100 % in time, 2 % of the board, little power."""
    draw = Draw(seed, "tiny2")
    work = GRAPHS.but(sm=1.2, occupancy=0.6, share=draw.between(0.05, 0.08), dram=0.9, mc=1, util=100)
    return _launching(draw, seed, A100, "./sequential_mc", work, kinds="tiny launch kernel")


def batch_of_one_on_an_h200(seed: int) -> Scene:
    """A search evaluates single positions in graphs on an H200: busy in time, at a tenth of the power."""
    draw = Draw(seed, "tiny3")
    work = draw.work(GRAPHS).but(share=draw.between(0.06, 0.09), mc=3)
    return _launching(draw, seed, H200, "python mcts.py", work, kinds="tiny launch")


def polling_program_without_a_job(seed: int) -> Scene:
    """A persistent kernel of a network test polls a mailbox on an L40S, and counts packets now and then."""
    draw = Draw(seed, "tiny4")
    work = GRAPHS.but(share=draw.between(0.03, 0.05), sm=2, occupancy=1, mc=1, rx=35, tx=22, util=100)
    return _launching(draw, seed, L40S, "./gpunetio_forward", work, kinds="tiny kernel launch")
