"""Jobs whose ranks wait for ever in a collective."""

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from detector_benchmark.independent.activity import CNN, DECODE, LLM, LORA, Activity
from detector_benchmark.independent.boards import A100, A6000, B200, H100, L4, L40S, RTX_3090, RTX_4090, V100, Board
from detector_benchmark.independent.disturbances import (
    Disturbance,
    bad_gpu_zeros,
    bad_process_zeros,
    faults,
    late_power,
    no_process_values,
    often_gaps,
    raw_255,
)
from detector_benchmark.independent.drawn import Draw
from detector_benchmark.independent.roles import but, ranks
from detector_benchmark.independent.scripts import Part, phases
from detector_benchmark.independent.sketches import jammed, mib_of, scene, turns
from detector_benchmark.independent.textures import waits, waits_apart
from detector_benchmark.independent.trace import Scene, want
from detector_benchmark.independent.workloads import everyone, loads, train

_OK = "stalled idle~ spin blocked"  # what else is true of such a job


def _hangs(
    seed: int,
    name: str,
    boards: Sequence[Board],
    *,
    work: Activity = LLM,
    odd: Mapping[int, Callable[[Draw], Activity]] = MappingProxyType({}),
    at: tuple[float, float] = (260, 520),
    start: Callable[[Draw, Part], Part] | None = None,
    disturb: Callable[[Draw], Sequence[Disturbance]] = lambda draw: (),
    interval_s: float = 1.0,
    exits: str = "",
    **more: Any,
) -> Scene:
    """Let a job work until some time, then wait for ever; some ranks do something else. At 0: it has hung before."""
    draw = Draw(seed, name)
    at_s = draw.between(*at)
    steps = train(draw.work(work), step_s=draw.about(2.2, 1.6), talk=draw.between(0.04, 0.14))

    def does(rank: int) -> Part:
        rest = odd[rank](draw) if rank in odd else waits(draw, boards[rank])
        if at_s == 0:
            return rest
        if start:
            return start(draw, rest)
        return turns(steps, at_s, rest)

    actors = ranks(range(len(boards)), does, mib_of(boards[0], draw.between(0.4, 0.9)), **more)
    if exits:
        actors = but(actors, exits, until_s=at_s)
    wants = want("hang", everyone(len(boards)), at_s, at_s + 840)
    return scene(seed, boards, actors, at_s + 900, wants, allows=_OK, disturb=disturb(draw), interval_s=interval_s)


def _asleep(draw: Draw) -> Activity:
    return jammed(draw.between(0, 1.5))


def _computes(draw: Draw) -> Activity:
    return jammed(draw.between(98, 101), "R")


# --- the ranks poll host memory over PCIe --------------------------------------------------------------------------
def pair_of_gaming_boards_from_the_first_step(seed: int) -> Scene:
    """Two RTX 4090 without P2P load a model and hang in the first all-reduce; their polls are seen on PCIe."""
    start = lambda draw, rest: phases(loads(draw, rest), (110, rest))
    return _hangs(seed, "k4hang1", [RTX_4090] * 2, start=start, at=(110, 110), age_s=0.0)


def workstation_with_one_rank_out_of_step(seed: int) -> Scene:
    """Of four A6000 without NVLink one waits in another all-gather than its peers; all poll, at different rates."""
    apart = lambda draw: waits_apart(draw, A6000)
    return _hangs(seed, "k4hang2", [A6000] * 4, work=LORA, odd={2: apart})


def eight_boards_behind_two_sockets(seed: int) -> Scene:
    """Eight L40S on two sockets have worked for minutes, then poll flags in host memory for ever."""
    return _hangs(seed, "k4hang3", [L40S] * 8, work=CNN, launcher="mpirun")


def first_broadcast_never_ends_on_3090(seed: int) -> Scene:
    """Four RTX 3090 freeze in the first broadcast, and one of them has not come there: it sleeps at 0 %."""
    start = lambda draw, rest: phases(loads(draw, rest), (100, rest))
    return _hangs(
        seed, "k4hang4", [RTX_3090.without("pcie")] * 4, start=start, at=(100, 100), odd={3: _asleep}, age_s=0.0
    )


# --- seen badly ----------------------------------------------------------------------------------------------------
def hang_with_single_zeros_of_processes(seed: int) -> Scene:
    """Eight H100 hang; one sample in thirty says 0 % of a process that never left its kernel."""
    return _hangs(seed, "k4hang5", [H100] * 8, disturb=lambda draw: [bad_process_zeros(draw.seed(), 0.03)])


def hang_watched_through_gaps(seed: int) -> Scene:
    """Eight A100 hang, and gputop misses six to twenty seconds about once a minute on the loaded host."""
    gaps = lambda draw: [often_gaps(draw.seed(), each_s=65, from_s=6, to_s=20)]
    return _hangs(seed, "k4hang6", [A100] * 8, disturb=gaps, launcher="srun")


def hang_with_garbage_of_an_old_driver(seed: int) -> Scene:
    """Four V100 hang; their old driver says 255 %, nothing, or 0 W of the board in single samples."""
    bad = lambda draw: [
        raw_255(draw.seed(), 0.03),
        no_process_values(draw.seed(), 0.05),
        bad_gpu_zeros(draw.seed(), 0.008),
    ]
    return _hangs(seed, "k4hang7", [V100] * 4, work=CNN, disturb=bad)


def hang_with_failed_readings_every_two_seconds(seed: int) -> Scene:
    """Four B200 hang; gputop looks every two seconds, power is late at times and fails at times."""
    bad = lambda draw: [late_power(draw.seed(), 0.1), faults(draw.seed(), 0.04, "power_average_w", "power_instant_w")]
    return _hangs(seed, "k4hang8", [B200] * 4, disturb=bad, interval_s=2.0)


# --- gputop was started after the hang -----------------------------------------------------------------------------
def hang_of_yesterday_with_a_sleeping_rank(seed: int) -> Scene:
    """gputop is started on eight H100 that hung hours ago: seven wait at 100 %, one has 0 % and sleeps."""
    return _hangs(seed, "k4hang9", [H100] * 8, odd={5: _asleep}, at=(0, 0), age_s=40000)


def hang_of_the_morning_with_rank_zero_at_zero(seed: int) -> Scene:
    """gputop comes late to four V100: rank 0 is at 0 % in a read of a dead mount, the others wait."""
    stuck = lambda draw: jammed(0, "D")
    return _hangs(seed, "k4hang10", [V100] * 4, odd={0: stuck}, at=(0, 0), age_s=9000, launcher="spawn")


def server_whose_gather_hung_in_the_night(seed: int) -> Scene:
    """gputop comes to a batch inference on four L4 that hung: one rank is in the kernel, three never got there."""
    odd = dict.fromkeys((1, 2, 3), _asleep)
    command = "python generate_offline.py --tp 4"
    return _hangs(seed, "k4hang11", [L4] * 4, work=DECODE, odd=odd, at=(0, 0), age_s=70000, command=command)


def hang_before_gputop_seen_every_three_seconds(seed: int) -> Scene:
    """gputop looks at eight A100 every three seconds; two ranks at 0 % have never been seen to work."""
    odd = {1: _asleep, 6: _asleep}
    return _hangs(seed, "k4hang12", [A100] * 8, odd=odd, at=(0, 0), age_s=20000, interval_s=3.0)


# --- others --------------------------------------------------------------------------------------------------------
def two_ranks_in_another_collective(seed: int) -> Scene:
    """Two of eight H100 skipped a gradient exchange and wait in the next one; all boards are at 100 %, some at 116 W."""
    apart = lambda draw: waits_apart(draw, H100).but(spin=draw.between(0.02, 0.2))
    return _hangs(seed, "k4hang13", [H100] * 8, odd={3: apart, 4: apart})


def rank_in_an_endless_loop_of_python(seed: int) -> Scene:
    """Rank 1 of four A100 never returns from a loop in its sampler, at 100 % of a core; the others wait for it."""
    return _hangs(seed, "k4hang14", [A100] * 4, odd={1: _computes})


def node_that_waits_for_another_node(seed: int) -> Scene:
    """All eight ranks of a node of B200 wait for a rank on another node after hours of work; all are alive."""
    return _hangs(seed, "k4hang15", [B200] * 8, at=(500, 700), launcher="srun")


def rank_that_exited_without_a_word(seed: int) -> Scene:
    """Rank 6 of eight H100 exited with status 0 in the middle of an epoch; its peers wait in the collective."""
    return _hangs(seed, "k4hang16", [H100] * 8, exits="rank6", launcher="mpirun")
