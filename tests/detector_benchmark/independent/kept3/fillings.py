"""Boards that will be full within minutes, by work that goes on."""

from detector_benchmark.independent.activity import CNN, DECODE, DIFFUSION, FP32, LLM, Activity
from detector_benchmark.independent.boards import A100, H100, L40S, RTX_4090, T4, V100, Board
from detector_benchmark.independent.drawn import Draw
from detector_benchmark.independent.roles import program, ranks
from detector_benchmark.independent.scripts import growing, level
from detector_benchmark.independent.sketches import scene
from detector_benchmark.independent.trace import Scene, want


def _fills(seed: int, name: str, board: Board, work: Activity, *, command: str, minutes: float, flat_s: float) -> Scene:
    """Fill the last half of a board steadily, until it is nearly full. It must be shown 2 min before that."""
    draw = Draw(seed, name)
    room = board.memory_mib - board.reserved_mib
    full_s = flat_s + 60 * minutes * draw.between(0.9, 1.15)
    rate = 0.47 * room / ((full_s - flat_s) / 60)
    memory = growing(level(room // 2), mib_per_min=rate, from_s=flat_s, until_s=full_s)
    actor = program("fills", command, 0, draw.work(work), memory)
    wants = want("filling leak", "fills gpu:0", flat_s, full_s - 120)
    return scene(seed, [board], [actor], full_s - 5, wants, allows="filling leak")


def batch_grows_until_the_board_is_full(seed: int) -> Scene:
    """A benchmark raises its batch with each round, evenly, and fills half of a T4 within 15 min."""
    return _fills(seed, "k3fill1", T4, CNN.but(nv=0), command="python bench_batch.py", minutes=15, flat_s=400)


def cache_without_a_limit_fills_an_h100(seed: int) -> Scene:
    """A home-made server never drops the KV cache of a session: 38 GiB more in 20 min."""
    return _fills(seed, "k3fill2", H100, DECODE, command="python my_server.py", minutes=20, flat_s=300)


def replay_buffer_on_a_small_board(seed: int) -> Scene:
    """A replay buffer of two million frames is to lie on an RTX 4090 that has no room for it: full in 18 min."""
    return _fills(seed, "k3fill3", RTX_4090, CNN.but(nv=0), command="python dqn.py", minutes=18, flat_s=350)


def gallery_of_latents_is_kept(seed: int) -> Scene:
    """A diffusion script keeps the latents of each step for a film: an L40S is full in 25 min."""
    return _fills(seed, "k3fill4", L40S, DIFFUSION, command="python film.py --frames 900", minutes=25, flat_s=300)


def matrix_is_assembled_in_pieces(seed: int) -> Scene:
    """A kernel method adds rows to its matrix for ever, while it multiplies: a V100 is full in 16 min."""
    return _fills(seed, "k3fill5", V100, FP32, command="python gram.py --rows all", minutes=16, flat_s=300)


def two_ranks_that_will_run_out_together(seed: int) -> Scene:
    """Two ranks with ever longer sequences need 1 GiB more each minute, and have room for 22 min."""
    draw = Draw(seed, "k3fill6")
    work = draw.work(LLM)
    memory = growing(level(56000), mib_per_min=1050, from_s=300, until_s=1620)
    wants = want("filling leak", "rank0 rank1 rank.job gpu:0 gpu:1", 300, 1500)
    return scene(seed, [A100] * 2, ranks(range(2), lambda rank: work, memory), 1615, wants, allows="filling leak")
