"""Which GPUs are the freest."""

from typing import Any

import pytest
from examples import GIB, NOW, gpu, process

from gputop.core.model.catalogue import COMPUTE_MODE, GPU_UTILIZATION, MEMORY_FREE, MEMORY_USED, MIG_MODE, SM_ACTIVE
from gputop.core.model.metric import Missing
from gputop.core.model.sample import (
    ComputeInstance,
    DriverInfo,
    Frame,
    Gpu,
    GpuInstance,
    GpuProcess,
    GpuState,
    Host,
    HostProcess,
)
from gputop.core.query.pick import Pick, Wish, pick
from gputop.core.query.place import Obstacle


def frame(*gpus: Gpu, processes: tuple[HostProcess, ...] = ()) -> Frame:
    return Frame(time_s=NOW, interval_s=1.0, driver=DriverInfo(), host=Host(name="box"), gpus=gpus, processes=processes)


def one(index: int, free: float = 40, busy: float | Missing | None = 0, **fields: Any) -> Gpu:
    more = fields.pop("values", {})
    return gpu(index, {MEMORY_FREE: int(free * GIB), GPU_UTILIZATION: busy, **more}, **fields)


def places(found: Pick) -> list[str]:
    return [chosen.place for chosen in found.chosen]


def picked(now: Frame, before: Frame | None = None, **wish: Any) -> Pick:
    return pick(before or now, now, Wish(**({"max_utilization_percent": 100} | wish)))


def split(index: int = 0) -> Gpu:
    parts = (
        GpuInstance(
            id=1, profile="3g", metrics={MEMORY_FREE.key: 30 * GIB, SM_ACTIVE.key: 20.0},
            compute_instances=(
                ComputeInstance(id=0, uuid="MIG-a", name="1c.3g"), ComputeInstance(id=1, uuid="MIG-b", name="2c.3g"),
            ),
        ),
        GpuInstance(
            id=9, profile="1g", metrics={MEMORY_FREE.key: 8 * GIB}, missing={SM_ACTIVE.key: Missing.UNSUPPORTED},
            compute_instances=(ComputeInstance(id=0, uuid="MIG-c", name="1g"),),
        ),
    )  # fmt: skip
    return one(index, 38, Missing.UNSUPPORTED, values={MIG_MODE: True}, instances=parts)


def test_free_memory_counts_first() -> None:
    assert places(picked(frame(one(0, 10), one(1, 70, 99), one(2, 40)), count=2)) == ["1", "2"]


def test_what_is_less_than_a_gibibyte_apart_is_equally_free_and_utilization_counts() -> None:
    assert places(picked(frame(one(0, 40.9, 99), one(1, 40.1, 0), one(2, 40.5, 50)), count=3)) == ["1", "2", "0"]


def test_of_equally_free_and_idle_gpus_the_one_with_the_fewest_processes_is_named() -> None:
    held = frame(one(0), one(1), one(2), processes=(process(1, 0), process(2, 0, 2)))

    assert places(picked(held, count=3)) == ["1", "2", "0"]


def test_of_equal_gpus_the_first_is_named_and_ten_comes_after_two() -> None:
    assert places(picked(frame(one(10), one(2)), count=2)) == ["2", "10"]


def test_between_two_bursts_a_gpu_is_not_idle() -> None:
    now, before = frame(one(0, busy=0), one(1, busy=10)), frame(one(0, busy=90), one(1, busy=10))
    found = picked(now, before, max_utilization_percent=20)
    reason = "its utilization is 90 %, above the allowed 20 % (--max-util)"

    assert places(found) == ["1"]
    assert found.obstacles == (Obstacle(place="0", reason=reason),)


def test_unknown_utilization_is_the_worst_and_no_answer_to_a_limit() -> None:
    held = frame(one(0, busy=Missing.UNSUPPORTED), one(1, busy=90))

    assert places(picked(held, count=2)) == ["1", "0"]
    assert places(picked(held, count=1, max_utilization_percent=95)) == ["1"]


def test_too_few_is_nothing_and_each_obstacle_is_named() -> None:
    held = frame(one(0, 10), one(1, 30), gpu(2, {MEMORY_FREE: Missing.FAULT}))
    found = picked(held, count=2, min_free_bytes=20 * GIB)

    assert (found.chosen, found.suitable) == ((), 1)
    assert found.obstacles == (
        Obstacle(place="0", reason="only 10.0GiB of the required 20.0GiB are free"),
        Obstacle(place="2", reason="its free memory is unknown"),
    )


@pytest.mark.parametrize("state", [GpuState.LOST, GpuState.HUNG])
def test_a_gpu_that_does_not_answer_is_never_named(state: GpuState) -> None:
    found = picked(frame(one(0, state=state)))

    assert found.obstacles == (Obstacle(place="0", reason=Missing(state.value).text, is_failure=True),)


@pytest.mark.parametrize(
    ("mode", "kinds", "is_free"),
    [("prohibited", "", False), ("exclusive process", "C", False), ("exclusive process", "G", True),
     ("exclusive process", "", True), ("default", "C", True)],
)  # fmt: skip
def test_a_compute_mode_that_lets_nobody_in_is_an_obstacle(mode: str, kinds: str, is_free: bool) -> None:  # noqa: FBT001
    uses = tuple(GpuProcess(gpu="GPU-00000000", gpu_index=0, type=kind) for kind in kinds)
    held = frame(one(0, values={COMPUTE_MODE: mode}), processes=(process(1, gpus=uses),))

    assert places(picked(held)) == (["0"] if is_free else [])


def test_a_gpu_in_mig_mode_is_passed_over_with_the_reason() -> None:
    found = picked(frame(split()))

    assert found.chosen == ()
    assert "--mig" in found.obstacles[0].reason


def test_instances_are_offered_by_their_uuid_where_they_will_do() -> None:
    use = GpuProcess(gpu="GPU-00000000", gpu_index=0, gpu_instance=1, compute_instance=0, type="C")
    found = picked(
        frame(split(), processes=(process(1, gpus=(use,)),)), count=2, min_free_bytes=20 * GIB, with_instances=True
    )

    assert [(c.place, c.uuid, c.processes, c.utilization_percent) for c in found.chosen] == [
        ("0:1:1", "MIG-b", 0, 20.0),
        ("0:1:0", "MIG-a", 1, 20.0),
    ]
    assert [obstacle.place for obstacle in found.obstacles] == ["0:9"]


def test_gpus_and_instances_are_never_mixed() -> None:
    held = frame(split(), one(1))

    assert places(picked(held, count=1, with_instances=True)) == ["1"]
    assert places(picked(held, count=2, with_instances=True)) == ["0:1:0", "0:1:1"]
    assert picked(held, count=4, with_instances=True).chosen == ()


def test_a_gpu_in_mig_mode_without_instances_says_so() -> None:
    found = picked(frame(one(0, values={MIG_MODE: True})), with_instances=True)

    assert found.obstacles == (Obstacle(place="0", reason="it is in MIG mode and has no compute instance"),)


def test_a_gpu_that_was_not_there_before_is_judged_by_what_is() -> None:
    assert places(picked(frame(one(0, busy=5)), frame(), max_utilization_percent=10)) == ["0"]


def test_a_busy_gpu_is_not_chosen_unless_the_limit_is_raised() -> None:
    busy = frame(one(0, 16, 97))

    assert pick(busy, busy, Wish()).chosen == ()
    assert (
        pick(busy, busy, Wish()).obstacles[0].reason == "its utilization is 97 %, above the allowed 10 % (--max-util)"
    )
    assert places(picked(busy)) == ["0"]


def test_a_free_gpu_precedes_one_that_a_silent_process_shares() -> None:
    held = frame(
        one(0, 70, 0), one(1, 40, 0, values={MEMORY_USED: 0}), processes=(process(1, 0),),
    )  # fmt: skip
    found = picked(held, count=2)

    assert [(chosen.place, chosen.is_free) for chosen in found.chosen] == [("1", True), ("0", False)]


def test_a_free_gpu_without_utilization_is_chosen_but_a_used_one_is_not() -> None:
    held = frame(
        one(0, busy=Missing.UNSUPPORTED, values={MEMORY_USED: 0}), one(1, busy=Missing.UNSUPPORTED),
        processes=(process(1, 1),),
    )  # fmt: skip

    assert places(pick(held, held, Wish())) == ["0"]
    assert pick(held, held, Wish()).obstacles == (Obstacle(place="1", reason="its utilization is unknown"),)
