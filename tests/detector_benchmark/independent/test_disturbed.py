"""Disturbed readings: no trouble is missed because of them, and no harmless machine is called faulty."""

from collections.abc import Callable
from typing import Final

import pytest
from detector_benchmark.independent.activity import COLLECTIVE, FP32, IDLE, LLM, LORA, PREFILL
from detector_benchmark.independent.boards import GPM, H100, PCIE, POWER, PROCESS_MEMORY, Board
from detector_benchmark.independent.circuit import GOOD, Condition
from detector_benchmark.independent.disturbances import (
    Disturbance,
    bad_gpu_zeros,
    bad_process_zeros,
    clock_jump,
    faults,
    gaps,
    raw_255,
    zero_memory,
)
from detector_benchmark.independent.roles import loaders, program, ranks
from detector_benchmark.independent.scripts import growing, level, phases
from detector_benchmark.independent.trace import Scene, Trace, allow, want
from detector_benchmark.independent.verdicts import judged
from detector_benchmark.independent.world import World

READINGS: Final[dict[str, tuple[Disturbance, ...]]] = {
    "single bad readings": (
        faults(1, 0.01, "power_average_w", "gpu_utilization_percent", "pcie_rx_bytes_per_s"),
        bad_gpu_zeros(2, 0.01), bad_process_zeros(3, 0.01), zero_memory(4, 0.01), raw_255(5, 0.01),
    ),
    "gaps of 8 and 20 s": (gaps((90, 8), (330, 20), (500, 8)),),
    "a clock set forward and back": (clock_jump(300, 3600.0), clock_jump(3900 + 100, -7200.0)),
}  # fmt: skip
_STEP_S: Final = 2.0
LACKS: Final = {"no power": POWER, "no PCIe": PCIE, "no GPM": GPM, "no process memory": PROCESS_MEMORY}

Make = Callable[[Board], Scene]


def _hang(board: Board) -> Scene:
    actors = ranks(range(2), lambda rank: phases(LLM, (150, COLLECTIVE)), level(60000))
    wants = [want("hang", "rank0 rank1", 150, 780)]
    return Scene(
        world=World([board] * 2, actors, seed=1, interval_s=_STEP_S), until_s=800, wants=wants, allows=allow("tiny~")
    )


def _standstill(board: Board) -> Scene:
    actor = program("train", "python train.py", 0, phases(LORA, (250, IDLE.but(cpu=0))), level(20000))
    wants = [want("stalled", "train", 250, 780)]
    return Scene(
        world=World([board], [actor, *loaders(actor, 2, IDLE.but(cpu=0))], seed=1, interval_s=_STEP_S),
        until_s=800,
        wants=wants,
        allows=allow("idle~"),
    )


def _leak(board: Board) -> Scene:
    memory = growing(level(12000), mib_per_min=100, from_s=0)
    actor = program("train", "python train.py", 0, FP32, memory)
    wants = [want("leak", "train gpu:0", 0, 1150)]
    return Scene(
        world=World([board], [actor], seed=1, interval_s=_STEP_S), until_s=1160, wants=wants, allows=allow("filling")
    )


def _heat(board: Board) -> Scene:
    failed = Condition(cooling=0.4)
    actor = program("infer", "python infer.py", 0, LLM, level(12000))
    world = World(
        [board], [actor], seed=1, interval_s=_STEP_S, conditions={0: lambda t_s: failed if t_s >= 120 else GOOD}
    )
    return Scene(world=world, until_s=600, wants=[want("thermal", "gpu:0 infer", 120, 590)])


def _job_at_work(board: Board) -> Scene:
    return Scene(
        world=World([board] * 2, ranks(range(2), lambda rank: LLM, level(60000)), seed=1, interval_s=_STEP_S),
        until_s=600,
    )


def _server(board: Board) -> Scene:
    actor = program("server", "python -m vllm.entrypoints.openai.api_server --port 8000", 0, PREFILL, level(20000))
    return Scene(world=World([board], [actor], seed=1, interval_s=_STEP_S), until_s=800)


MAKERS: Final[dict[str, Make]] = {
    "a hang": _hang, "a standstill": _standstill, "a leak": _leak, "heat": _heat,
    "a job at work": _job_at_work, "a server": _server,
}  # fmt: skip


def _wrong(
    make: Make, board: Board, disturbances: tuple[Disturbance, ...] = ()
) -> tuple[list[tuple[str, str]], list[str]]:
    """Return the troubles that are missed, and the false suspects and alarms."""

    def scene(_: int) -> Scene:
        made = make(board)
        return Scene(
            world=made.world, until_s=made.until_s, wants=made.wants, allows=made.allows, disturbances=disturbances
        )

    verdict = judged(Trace("disturbed", "", "", scene), 1)
    return verdict.missed, [line for _, is_only_seen, line in verdict.false if not is_only_seen]


@pytest.mark.parametrize("name", MAKERS)
@pytest.mark.parametrize("disturbance", READINGS)
def test_bad_readings_hide_a_trouble_or_invent_one(name: str, disturbance: str) -> None:
    assert _wrong(MAKERS[name], H100, READINGS[disturbance]) == ([], [])


@pytest.mark.parametrize("lack", LACKS)
@pytest.mark.parametrize("name", MAKERS)
def test_a_driver_that_lacks_readings_hides_a_trouble_or_invents_one(name: str, lack: str) -> None:
    assert _wrong(MAKERS[name], H100.without(LACKS[lack])) == ([], [])
