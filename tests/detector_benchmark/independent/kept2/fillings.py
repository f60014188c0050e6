"""Memory that fills a board within minutes, long after the program's warm-up."""

from detector_benchmark.independent.activity import CNN, DECODE, DIFFUSION, LLM, LORA, PREFILL, QUERY, Activity
from detector_benchmark.independent.boards import A100_40, A100_MIG, B200, H100, LAPTOP_4070, RTX_4090, V100, Board
from detector_benchmark.independent.drawn import Draw
from detector_benchmark.independent.roles import program, ranks
from detector_benchmark.independent.scripts import Curve, growing, level, sawtooth
from detector_benchmark.independent.trace import Scene, allow, want
from detector_benchmark.independent.workloads import everyone, train
from detector_benchmark.independent.world import World

_ALSO = "filling leak"


def _until_full(draw: Draw, room_mib: float, low: float, minutes: tuple[float, float]) -> tuple[Curve, float, float]:
    """Return the memory, and the times between which it fills."""
    from_s, needs_s = draw.between(500, 900), 60 * draw.between(*minutes)
    rate = (room_mib - low) / (needs_s / 60)
    curve = growing(level(low), mib_per_min=rate, from_s=from_s, chunk_mib=8, until_s=from_s + needs_s)
    return curve, from_s, needs_s


def _room(board: Board) -> float:
    return board.memory_mib - board.reserved_mib - 200.0


def _alone(seed: int, name: str, board: Board, work: Activity, share: float, minutes: tuple[float, float]) -> Scene:
    draw = Draw(seed, name)
    memory, from_s, needs_s = _until_full(draw, _room(board), share * _room(board) // 2 * 2, minutes)
    main = program("main", "python pipeline.py", 0, draw.work(work), memory, terminal=0)
    return Scene(
        world=World([board], [main], seed=seed),
        until_s=from_s + needs_s,
        wants=[want("filling leak", "main gpu:0", from_s, from_s + 0.9 * needs_s)],
        allows=allow(_ALSO),
    )


def context_grows_without_a_limit(seed: int) -> Scene:
    """An agent's context grows without a limit: an H100 has 30 GB left, then none after 20 min."""
    return _alone(seed, "fill5", H100, DECODE, 0.6, (16, 24))


def join_explodes_on_a_small_board(seed: int) -> Scene:
    """The join of two tables has far more rows than expected: a V100 of 16 GB is full after 8 to 12 min."""
    return _alone(seed, "fill6", V100, QUERY, 0.3, (8, 12))


def upscaler_keeps_all_frames(seed: int) -> Scene:
    """An upscaler of videos keeps all frames of a long film on the board of a laptop."""
    return _alone(seed, "fill7", LAPTOP_4070, DIFFUSION, 0.45, (10, 16))


def index_of_vectors_outgrows_its_board(seed: int) -> Scene:
    """An index of vectors on an RTX 4090 takes a stream of documents that is larger than its board."""
    return _alone(seed, "fill8", RTX_4090, PREFILL, 0.35, (18, 25))


def ranks_fill_their_boards_together(seed: int) -> Scene:
    """Each of four ranks collects the outputs of a validation on its B200: all are full within a quarter of an hour."""
    draw = Draw(seed, "fill9")
    memory, from_s, needs_s = _until_full(draw, _room(B200), 70_000, (12, 16))
    work = train(draw.work(LLM), step_s=2)
    return Scene(
        world=World([B200] * 4, ranks(range(4), lambda rank: work, memory), seed=seed),
        until_s=from_s + needs_s,
        wants=[want("filling leak", everyone(4), from_s, from_s + 0.9 * needs_s)],
        allows=allow(_ALSO),
    )


def swinging_batches_on_a_filling_board(seed: int) -> Scene:
    """Batches swing by 1 GiB while the results below them fill an A100 of 40 GB within 20 min."""
    draw = Draw(seed, "fill10")
    low, from_s, needs_s = _until_full(draw, _room(A100_40) - 1100, 15000, (16, 22))
    main = program("main", "python embed_all.py", 0, draw.work(LORA), sawtooth(low, mib=1000, period_s=45))
    return Scene(
        world=World([A100_40], [main], seed=seed),
        until_s=from_s + needs_s,
        wants=[want("filling leak", "main gpu:0", from_s, from_s + 0.9 * needs_s)],
        allows=allow(_ALSO),
    )


def job_fills_its_slice(seed: int) -> Scene:
    """A job fills its MIG slice of 20 GB within 15 min; the board as a whole has much room."""
    draw = Draw(seed, "fill11")
    memory, from_s, needs_s = _until_full(draw, 19800, 5000, (12, 16))
    main = program("main", "python train.py", 0, draw.work(CNN), memory, instance=2)
    return Scene(
        world=World([A100_MIG], [main], seed=seed),
        until_s=from_s + needs_s,
        wants=[want("filling leak", "main gpu:0", from_s, from_s + 0.9 * needs_s)],
        allows=allow(_ALSO),
    )
