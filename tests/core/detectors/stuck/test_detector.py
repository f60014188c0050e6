"""Hangs inside a kernel: how long, who else, who is the odd one out, and what only looks like it."""

from __future__ import annotations

import pytest
from behaviours import GONE, IDLE, SPIN, WAIT, WORK, codes, found, last, lone, rank, stages
from detector_benchmark.behaviour_frames import Rank, Scene, pid_of, samples
from detector_benchmark.behaviour_shapes import A100, V100, Second
from examples import NOW, process
from judging import judge_of
from msgspec.structs import replace

from gputop.core.model.catalogue import GPU_UTILIZATION, GRAPHICS_ACTIVE, MIG_MODE, POWER_AVERAGE
from gputop.core.model.finding import Stage
from gputop.core.model.process_id import ProcessId
from gputop.core.model.sample import GpuInstance, Sample

HANG, KERNEL = "stuck.collective", "stuck.kernel"


def job(*parts: tuple[Second, int], of: int = 4) -> list[Rank]:
    return [rank(at, of, *parts) for at in range(of)]


def without(key: str) -> object:
    def change(_: int, sample: Sample) -> Sample:
        gpus = tuple(replace(gpu, metrics=gpu.metrics | {key: None}) for gpu in sample.gpus)
        return replace(sample, gpus=gpus)

    return change


# --- how long ----------------------------------------------------------------------------------------------------
def test_it_is_a_suspect_after_4_minutes_and_an_alarm_after_5() -> None:
    first = stages(found(*job((WORK, 200), (WAIT, 330))), HANG)

    assert Stage.OBSERVATION not in first
    assert 430 < first[Stage.SUSPECT] < 460
    assert 495 < first[Stage.ALARM] < 515


def test_a_job_that_never_worked_has_10_minutes() -> None:
    first = stages(found(*job((IDLE, 40), (WAIT, 650))), HANG)

    assert 635 < first[Stage.ALARM] < 660


def test_a_lone_process_that_never_worked_is_busy_for_show_and_nothing_worse() -> None:
    held = found(lone((WAIT, 1000)))

    assert codes(held) == {"busy.fake"}
    assert last(held, "busy.fake").stage is Stage.OBSERVATION


def test_graphs_of_tiny_kernels_after_large_ones_hang() -> None:
    tiny = replace(WAIT, mu=2.0)

    assert stages(found(lone((WORK, 200), (tiny, 1200))), KERNEL).keys() <= {Stage.OBSERVATION}


def test_a_lone_process_that_worked_has_a_kernel_that_does_not_end() -> None:
    held = found(lone((WORK, 120), (WAIT, 330)))

    assert Stage.ALARM in stages(held, KERNEL)
    assert last(held, KERNEL).subject.process is not None


def test_the_longest_wait_that_ended_well_is_learned() -> None:
    held = found(*job((WORK, 100), (WAIT, 280), (WORK, 60), (WAIT, 500)))

    assert Stage.ALARM not in stages(held, HANG)


def test_short_interruptions_do_not_end_it() -> None:
    blip = replace(WAIT, pcie=200.0)
    parts = [part for _ in range(8) for part in ((WAIT, 58), (blip, 2))]

    assert Stage.ALARM in stages(found(*job((WORK, 100), *parts)), HANG)


def test_times_can_be_set() -> None:
    held = found(*job((WORK, 100), (WAIT, 150)), dials={"stuck": {"alarm_s": 100, "waiting_s": 60}})

    assert Stage.ALARM in stages(held, HANG)


# --- who ---------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("odd", "text"),
    [
        (IDLE, "sleeps"),
        (SPIN, "spins on the CPU at"),
        (replace(IDLE, state="D", thread=0.0), "is blocked inside the kernel"),
        (replace(IDLE, state="T", thread=0.0), "is stopped"),
        (GONE, "exited"),
    ],
)
def test_the_odd_one_out_is_named_with_what_it_does(odd: Second, text: str) -> None:
    seconds = 760 if odd is SPIN else 330
    ranks = job((WORK, 100), (WAIT, seconds))
    ranks[2] = rank(2, 4, (WORK, 100), (odd, seconds))
    finding = last(found(*ranks), HANG)

    assert f"3 of 4 ranks wait in a collective, rank 2 (pid {pid_of(2)}) {text}" in finding.summary
    assert ("odd_pid", pid_of(2)) in [(one.name, one.value) for one in finding.evidence]
    assert finding.stage is Stage.ALARM


def test_the_numbers_of_a_hang_are_told() -> None:
    finding = last(found(*job((WORK, 200), (WAIT, 330))), HANG)

    assert finding.summary.startswith("hung for 5m")
    assert "is 100% busy, but " in finding.summary
    assert "no traffic to memory, PCIe or NVLink" in finding.summary
    assert "one on another host is missing" in finding.summary
    names = {one.name for one in finding.evidence}
    assert {"power_w", "idle_power_w", "waiting_s", "waiting_ranks"} <= names
    power = next(one for one in finding.evidence if one.name == "power_w")
    assert isinstance(power.value, float)
    assert isinstance(power.normal, float)
    assert power.normal > 2 * power.value
    assert (finding.confidence or 0.0) > 0.85
    assert finding.since_s == pytest.approx(NOW + 205, abs=10)
    assert "gputop explain" in finding.remedy


def test_one_job_is_one_finding() -> None:
    held = found(*job((WORK, 200), (WAIT, 330), of=8))

    assert [one.code for one in held[-1]] == [HANG]
    assert held[-1][0].subject.job == "torch:ann:master:node7:29500"


def test_ranks_that_wait_for_one_that_works_are_an_observation() -> None:
    ranks = job((WORK, 100), (WAIT, 900))
    ranks[0] = rank(0, 4, (WORK, 1000))
    held = found(*ranks)

    assert stages(held, HANG).keys() == {Stage.OBSERVATION}
    assert "while rank 0 (pid 1000) works" in last(held, HANG).summary


def test_a_rank_that_dies_is_the_odd_one_even_if_only_one_is_left() -> None:
    ranks = [rank(0, 2, (WORK, 100), (WAIT, 330)), rank(1, 2, (WORK, 100), (GONE, 330))]

    assert f"rank 1 (pid {pid_of(1)}) exited" in last(found(*ranks), HANG).summary


def test_a_hang_of_the_last_rank_is_about_a_job_that_no_longer_exists() -> None:
    left, gone = (
        replace(rank(at, 2, (WORK, 100), (does, 330)), has_launcher=False) for at, does in enumerate((WAIT, GONE))
    )

    hang = last(found(left, gone), HANG)

    assert (hang.subject.job, (hang.subject.process or ProcessId(0, 0)).pid) == (None, pid_of(0))


# --- what only looks like it -------------------------------------------------------------------------------------
def test_a_server_that_waits_inside_a_collective_is_no_hang() -> None:
    ranks = [
        lone((WORK, 100), (WAIT, 900), gpu=at, framework="vLLM", command=f"VLLM::Worker_TP{at}", has_launcher=True)
        for at in range(4)
    ]
    held = found(*ranks)

    assert held[-1] == ()


def test_progress_that_goes_on_refutes_a_hang_and_progress_that_stopped_supports_it() -> None:
    at_work = [replace(WORK, step=n) for n in range(200)]
    stuck = Rank(at_work + [replace(WAIT, step=199)] * 500)
    going = Rank(at_work + [replace(WAIT, step=200 + n // 15) for n in range(500)])
    silent = Rank([WORK] * 200 + [WAIT] * 500)

    assert KERNEL not in codes(found(going))
    assert (last(found(stuck), KERNEL).confidence or 0) > (last(found(silent), KERNEL).confidence or 0)


# --- beside a neighbour that computes ----------------------------------------------------------------------------
def test_beside_a_busy_neighbour_a_hang_is_no_more_than_a_suspect_and_says_why() -> None:
    held = found(lone((WORK, 200), (WAIT, 500)), lone((WORK, 700)), names=("stuck",))
    said = last(held, KERNEL)

    assert stages(held, KERNEL) == {Stage.SUSPECT: 560}
    assert said.subject.process == ProcessId(pid_of(0), 7)
    assert said.confidence == 0.5
    assert said.lacking == ("its own power draw and PCIe traffic (another process computes on the same GPU)",)
    assert said.summary.startswith("perhaps hung for 8m19: a kernel does not end · ")
    assert f"next to pid {pid_of(1)}, but no longer reads or writes GPU memory" in said.summary


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (replace(WORK, mu=5), WAIT),  # it never moved much
        (WORK, replace(WAIT, mu=2)),  # it moves a little
        (WORK, replace(WAIT, gu=30)),  # it has less than its share
        (WORK, replace(WAIT, thread=60)),  # its thread does something
        (WORK, replace(WAIT, workers=((20.0, "S"),))),  # its data loaders do
        (WORK, replace(WAIT, step=1)),
    ],
)
def test_beside_a_busy_neighbour_nothing_is_said_of_what_may_go_on(before: Second, after: Second) -> None:
    wait = [replace(after, step=n) if after.step else after for n in range(500)]

    assert codes(found(Rank([before] * 200 + wait), lone((WORK, 700)), names=("stuck",))) == set()


def test_beside_a_busy_neighbour_nothing_is_said_of_a_server() -> None:
    server = lone((WORK, 200), (WAIT, 500), framework="vLLM", command="VLLM::Worker_TP0")

    assert codes(found(server, lone((WORK, 700)), names=("stuck",))) == set()


def test_memory_that_changes_is_a_sign_of_life_beside_a_busy_neighbour() -> None:
    def growing(second: int, sample: Sample) -> Sample:
        processes = tuple(
            replace(one, gpus=tuple(replace(use, memory_bytes=10**9 + second // 100) for use in one.gpus))
            for one in sample.processes
        )
        return replace(sample, processes=processes)

    assert codes(found(lone((WORK, 200), (WAIT, 500)), lone((WORK, 700)), names=("stuck",), change=growing)) == set()


def test_when_the_neighbour_leaves_power_tells() -> None:
    held = found(lone((WORK, 200), (WAIT, 800)), lone((WORK, 500), (GONE, 500)), names=("stuck",))

    assert last(held, KERNEL).stage is Stage.ALARM
    assert (last(held, KERNEL).confidence or 0.0) > 0.8


def test_a_clock_that_jumps_neither_ends_a_hang_nor_adds_to_it() -> None:
    def late(second: int, sample: Sample) -> Sample:
        off = 3600.0 if second >= 450 else 0.0
        gpus = tuple(replace(gpu, read_s=sample.time_s + off) for gpu in sample.gpus)
        return replace(sample, time_s=sample.time_s + off, gpus=gpus)

    steady = stages(found(*job((WORK, 200), (WAIT, 500))), HANG)[Stage.ALARM]

    assert stages(found(*job((WORK, 200), (WAIT, 500)), change=late), HANG)[Stage.ALARM] == steady + 1


def test_a_reading_that_is_old_is_no_evidence() -> None:
    def stale(second: int, sample: Sample) -> Sample:
        gpus = tuple(replace(gpu, read_s=NOW + min(second, 260)) for gpu in sample.gpus)
        return replace(sample, gpus=gpus)

    assert Stage.ALARM not in stages(found(*job((WORK, 200), (WAIT, 500)), change=stale), HANG)


# --- signals that are missing ------------------------------------------------------------------------------------
def test_without_power_gpm_tells_and_the_finding_says_what_is_lacking_and_is_no_alarm() -> None:
    held = found(*job((WORK, 200), (WAIT, 400)), change=without(POWER_AVERAGE.key))  # type: ignore[arg-type]
    finding = last(held, HANG)

    assert stages(held, HANG).keys() == {Stage.OBSERVATION, Stage.SUSPECT}
    assert finding.lacking == ("power draw",)
    assert (finding.confidence or 1.0) <= 0.6


def test_without_power_and_gpm_memory_traffic_tells_and_it_is_never_an_alarm() -> None:
    held = found(*job((WORK, 200), (WAIT, 700)), board=V100, change=without(POWER_AVERAGE.key))  # type: ignore[arg-type]

    assert stages(held, HANG).keys() == {Stage.OBSERVATION, Stage.SUSPECT}


def test_a_rank_that_works_on_the_cpu_may_evaluate_for_ten_minutes() -> None:
    ranks = job((WORK, 200), (WAIT, 570))
    ranks[0] = rank(0, 4, (WORK, 200), (SPIN, 570))

    assert HANG not in codes(found(*ranks))


def test_ranks_that_wait_while_another_one_works_are_worth_a_line_only_if_they_wait_for_very_long() -> None:
    ranks = job((WORK, 200), (WAIT, 400), (WORK, 60), (WAIT, 700))
    ranks[2] = rank(2, 4, (WORK, 1360))
    first = stages(found(*ranks), HANG)

    assert first.keys() == {Stage.OBSERVATION}
    assert 1250 < first[Stage.OBSERVATION] < 1275


def test_a_rank_that_writes_no_checkpoints_may_use_the_cpu_for_ten_minutes() -> None:
    ranks = job((WORK, 200), (WAIT, 330))
    ranks[2] = rank(2, 4, (WORK, 200), (SPIN, 330))

    assert Stage.ALARM in stages(found(*ranks), HANG)


def test_a_hang_in_the_first_collective_is_missed_on_a_board_whose_waits_take_power() -> None:
    waits = replace(WAIT, effort=0.2)

    assert Stage.ALARM in stages(found(*job((IDLE, 40), (waits, 650))), HANG)
    assert HANG not in codes(found(*job((IDLE, 40), (replace(waits, mu=2.0), 650))))


def test_ranks_that_poll_host_memory_over_pcie_hang_all_the_same() -> None:
    polls = replace(WAIT, pcie=150.0)

    assert Stage.ALARM in stages(found(*job((WORK, 200), (polls, 330))), HANG)
    assert Stage.ALARM in stages(found(*job((polls, 650))), HANG)


def test_a_wrong_reading_ends_no_hang() -> None:
    def wrong(second: int, sample: Sample) -> Sample:
        if second % 20:
            return sample
        uses = [
            [replace(use, sm_percent=(0.0, 255.0)[second % 40 > 0]) for use in one.gpus] for one in sample.processes
        ]
        told = tuple(replace(one, gpus=tuple(use)) for one, use in zip(sample.processes, uses, strict=True))
        metrics = [gpu.metrics | {POWER_AVERAGE.key: 0.0, GPU_UTILIZATION.key: 255.0} for gpu in sample.gpus]
        gpus = tuple(replace(gpu, metrics=metric) for gpu, metric in zip(sample.gpus, metrics, strict=True))
        return replace(sample, processes=told, gpus=gpus)

    assert 495 < stages(found(*job((WORK, 200), (WAIT, 330)), change=wrong), HANG)[Stage.ALARM] < 525


def test_a_mig_instance_is_judged_by_its_own_gpm() -> None:
    def split(_: int, sample: Sample) -> Sample:
        gpu = sample.gpus[0]
        names = ("sm_active_percent", "sm_occupancy_percent", "tensor_active_percent", "dram_active_percent")
        said = {name: gpu.metrics[name] for name in names} | {
            GRAPHICS_ACTIVE.key: sample.processes[0].gpus[0].sm_percent
        }
        instance = GpuInstance(id=3, profile="3g.40gb", metrics=said)
        use = replace(sample.processes[0].gpus[0], sm_percent=None, gpu_instance=3)
        whole = replace(gpu, instances=(instance,), metrics=gpu.metrics | {MIG_MODE.key: True})
        return replace(sample, gpus=(whole,), processes=(replace(sample.processes[0], gpus=(use,)),))

    held = found(lone((WORK, 200), (WAIT, 400)), change=split)
    finding = last(held, KERNEL)

    assert finding.stage is Stage.SUSPECT
    assert finding.subject.gpu_instance == 3
    assert finding.lacking[0] == "power draw of the instance"


def test_on_a_crowded_box_it_takes_no_longer() -> None:
    crowd = tuple(
        replace(one, gpus=tuple(replace(use, sm_percent=0.0) for use in one.gpus))
        for one in (process(20_000 + n, 7) for n in range(850))
    )
    judge = judge_of("stuck")
    raised = None
    for second, (sample, jobs) in enumerate(samples(Scene(job((WORK, 150), (WAIT, 330))))):
        full = replace(sample, processes=(*sample.processes, *crowd))
        if raised is None and any(one.stage is Stage.ALARM for one in judge.judge(full, jobs)):
            raised = second

    assert 445 < (raised or 0) < 475


def test_a_server_in_the_same_pod_does_not_excuse_the_trainers_beside_it() -> None:
    server = lone((WAIT, 530), gpu=4, framework="vLLM", command="VLLM::EngineCore", has_launcher=True, world=5, rank=4)
    finding = last(found(*job((WORK, 200), (WAIT, 330)), server), HANG)

    assert finding.stage is Stage.ALARM
    assert "4 of 4 ranks wait" in finding.summary


def test_tiny_kernels_after_real_work_are_no_hang_for_their_power_is_never_the_same() -> None:
    tiny = [replace(WAIT, effort=0.03 + 0.1 * (n * 7 % 10) / 10) for n in range(700)]

    assert Stage.ALARM not in stages(found(Rank([WORK] * 120 + tiny)), KERNEL)


def test_a_notebook_in_the_same_container_is_not_the_odd_one_out() -> None:
    hung = lone((WORK, 120), (WAIT, 330), has_launcher=True)
    notebook = lone((IDLE, 450), gpu=1, has_launcher=True, command="python -m ipykernel_launcher -f k.json")
    held = found(hung, notebook, names=("stuck",))

    assert codes(held) == {KERNEL}
    assert (last(held, KERNEL).subject.process or ProcessId(0, 0)).pid == pid_of(0)


def test_a_hang_of_a_job_that_takes_little_power_is_missed() -> None:
    modest = replace(WORK, effort=0.3, mu=15, tensor=0.0)

    assert Stage.ALARM in stages(found(lone((modest, 300), (replace(WAIT, thread=0.2), 400)), board=A100), KERNEL)


def test_a_kernel_that_waits_at_much_power_is_missed_where_memory_traffic_ended() -> None:
    waits = replace(WAIT, effort=0.29)

    assert KERNEL in codes(found(lone((replace(WORK, effort=0.7), 300), (waits, 400)), board=A100))
    assert KERNEL not in codes(found(lone((replace(WORK, effort=0.7, mu=0.0), 300), (waits, 400)), board=A100))
