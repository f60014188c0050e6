"""Conditions that hold: a free GPU, a process or job that ended, a finding; each is notified once."""

from collections.abc import Iterable
from typing import Any

from examples import GIB, NOW, frame, gpu, process

from gputop.core.model.catalogue import GPU_UTILIZATION, MEMORY_USED
from gputop.core.model.finding import Finding, Stage, Subject
from gputop.core.model.metric import Missing
from gputop.core.model.process_id import ProcessId
from gputop.core.model.progress import Progress
from gputop.core.model.sample import Frame, Gpu, GpuState, Job, JobKind
from gputop.core.notification.lookout import Lookout
from gputop.core.notification.notification import Condition, Event, Notification
from gputop.core.protocol.process_status import ProcessStatus, ProcessStatuses

FREE_0 = Condition(event=Event.FREE, plain="GPU 0", gpu="GPU-00000000")
ANY_FREE = Condition(event=Event.FREE, plain="any GPU")
ENDED = Condition(event=Event.ENDED, plain="process 1", label="python train.py", processes=(ProcessId(1, 10),))
ANY_FINDING = Condition(event=Event.FINDING, plain="any GPU or process")


def idle(index: int = 0, **values: Any) -> Gpu:
    return gpu(index, {GPU_UTILIZATION: 0, MEMORY_USED: GIB // 4}, **values)


def finding(stage: Stage = Stage.SUSPECT, code: str = "idle.process", **subject: Any) -> Finding:
    named: dict[str, Any] = {"label": "1 python train.py", "process": ProcessId(1, 10)} | subject
    told = Subject(**named)
    return Finding(code=code, stage=stage, subject=told, summary="idle for 2h", since_s=NOW, stage_since_s=NOW)


def statuses(*ids: ProcessId, running: bool | None) -> ProcessStatuses:
    told = tuple(ProcessStatus(pid=one.pid, start_ticks=one.start_ticks, is_running=running) for one in ids)
    return ProcessStatuses(id="", statuses=told)


def waiting(condition: Condition, at: Frame) -> Lookout:
    lookout = Lookout()
    lookout.add(condition, at)
    return lookout


def titles(found: Iterable[Notification]) -> list[str]:
    return [one.title for one in found]


def test_a_gpu_becomes_free_once() -> None:
    lookout = waiting(FREE_0, frame(1))

    found = [lookout.take_frame(one) for one in (frame(1), *[frame((idle(),), ())] * 3)]

    assert [titles(one) for one in found] == [[], [], ["GPU 0 is free"], []]
    assert found[2][0].gpus == (0,)
    assert lookout.conditions == ()


def test_a_gpu_between_two_bursts_of_work_is_not_free() -> None:
    lookout = waiting(FREE_0, frame(1))
    frames = [frame((gpu(0, {GPU_UTILIZATION: busy, MEMORY_USED: 0}),), ()) for busy in (90, 0, 90, 0)]

    assert [lookout.take_frame(one) for one in frames] == [[]] * 4


def test_a_lost_gpu_is_not_free() -> None:
    lookout = waiting(FREE_0, frame(1))
    lost = frame((idle(state=GpuState.LOST),), ())

    assert [lookout.take_frame(lost), lookout.take_frame(lost)] == [[], []]


def test_any_free_gpu_names_those_that_are() -> None:
    lookout = waiting(ANY_FREE, frame(3))
    some = frame((idle(0), gpu(1), idle(2)), (process(2, 1),))
    lookout.take_frame(some)

    assert titles(lookout.take_frame(some)) == ["GPUs 0 2 are free"]


def test_a_process_that_leaves_the_gpu_but_runs_has_not_ended() -> None:
    lookout = waiting(ENDED, frame(1, (process(1),)))
    lookout.take_frame(frame(1, ()))

    assert [one.id for one in lookout.unsure()] == [ProcessId(1, 10)]
    assert lookout.take_statuses(statuses(ProcessId(1, 10), running=True)) == []
    assert lookout.conditions == (ENDED,)


def test_a_driver_that_lists_no_processes_ends_none_of_them() -> None:
    lookout = waiting(ENDED, frame(1, (process(1),)))
    lookout.take_frame(frame((gpu(missing={"processes": Missing.HUNG}),), ()))

    assert lookout.take_statuses(statuses(ProcessId(1, 10), running=None)) == []


def test_another_process_with_the_same_pid_is_not_the_one_that_ended() -> None:
    lookout = waiting(ENDED, frame(1, (process(1),)))
    lookout.take_frame(frame(1, (process(1, start_ticks=99),)))

    assert [one.id for one in lookout.unsure()] == [ProcessId(1, 10)]
    assert lookout.take_statuses(statuses(ProcessId(1, 99), running=False)) == []


def test_an_end_says_how_long_it_ran_what_it_held_and_how_far_it_came() -> None:
    progress = Progress(time_s=NOW, step=90, total=100)
    first, later = (process(1, memory_bytes=GIB, progress=one) for one in (None, progress))
    lookout = waiting(ENDED, frame(1, (first,)))
    lookout.take_frame(frame(1, (later,)))
    lookout.take_frame(frame(1, (), time_s=NOW + 60))
    (found,) = lookout.take_statuses(statuses(ProcessId(1, 10), running=False))

    assert found.title == "process 1 has ended · ran 1h01 · held up to 10.0GiB of GPU memory"
    assert found.text == (
        "process 1 has ended: python train.py · ran 1h01 · held up to 10.0GiB of GPU memory · reported 90% done"
    )
    assert (found.ran_s, found.peak_gpu_memory_bytes, found.pids, found.user) == (3660, 10 * GIB, (1,), "ann")
    assert lookout.take_statuses(statuses(ProcessId(1, 10), running=False)) == []


def test_a_zombie_has_ended_though_its_frame_still_lists_it() -> None:
    lookout = waiting(ENDED, frame(1, (process(1, state="Z"),)))

    assert [one.id for one in lookout.unsure()] == [ProcessId(1, 10)]
    assert len(lookout.take_statuses(statuses(ProcessId(1, 10), running=False))) == 1


def test_a_job_ends_with_its_last_member_also_one_that_joined_later() -> None:
    def job(*pids: int) -> Job:
        return Job(key="k", kind=JobKind.LAUNCHER, label="train.py", members=tuple(ProcessId(n, n * 10) for n in pids))

    one, two, three = (process(pid) for pid in (1, 2, 3))
    condition = Condition(event=Event.ENDED, plain="job of 2 processes", job="k", processes=(one.id, two.id))
    lookout = waiting(condition, frame(1, (one, two), jobs=(job(1, 2),)))
    lookout.take_frame(frame(1, (two, three), jobs=(job(2, 3),)))

    assert lookout.take_statuses(statuses(one.id, running=False)) == []
    lookout.take_frame(frame(1, ()))
    assert lookout.take_statuses(statuses(two.id, running=False)) == []
    assert lookout.marked == {three.id}
    assert len(lookout.take_statuses(statuses(three.id, running=False))) == 1


def test_findings_that_were_there_before_are_not_news_until_they_get_graver() -> None:
    lookout = waiting(ANY_FINDING, frame(1, findings=(finding(),)))

    assert lookout.take_frame(frame(1, findings=(finding(),))) == []
    (found,) = lookout.take_frame(frame(1, findings=(finding(Stage.ALARM),)))
    assert found.title == "alarm idle.process: process 1"
    assert found.text == "alarm 1 python train.py: idle for 2h"
    assert (found.code, found.stage, found.pids) == ("idle.process", "alarm", (1,))


def test_a_finding_that_returns_is_news() -> None:
    lookout = waiting(ANY_FINDING, frame(1, findings=(finding(),)))
    lookout.take_frame(frame(1))

    assert len(lookout.take_frame(frame(1, findings=(finding(),)))) == 1


def test_an_observation_is_no_news() -> None:
    lookout = waiting(ANY_FINDING, frame(1))

    assert lookout.take_frame(frame(1, findings=(finding(Stage.OBSERVATION),))) == []


def test_a_finding_about_a_process_concerns_its_gpu_and_no_other() -> None:
    conditions = [Condition(event=Event.FINDING, plain=f"GPU {n}", gpu=f"GPU-{n:08d}") for n in (0, 1)]
    found = [waiting(one, frame(2)).take_frame(frame(2, (process(1, 1),), findings=(finding(),))) for one in conditions]

    assert list(map(len, found)) == [0, 1]


def test_a_command_of_the_user_gets_every_fact_as_a_variable() -> None:
    lookout = waiting(ANY_FINDING, frame(1))
    (found,) = lookout.take_frame(frame(1, findings=(finding(Stage.ALARM),)))

    assert found.variables["GPUTOP_EVENT"] == "finding"
    assert found.variables["GPUTOP_PID"] == "1"
    assert found.variables["GPUTOP_CODE"] == "idle.process"
    assert found.variables["GPUTOP_GPU"] == ""
