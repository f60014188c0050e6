"""Notifications on the screen: what can be waited for, and what happens when it holds."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from app_driver import Stage, staged
from examples import GIB, frame, gpu, process
from msgspec.structs import replace

from gputop.core.model.catalogue import GPU_UTILIZATION, MEMORY_USED
from gputop.core.model.process_id import ProcessId
from gputop.core.model.sample import Job, JobKind
from gputop.core.notification.notification import Notification
from gputop.core.protocol.command import ReadStatus
from gputop.core.settings.settings import Settings
from gputop.machine.inspect.process_status import process_status_of_this_machine
from gputop.ui.screens.dialogs.menu import MenuScreen

BUSY = frame(2, (process(1), process(2, 1)))
FREE = frame((gpu(0, {GPU_UTILIZATION: 0, MEMORY_USED: GIB // 4}), gpu(1)), (process(2, 1),))


class Kept:
    """A notifier that keeps what it should send."""

    def __init__(self, *reasons: str) -> None:
        self.sent: list[Notification] = []
        self.reasons = reasons

    def send(self, notification: Notification, settings: Settings) -> tuple[str, ...]:
        assert settings.notify
        self.sent.append(notification)
        return self.reasons

    def close(self) -> None: ...


def offered(stage: Stage) -> list[str]:
    screen = stage.app.screen
    assert isinstance(screen, MenuScreen)
    return [f"{choice.label} {choice.note}".strip() for choice in screen.choices]


async def choose(stage: Stage, text: str) -> None:
    await stage.press("B")
    at = [label.startswith(text) for label in offered(stage)].index(True)
    await stage.press(*["down"] * at, "enter")


@pytest.fixture
def child() -> "Iterator[subprocess.Popen[bytes]]":
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as running:
        yield running


async def test_without_a_row_the_gpus_are_offered_and_with_one_its_process_and_gpu() -> None:
    async with staged(BUSY) as stage:
        await stage.press("B")
        assert offered(stage) == [
            "any GPU is free", "there is a new finding about any GPU or process", "GPU 0 is free", "GPU 1 is free",
        ]  # fmt: skip

        await stage.press("escape", "down", "B")
        assert offered(stage)[:4] == [
            "process 1 has ended: train.py", "there is a new finding about process 1: train.py", "GPU 0 is free",
            "there is a new finding about GPU 0",
        ]  # fmt: skip


async def test_the_page_of_a_gpu_offers_that_gpu_and_the_process_under_its_cursor() -> None:
    async with staged(BUSY) as stage:
        await stage.press("i", "right", "B")
        about_gpu = ["GPU 1 is free", "there is a new finding about GPU 1"]
        about_any = ["any GPU is free", "there is a new finding about any GPU or process"]
        assert offered(stage) == [*about_gpu, *about_any]

        await stage.press("escape", "down", "B")
        about_process = ["process 2 has ended: train.py", "there is a new finding about process 2: train.py"]
        assert offered(stage) == [*about_process, *about_gpu, *about_any]

        await stage.press("enter")
        await stage.press("escape")
        assert stage.messages[-1] == "gputop notifies you when process 2 has ended: train.py"
        assert "@ " in stage.processes[2]


async def test_the_page_of_a_process_offers_its_end_and_its_gpu() -> None:
    async with staged(BUSY) as stage:
        await stage.press("down", "down", "enter", "B")

        assert offered(stage)[:3] == [
            "process 2 has ended: train.py", "there is a new finding about process 2: train.py", "GPU 1 is free",
        ]  # fmt: skip


async def test_of_a_job_and_of_tagged_processes_the_end_of_all_is_offered() -> None:
    job = Job(key="k", kind=JobKind.TORCH, label="run 7", members=(ProcessId(1, 10), ProcessId(2, 20)))
    async with staged(replace(BUSY, jobs=(job,))) as stage:
        await stage.press("down", "B")
        assert "job of 2 processes has ended: torch run 7" in offered(stage)

        await stage.press("escape", "space", "space", "B")
        assert offered(stage)[0] == "2 processes tagged have ended"


async def test_a_gpu_that_becomes_free_is_told_once_also_while_the_screen_is_paused() -> None:
    kept = Kept()
    async with staged(BUSY, notifier=kept) as stage:
        await choose(stage, "GPU 0 is free")
        assert "@0" in stage.gpus
        await stage.press("Z")
        await stage.deliver(BUSY, FREE, FREE, FREE)

        assert stage.messages.count("GPU 0 is free") == 1
        assert [one.title for one in kept.sent] == ["GPU 0 is free"]
        await stage.press("Z")
        assert "@0" not in stage.gpus


async def test_a_gpu_that_is_free_is_not_waited_for() -> None:
    async with staged(FREE) as stage:
        await choose(stage, "any GPU is free")

        assert stage.messages[-1] == "free already: GPU 0"


async def test_a_screen_that_shows_only_some_processes_does_not_know_which_gpu_is_free() -> None:
    async with staged(BUSY, has_all_processes=False) as stage:
        await choose(stage, "GPU 0 is free")

        assert "only some processes" in stage.messages[-1]


async def test_the_end_of_a_real_process_is_told_and_leaving_its_gpu_is_not(child: "subprocess.Popen[bytes]") -> None:
    real = process(child.pid, start_ticks=start_of(child.pid))
    gone = frame(1, (), time_s=BUSY.time_s + 60)
    async with staged(frame(1, (real,))) as stage:
        await stage.press("down")
        await choose(stage, f"process {child.pid} has ended")
        assert "@ " in stage.processes[1]
        await stage.deliver(gone)
        await answer(stage)
        assert said(stage) == ""

        child.communicate(b"\n")
        await stage.deliver(gone)
        await answer(stage)

        assert said(stage) == f"process {child.pid} has ended: train.py · ran 1h01 · held up to 10.0GiB of GPU memory"


async def test_a_failure_of_a_channel_is_an_error_on_the_screen() -> None:
    async with staged(BUSY, notifier=Kept("no desktop")) as stage:
        await choose(stage, "GPU 0 is free")
        await stage.deliver(BUSY, FREE, FREE)
        while stage.messages[-1] == "GPU 0 is free":
            await stage.pilot.pause(0.01)

        assert stage.messages[-1] == "GPU 0 is free\nnot sent: no desktop"


async def test_a_plugins_source_does_not_know_the_end_of_processes() -> None:
    async with staged(BUSY, source="fleet") as stage:
        await stage.press("down")
        await choose(stage, "process 1 has ended")

        assert "does not report the end" in stage.messages[-1]


def said(stage: Stage) -> str:
    told = [text for text in stage.messages if "has ended" in text and not text.startswith("gputop notifies")]
    return told[-1] if told else ""


async def answer(stage: Stage) -> None:
    """Answer the last question about processes as the sampler does on this machine."""
    (*_, asked) = (one for one in stage.link.sent if isinstance(one, ReadStatus))
    await stage.deliver(process_status_of_this_machine().read(asked))


def start_of(pid: int) -> int:
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19])
