"""From keys to real processes: the screen, and behind its link the door itself."""

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from app_driver import MIDDLE, Clock, FakeLink, Stage, text_on
from children import Child, child, control
from examples import frame, process

from gputop.app.backend.backend import BackendRequest
from gputop.app.backend.operations.choice import open_control
from gputop.app.backend.operations.operations import Control
from gputop.core.model.sample import Frame
from gputop.core.protocol.command import Change, Command, ReadStatus
from gputop.core.text.ranges import ranges
from gputop.machine.control.kernel import Kernel
from gputop.machine.inspect.process_status import ProcessStatusReader
from gputop.machine.proc.procfs import RealProc
from gputop.ui.app import GputopApp
from gputop.ui.options import ViewOptions
from gputop.ui.screens.dialogs.affinity import AffinityScreen
from gputop.ui.screens.dialogs.escalation import EscalationScreen
from gputop.ui.screens.dialogs.io_class import IoClassScreen
from gputop.ui.screens.dialogs.outcome import OutcomeScreen


class ControlLink(FakeLink):
    """Carries changes out at once, and answers them and questions as a sampler does."""

    def __init__(self, door: Control) -> None:
        super().__init__()
        self._door = door

    def send(self, command: Command) -> None:
        super().send(command)
        if isinstance(command, Change):
            assert self.receive is not None
            self.receive(self._door.execute(command))
        elif isinstance(command, ReadStatus):
            assert self.receive is not None
            self.receive(ProcessStatusReader(RealProc(), Kernel()).read(command))


@asynccontextmanager
async def before(door: Control, *frames: Frame) -> AsyncIterator[Stage]:
    """Run the screen in front of a door, with the cursor on the first process."""
    link, clock = ControlLink(door), Clock()
    app = GputopApp(link, ViewOptions(theme="dark"), clock)
    async with app.run_test(size=MIDDLE) as pilot:
        stage = Stage(app, link, clock, pilot)
        await pilot.pause()
        await stage.deliver(*frames)
        await stage.press("down")
        yield stage


def shown(one: Child, start_ticks: int | None = None) -> Frame:
    ticks = one.target.start_ticks if start_ticks is None else start_ticks
    return frame(1, (process(one.pid, start_ticks=ticks),))


def said(stage: Stage) -> str:
    assert isinstance(stage.app.screen, OutcomeScreen)
    return text_on(stage.app.screen)


async def test_sigterm_ends_a_process(tmp_path: Path) -> None:
    with child() as one:
        async with before(control(tmp_path), shown(one)) as stage:
            await stage.press("k", "enter")

        assert one.process.wait(9) == -15


async def test_sigkill_ends_what_survived_sigterm(tmp_path: Path) -> None:
    with child("SIGTERM") as one:
        async with before(control(tmp_path), shown(one)) as stage:
            await stage.press("k", "e", "enter")
            stage.clock.now += 5.1
            waiting = stage.app.screen
            assert isinstance(waiting, EscalationScreen)
            waiting.tick()
            await stage.pilot.pause()
            waiting.tick()
            await stage.pilot.pause()
            await stage.press("y")

        assert one.process.wait(9) == -9


async def test_a_process_that_ended_while_the_dialog_was_open_is_told_as_gone(tmp_path: Path) -> None:
    with child() as one:
        async with before(control(tmp_path), shown(one)) as stage:
            await stage.press("k")
            one.process.kill()
            one.process.wait(9)
            await stage.press("enter")

            assert f"{one.pid}  gone: it has exited" in said(stage)


async def test_the_next_process_of_the_pid_is_left_alone(tmp_path: Path) -> None:
    with child() as one:
        async with before(control(tmp_path), shown(one, start_ticks=7)) as stage:
            await stage.press("K", "y")

            assert "another process has its pid now" in said(stage)
            assert one.process.poll() is None


async def test_f8_lowers_the_priority_and_tells_what_was_and_what_became(tmp_path: Path) -> None:
    with child() as one:
        async with before(control(tmp_path), shown(one)) as stage:
            await stage.press("f8")
            (message,) = stage.messages

            assert "→" in message
        assert os.getpriority(os.PRIO_PROCESS, one.pid) > os.getpriority(os.PRIO_PROCESS, 0)


async def test_the_io_class_of_now_is_shown_and_proposed_and_the_outcome_tells_what_was(tmp_path: Path) -> None:
    with child() as one:
        async with before(control(tmp_path), shown(one)) as stage:
            await stage.press("d")
            assert isinstance(stage.app.screen, IoClassScreen)
            now = text_on(stage.app.screen)
            await stage.press("down", "down", "down", "enter")
            await stage.pilot.pause()
            (message,) = stage.messages

    assert "now none" in now
    assert f"{one.pid}: none → idle" in message


async def test_the_cpus_of_now_are_shown_and_proposed(tmp_path: Path) -> None:
    with child() as one:
        async with before(control(tmp_path), shown(one)) as stage:
            await stage.press("a")
            assert isinstance(stage.app.screen, AffinityScreen)
            cpus = ranges(tuple(os.sched_getaffinity(one.pid)))

            assert f"now {cpus}" in text_on(stage.app.screen)
            assert stage.app.screen.text == cpus


async def test_what_sigkill_freed_is_told(tmp_path: Path) -> None:
    with child() as one:
        async with before(control(tmp_path), shown(one)) as stage:
            await stage.press("K", "y")
            one.process.wait(9)
            await stage.age(1)
            await stage.deliver(frame(1, ()))
            told = stage.messages

    assert told == ["SIGKILL: 1 process ended, 10.0GiB GPU memory freed"]


async def test_the_outcome_on_a_simulated_box_says_that_it_is_simulated() -> None:
    door = open_control(BackendRequest(demo="training"), frozenset())
    async with before(door, frame(1)) as stage:
        await stage.press("k", "enter")

        assert "SIMULATED SIGTERM: 1 gone" in said(stage)
