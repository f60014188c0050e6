"""Memory that is held without work."""

from __future__ import annotations

from behaviours import IDLE, WAIT, WORK, codes, found, last, lone, rank, stages
from detector_benchmark.behaviour_frames import GIB
from msgspec.structs import replace

from gputop.core.model.catalogue import GPU_UTILIZATION, MEMORY_USED
from gputop.core.model.finding import Stage
from gputop.core.model.sample import Sample

CODE = "idle.holder"
KERNEL = {"framework": "Jupyter kernel", "command": "python -m ipykernel_launcher -f k.json"}


def test_it_is_worth_a_line_after_10_minutes_and_a_suspect_after_an_hour() -> None:
    first = stages(found(lone((WORK, 60), (IDLE, 3700), **KERNEL), names=("idle",)), CODE)

    assert 655 <= first[Stage.OBSERVATION] <= 675
    assert 3655 <= first[Stage.SUSPECT] <= 3690


def test_how_long_how_much_and_what_it_costs_is_told() -> None:
    finding = last(found(lone((WORK, 60), (IDLE, 1900), **KERNEL)), CODE)

    assert "idle for 31m" in finding.summary
    assert "20.0GiB (25%) held" in finding.summary
    assert "held, 10." in finding.summary
    known = {one.name: one.value for one in finding.evidence}
    watts, joules, seconds = (float(known[name] or 0) for name in ("power_w", "energy_j", "idle_s"))
    assert abs(joules - watts * seconds) < 1 + seconds / 10
    assert "kWh (1" in finding.summary
    assert "W of an otherwise empty GPU)" in finding.summary
    assert finding.summary.endswith(" · a notebook or shell")
    assert "Ask ann" in finding.remedy


def test_where_memory_is_scarce_it_is_a_suspect_at_once() -> None:
    def full(_: int, sample: Sample) -> Sample:
        gpus = tuple(replace(gpu, metrics=gpu.metrics | {MEMORY_USED.key: 70 * GIB}) for gpu in sample.gpus)
        return replace(sample, gpus=gpus)

    assert Stage.SUSPECT in stages(found(lone((WORK, 60), (IDLE, 700), **KERNEL), change=full), CODE)


def test_a_server_without_requests_is_no_suspect() -> None:
    held = found(lone((WORK, 60), (IDLE, 4000), framework="vLLM", command="vllm serve m"), names=("idle",))

    assert stages(held, CODE).keys() == {Stage.OBSERVATION}
    assert "a server without requests" in last(held, CODE).summary


def test_what_it_did_before_gputop_looked_is_not_known() -> None:
    finding = last(found(lone((IDLE, 700))), CODE)

    assert "idle for at least" in finding.summary
    assert finding.lacking == ("when it last worked (gputop started later)",)


def test_a_heartbeat_of_a_second_is_no_work_but_three_are() -> None:
    beat = replace(IDLE, gu=5.0)
    once = [part for _ in range(10) for part in ((IDLE, 79), (beat, 1))]
    thrice = [part for _ in range(10) for part in ((IDLE, 77), (beat, 3))]

    assert CODE in codes(found(lone((WORK, 60), *once, **KERNEL)))
    assert CODE not in codes(found(lone((WORK, 60), *thrice, **KERNEL)))


def test_memory_that_changes_is_a_sign_of_life() -> None:
    def growing(second: int, sample: Sample) -> Sample:
        use = replace(sample.processes[0].gpus[0], memory_bytes=GIB + second // 300 * GIB)
        return replace(sample, processes=(replace(sample.processes[0], gpus=(use,)),))

    assert CODE not in codes(found(lone((WORK, 60), (IDLE, 1500), **KERNEL), change=growing))


def test_a_little_memory_is_not_worth_a_line() -> None:
    assert CODE not in codes(found(lone((WORK, 60), (IDLE, 800), memory=100 * 1024**2, **KERNEL)))


def test_what_nobody_asked_for_is_left_alone() -> None:
    assert codes(found(lone((IDLE, 800), command="/usr/bin/nvidia-cuda-mps-server"))) == set()


def test_who_is_stalled_is_not_said_to_be_idle_as_well() -> None:
    waits = replace(IDLE, workers=((0.1, "S"),))

    assert {one.code for one in found(lone((WORK, 200), (waits, 800)))[-1]} == {"stalled.process"}


def test_a_program_without_children_may_have_finished_so_both_are_said() -> None:
    both = {one.code: one for one in found(lone((WORK, 400), (IDLE, 800)))[-1]}

    assert both.keys() == {"stalled.process", "idle.holder"}
    assert "it worked for 6m39 before: it has finished, waits, or has stalled" in both["idle.holder"].summary


def test_a_job_that_holds_memory_is_one_finding() -> None:
    held = found(*[rank(at, 4, (WORK, 60), (IDLE, 700)) for at in range(4)], names=("idle",))

    assert [one.subject.job for one in held[-1]] == ["torch:ann:master:node7:29500"]
    assert "4 of 4 ranks" in held[-1][0].summary
    assert "80.0GiB held" in held[-1][0].summary


def test_of_a_crowd_on_one_gpu_all_are_one_finding_until_they_are_few() -> None:
    crowd = [lone((WORK, 60), (IDLE, 700), (WORK if at < 30 else IDLE, 100), memory=GIB, **KERNEL) for at in range(40)]
    held = found(*crowd, names=("idle",))

    assert [one.subject.gpu for one in held[755]] == ["GPU-00000000"]
    assert held[755][0].summary.startswith("40 processes (ann 40) idle for ")
    assert "idle for 11m30: 40.0GiB held" in held[755][0].summary
    assert len([one for one in held[-1] if one.subject.process]) == 10


def test_what_another_detector_tells_of_is_not_told_twice() -> None:
    stopped = replace(IDLE, state="T", thread=0.0)
    zombie = replace(IDLE, state="Z", thread=0.0)
    odd = [rank(at, 3, (WORK, 100), (WAIT if at else IDLE, 800)) for at in range(3)]

    assert CODE not in codes(found(lone((WORK, 60), (stopped, 800), **KERNEL)))
    assert CODE not in codes(found(lone((WORK, 60), (zombie, 800), **KERNEL)))
    assert CODE not in codes(found(*odd))


def test_who_becomes_a_zombie_is_idle_no_more() -> None:
    zombie = replace(IDLE, state="Z", thread=0.0)

    held = found(lone((WORK, 60), (IDLE, 700), (zombie, 30), **KERNEL), names=("idle",))

    assert codes(held[:755]) == {CODE}
    assert not held[-1]


def test_zombies_of_a_job_are_not_counted_with_those_who_hold_memory() -> None:
    zombie = replace(IDLE, state="Z", thread=0.0)

    held = found(*[rank(at, 4, (WORK, 60), (IDLE if at else zombie, 700)) for at in range(4)], names=("idle",))

    assert "3 of 4 ranks" in last(held, CODE).summary


def test_a_program_whose_utilization_is_unknown_and_that_uses_no_cpu_is_missed() -> None:
    def unseen(_: int, sample: Sample) -> Sample:
        gpus = tuple(replace(gpu, metrics=gpu.metrics | {GPU_UTILIZATION.key: None}) for gpu in sample.gpus)
        rests = [replace(one, cpu_percent=0.0) for one in sample.processes]
        users = tuple(replace(one, gpus=tuple(replace(use, sm_percent=None) for use in one.gpus)) for one in rests)
        return replace(sample, gpus=gpus, processes=users)

    held = found(lone((IDLE, 1300)), change=unseen)

    assert 1195 <= stages(held, CODE)[Stage.OBSERVATION] <= 1240
    assert 595 <= stages(found(lone((IDLE, 700), **KERNEL), change=unseen), CODE)[Stage.OBSERVATION] <= 640
    assert last(held, CODE).lacking == ("its GPU utilization (gputop judges by its CPU use)",)


def test_a_moment_of_cpu_of_a_sleeping_python_hides_an_idle_process_in_a_mig_slice() -> None:
    def unseen(second: int, sample: Sample) -> Sample:
        gpus = tuple(replace(gpu, metrics=gpu.metrics | {GPU_UTILIZATION.key: None}) for gpu in sample.gpus)
        rests = [replace(one, cpu_percent=float(second % 12 == 0)) for one in sample.processes]
        users = tuple(replace(one, gpus=tuple(replace(use, sm_percent=None) for use in one.gpus)) for one in rests)
        return replace(sample, gpus=gpus, processes=users)

    assert Stage.OBSERVATION in stages(found(lone((IDLE, 1900), **KERNEL), change=unseen), CODE)


def test_a_tool_or_prompt_that_waits_for_its_user_is_called_stalled() -> None:
    for command in (
        "python ComfyUI/main.py --lowvram",
        "python -m cudf_shell",
        "python stable-diffusion-webui/launch.py",
    ):
        held = found(lone((WORK, 200), (IDLE, 700), command=command))

        assert codes(held) & {CODE, "stalled.process"} == {CODE}
