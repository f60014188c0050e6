"""Which GPUs are free."""

from typing import Any

import pytest
from examples import GIB, frame, gpu, process

from gputop.core.model.catalogue import COMPUTE_MODE, GPU_UTILIZATION, MEMORY_USED, MIG_MODE, SM_ACTIVE
from gputop.core.model.metric import Metric, Missing
from gputop.core.model.sample import ComputeInstance, Gpu, GpuInstance, GpuProcess, GpuState, Host
from gputop.core.query.free import Vacancies, summary, vacancies


def unused(index: int = 0, values: dict[Metric[Any], Any] | None = None, **fields: Any) -> Gpu:
    return gpu(index, {GPU_UTILIZATION: 0, MEMORY_USED: GIB // 2} | (values or {}), **fields)


def judged(*gpus: Gpu, processes: Any = (), **fields: Any) -> Vacancies:
    now = frame(gpus, processes=processes, **fields)
    return vacancies(now, now)


def free(found: Vacancies) -> list[str]:
    return [one.place for one in found.free]


def reasons(found: Vacancies) -> dict[str, str]:
    return {one.place: one.reason for one in found.others}


def split(index: int, *used: int) -> Gpu:
    """Return a GPU of three instances; those ``used`` have allocated memory."""
    parts = tuple(
        GpuInstance(
            id=n,
            profile="1g",
            metrics={MEMORY_USED.key: 5 * GIB if n in used else 0, SM_ACTIVE.key: 0.0},
            compute_instances=(ComputeInstance(id=0, uuid=f"MIG-{index}-{n}", name="1g"),),
        )
        for n in (1, 2, 3)
    )
    return unused(index, {MIG_MODE: True, GPU_UTILIZATION: Missing.UNSUPPORTED}, instances=parts)


def test_a_gpu_without_processes_and_load_is_free() -> None:
    assert free(judged(unused(0), unused(1), processes=(process(1, 0),))) == ["1"]


def test_a_gpu_at_0_percent_with_a_process_is_not_free() -> None:
    assert reasons(judged(unused(), processes=(process(1, 0), process(2, 0)))) == {"0": "2 processes"}


def test_a_gpu_with_load_and_no_visible_process_is_not_free() -> None:
    assert reasons(judged(unused(values={GPU_UTILIZATION: 11}))) == {"0": "11 % busy"}
    assert free(judged(unused(values={GPU_UTILIZATION: 10}))) == ["0"]


def test_a_burst_in_the_earlier_reading_counts() -> None:
    before, now = frame((unused(values={GPU_UTILIZATION: 60}),), ()), frame((unused(),), ())

    assert reasons(vacancies(before, now)) == {"0": "60 % busy"}


def test_memory_of_an_invisible_process_keeps_a_gpu_from_being_free() -> None:
    found = judged(unused(values={MEMORY_USED: 9 * GIB}))

    assert reasons(found) == {"0": "9.0GiB of its memory are used by no visible process"}


def test_a_process_that_only_draws_leaves_a_gpu_free() -> None:
    desktop = process(1, gpus=(GpuProcess(gpu="GPU-00000000", gpu_index=0, type="G", memory_bytes=3 * GIB),))

    assert free(judged(unused(values={MEMORY_USED: 3 * GIB}), processes=(desktop,))) == ["0"]


@pytest.mark.parametrize(
    "one",
    [
        unused(missing={"processes": Missing.FORBIDDEN}),
        unused(values={MEMORY_USED: Missing.FAULT}),
        unused(state=GpuState.LOST),
        unused(state=GpuState.HUNG),
    ],
)
def test_a_gpu_that_cannot_be_judged_is_not_free(one: Gpu) -> None:
    found = judged(one, unused(1))

    assert free(found) == ["1"]
    assert [other.is_failure for other in found.others] == [True]
    assert summary(found) == "1 of 2 GPUs free: 1 · 1 unknown"


def test_no_gpu_is_free_while_proc_does_not_answer() -> None:
    blocked = Host(name="node7", missing={"processes": Missing.BLOCKED})

    assert free(judged(unused(), host=blocked)) == []


def test_a_gpu_that_admits_no_program_is_not_free() -> None:
    assert reasons(judged(unused(values={COMPUTE_MODE: "prohibited"}))) == {"0": "its compute mode is prohibited"}


def test_instances_are_judged_and_counted_apart() -> None:
    found = judged(unused(0), split(1, 2), split(2))

    assert summary(found) == "1 of 1 GPUs free: 0 · 5 of 6 instances free: 1:1 1:3 2:1 2:2 2:3"
    assert [found.is_free(one) for one in (unused(0), split(1), split(2))] == [True, False, True]


def test_a_gpu_in_mig_mode_without_instances_is_not_free() -> None:
    found = judged(unused(values={MIG_MODE: True}))

    assert free(found) == []
    assert not found.is_free(unused())


def test_gpu_1_is_not_taken_for_gpu_10() -> None:
    found = judged(unused(1), unused(10), processes=(process(1, 10),))

    assert found.is_free(unused(1))
    assert not found.is_free(unused(10))


def test_all_free_gpus_are_named() -> None:
    found = judged(*(unused(n) for n in range(8)), processes=(process(1, 0, 2, 3, 5, 6),))

    assert summary(found) == "3 of 8 GPUs free: 1 4 7"
    assert summary(found, has_names=False) == "3 of 8 GPUs free"


def test_many_free_gpus_in_sequence_are_a_range() -> None:
    found = judged(*(unused(n) for n in range(64)), processes=(process(1, *range(3, 9), 60),))

    assert summary(found) == "57 of 64 GPUs free: 0-2 9-59 61-63"
