"""What became of those that a signal was meant for, and what it freed."""

from collections.abc import Sequence
from typing import Any

from app_driver import Clock
from examples import GIB, frame, gpu, process
from msgspec.structs import replace

from gputop.core.model.metric import Missing
from gputop.core.model.sample import GpuState, HostProcess, Presence
from gputop.core.protocol.command import Command, ReadStatus
from gputop.core.protocol.outcome import Outcome, Result, Status
from gputop.core.protocol.process_status import ProcessStatus, ProcessStatuses
from gputop.ui.state.signal_followup import SignalFollowup, freed_text


class Scene:
    """A signal to some processes, a clock, and what was asked."""

    def __init__(self, *targets: HostProcess, signal: str = "SIGTERM") -> None:
        self.clock = Clock()
        self.asked: list[Command] = []
        self.after = SignalFollowup(signal, targets, self.asked.append, self.clock)

    def told(self, *living: int, **fields: Any) -> None:
        """Have the question asked and answered."""
        self.after.poll()
        question = self.asked[-1]
        assert isinstance(question, ReadStatus)
        seen = [
            ProcessStatus(pid=one.pid, start_ticks=one.start_ticks, is_running=one.pid in living, **fields)
            for one in question.targets
        ]
        self.after.take_statuses(ProcessStatuses(id=question.id, statuses=tuple(seen)))

    @property
    def text(self) -> str | None:
        notice = self.after.notice()
        return None if notice is None else notice.text


def sizes(*gib: int) -> Sequence[HostProcess]:
    """Return processes 1, 2, … that hold so much."""
    (use,) = process().gpus
    return [process(at, gpus=(replace(use, memory_bytes=size * GIB),)) for at, size in enumerate(gib, 1)]


def test_nothing_is_told_before_anything_is_known() -> None:
    scene = Scene(process(1))
    scene.after.take_frame(frame(1, ()))

    assert scene.text is None


def test_all_that_ended_is_told_with_what_a_later_frame_no_longer_lists() -> None:
    scene = Scene(*sizes(3, 4))
    scene.told()
    before = scene.text
    scene.after.take_frame(frame(1, ()))

    assert before is None
    assert scene.text == "SIGTERM: 2 processes ended, 7.0GiB GPU memory freed"


def test_memory_that_the_driver_still_lists_after_a_while_is_not_called_freed() -> None:
    scene = Scene(*sizes(3, 4))
    scene.told()
    gone = process(2, start_ticks=None, presence=Presence.GONE)
    scene.after.take_frame(frame(1, (gone,)))
    early = scene.text
    scene.clock.now += 3

    assert early is None
    assert scene.text == "SIGTERM: 2 processes ended, 3.0GiB GPU memory freed; the driver still lists 4.0GiB"


def test_the_next_owner_of_a_pid_holds_nothing_of_the_process_before() -> None:
    assert freed_text(frame(1, (process(1, start_ticks=999),)), tuple(sizes(3))) == ", 3.0GiB GPU memory freed"


def test_a_gpu_that_does_not_answer_does_not_tell_what_was_freed() -> None:
    hung = frame((gpu(0, state=GpuState.HUNG),), ())
    mute = frame((gpu(0, missing={"processes": Missing.FORBIDDEN}),), ())

    for shown in (hung, mute):
        assert freed_text(shown, tuple(sizes(3))) == "; GPU 0 does not report freed memory"


def test_those_that_sleep_in_the_kernel_are_said_to() -> None:
    scene = Scene(process(1), process(2), signal="SIGKILL")
    scene.clock.now += 5
    scene.told(2, state="D")

    assert scene.text is not None
    assert scene.text.splitlines()[:2] == [
        "SIGKILL: 1 of 2 processes still running after 5 s: 2",
        "1 in uninterruptible sleep (D): they end when a kernel call returns",
    ]


def test_a_signal_that_need_not_end_anybody_tells_only_of_those_that_it_ended() -> None:
    scene = Scene(process(1), process(2), signal="SIGUSR1")
    scene.clock.now += 5
    scene.told(1, 2)
    stays = scene.text
    other = Scene(process(1), process(2), signal="SIGUSR1")
    other.clock.now += 5
    other.told(1)

    assert stays == ""
    assert other.text == "SIGUSR1: 1 process ended"


def test_nobody_waits_for_the_end_of_what_was_only_stopped() -> None:
    assert Scene(process(1), signal="SIGSTOP").text == ""


def test_a_question_is_not_asked_again_while_its_answer_is_on_the_way_nor_more_than_once_a_second() -> None:
    scene = Scene(process(1))
    scene.after.poll()
    scene.after.poll()
    waiting = len(scene.asked)
    scene.told(1)
    scene.clock.now += 0.5
    scene.after.poll()

    assert (waiting, len(scene.asked)) == (1, 1)


def test_a_sampler_that_died_is_asked_again() -> None:
    scene = Scene(process(1))
    scene.after.poll()
    scene.clock.now += 3
    scene.after.poll()

    assert len(scene.asked) == 2


def test_those_whom_the_signal_did_not_reach_are_not_waited_for() -> None:
    scene = Scene(process(1), process(2))
    failed = Result(pid=1, start_ticks=10, status=Status.NOT_PERMITTED)
    done = Result(pid=2, start_ticks=20, status=Status.DONE)
    scene.after.take_outcome(Outcome(id="1", what="SIGTERM", results=(failed, done)))
    scene.told()
    scene.after.take_frame(frame(1, (process(1),)))

    assert scene.text == "SIGTERM: 1 process ended, 10.0GiB GPU memory freed"
