"""Ranks that wait for ever, while readings are bad, gputop starts late, or the ranks were never seen at work."""

from detector_benchmark.independent.activity import CNN, COLLECTIVE, FP32, LORA, POLLING
from detector_benchmark.independent.boards import A100, RTX_4090, TITAN_X, V100
from detector_benchmark.independent.disturbances import (
    gaps,
    no_process_values,
    often_gaps,
    raw_255,
)
from detector_benchmark.independent.roles import ranks, with_loaders
from detector_benchmark.independent.scripts import level, phases
from detector_benchmark.independent.trace import Scene, allow, want
from detector_benchmark.independent.world import World

_OBSERVED = allow("tiny~")
_FOUR = "rank0 rank1 rank2 rank3"
_EIGHT = _FOUR + " rank4 rank5 rank6 rank7"


def gaps_of_ten_seconds(seed: int) -> Scene:
    """Four ranks hang on a host so loaded that gputop takes no sample for 6 to 12 s, every minute or so."""
    actors = with_loaders(ranks(range(4), lambda rank: phases(CNN, (300, COLLECTIVE)), level(17000)), 3)
    return Scene(
        world=World([A100] * 4, actors, seed=seed),
        until_s=950,
        wants=[want("hang", _FOUR, 300, 940)],
        allows=_OBSERVED,
        disturbances=[often_gaps(seed, each_s=60, from_s=6, to_s=12)],
    )


def garbage_of_255_percent(seed: int) -> Scene:
    """An old driver says 255 % of a process in one of a hundred samples; two ranks hang."""
    actors = ranks([0, 1], lambda rank: phases(FP32, (320, COLLECTIVE)), level(13000))
    return Scene(
        world=World([V100] * 2, actors, seed=seed),
        until_s=1000,
        wants=[want("hang", "rank0 rank1", 320, 920)],
        allows=_OBSERVED,
        disturbances=[raw_255(seed, 0.01), no_process_values(seed, 0.02)],
    )


def all_ranks_hung_before_gputop_started(seed: int) -> Scene:
    """All four ranks hung in the night. gputop starts in the morning and sees 100 % at 97 W of 400 W."""
    actors = ranks(range(4), lambda rank: COLLECTIVE, level(61000), age_s=50000, launcher="srun")
    return Scene(
        world=World([A100] * 4, actors, seed=seed),
        until_s=1300,
        wants=[want("hang kernel", _FOUR, 0, 1200)],
        allows=_OBSERVED,
    )


def no_utilization_of_processes(seed: int) -> Scene:
    """Two TITAN X without utilization of processes: both ranks poll for ever, at 30 % of the power of work."""
    actors = ranks([0, 1], lambda rank: phases(FP32, (300, POLLING)), level(9000), command="python -u train_gan.py")
    return Scene(
        world=World([TITAN_X] * 2, actors, seed=seed),
        until_s=1050,
        wants=[want("hang", "rank0 rank1", 300, 1020)],
        allows=_OBSERVED,
    )


def one_long_gap_within_a_hang(seed: int) -> Scene:
    """gputop was suspended for 40 s in a hang of two consumer boards, and twice for 20 s."""
    actors = ranks([0, 1], lambda rank: phases(LORA, (300, POLLING)), level(18800))
    return Scene(
        world=World([RTX_4090] * 2, actors, seed=seed),
        until_s=1050,
        wants=[want("hang", "rank0 rank1", 300, 1000)],
        allows=_OBSERVED,
        disturbances=[gaps((420, 40), (560, 20), (640, 20))],
    )


def samples_every_five_seconds(seed: int) -> Scene:
    """gputop runs with --interval 5; a job of four ranks hangs after ten minutes."""
    actors = with_loaders(ranks(range(4), lambda rank: phases(CNN, (600, COLLECTIVE)), level(15000)), 2)
    return Scene(
        world=World([A100] * 4, actors, seed=seed, interval_s=5),
        until_s=1400,
        wants=[want("hang", _FOUR, 600, 1240)],
        allows=_OBSERVED,
    )
