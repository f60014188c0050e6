"""A recording on the screen, and recording from it."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from app_driver import MIDDLE, SMALL, Clock, FakeLink, Stage, staged, text_of, text_on
from examples import GIB, NOW, frame, gpu, process
from recordings import opened, taped

from gputop.core.model.catalogue import GPU_UTILIZATION, MEMORY_USED
from gputop.core.model.finding import Finding, Subject
from gputop.core.model.finding import Stage as Gravity
from gputop.core.model.sample import Frame
from gputop.core.protocol.command import Command, Inspect
from gputop.core.protocol.link import News
from gputop.core.recording.recording import Recording
from gputop.ui.app import GputopApp
from gputop.ui.options import ViewOptions
from gputop.wire.tape.playback import Playback
from gputop.wire.tape.player import TapePlayer

FOUND = Finding(
    code="leak.process", stage=Gravity.ALARM, subject=Subject(label="4711"), summary="it leaks", since_s=NOW,
    stage_since_s=NOW,
)  # fmt: skip


class HandPlayer(FakeLink):
    """A player without a thread: all that is due comes at once."""

    def __init__(self, raw: bytes, folder: Path, clock: Clock) -> None:
        super().__init__()
        tape = opened(raw, folder)
        self.playback = Playback(tape, clock)
        self._answers = TapePlayer(tape, clock)

    def open(self, receive: Callable[[News], None]) -> None:
        super().open(receive)
        self._answers._receive = receive
        self.pump()

    def send(self, command: Command) -> None:
        super().send(command)
        self._answers.send(command)

    def pump(self) -> None:
        while self.playback.due_s() == 0.0:
            stretch = self.playback.take()
            if stretch is not None and self.receive is not None:
                self.receive(stretch)

    def play(self) -> None:
        self.playback.play()
        self.pump()

    def step(self, frames: int) -> None:
        self.playback.step(frames)
        self.pump()

    def move(self, seconds: float) -> None:
        self.playback.move(seconds)
        self.pump()

    def go(self, at_s: float) -> None:
        self.playback.go(at_s)
        self.pump()

    def faster(self, steps: int) -> None:
        self.playback.faster(steps)
        self.pump()

    def loop(self) -> None:
        self.playback.loop()
        self.pump()

    def find(self) -> None:
        self.playback.find()
        self.pump()

    def taken(self) -> None:
        pass


def frames(count: int = 600) -> list[Frame]:
    return [
        frame(
            (gpu(0, {GPU_UTILIZATION: n % 100, MEMORY_USED: n * GIB // 10}), gpu(1, {GPU_UTILIZATION: 50})),
            (process(4711, 0), process(4712, 1, cpu_percent=n % 90 * 1.0)),
            time_s=NOW + n,
            sequence=n,
            findings=(FOUND,) if 400 <= n < 450 else (),
        )
        for n in range(count)
    ]


RAW = taped(frames())


@asynccontextmanager
async def replayed(folder: Path, size: tuple[int, int] = MIDDLE, **options: Any) -> AsyncIterator[Stage]:
    clock = Clock()
    player = HandPlayer(RAW, folder, clock)
    app = GputopApp(player, ViewOptions(**{"theme": "dark", "player": player, **options}), clock)
    async with app.run_test(size=size) as pilot:
        await pilot.pause()
        yield Stage(app, player, clock, pilot)


def line(stage: Stage) -> str:
    return text_of(stage.app.main.replay.lines)


async def test_a_line_says_where_the_recording_is_and_what_time_it_was(tmp_path: Path) -> None:
    async with replayed(tmp_path) as stage:
        assert line(stage).startswith(" REPLAY  ▶ 1x  0:00 / 9:59 ")
        assert "15 Jan 08:00:00" in line(stage)
        assert "node7" in stage.header


async def test_without_a_recording_there_is_no_such_line() -> None:
    async with staged(frame()) as stage:
        assert not stage.app.main.replay.display
        assert "replay-play" not in {action.id for action in stage.app.keymap.actions}


@pytest.mark.parametrize(
    ("keys", "place"),
    [
        (["right_square_bracket"] * 3, "paused 1x  0:03 /"),
        (["ctrl+end", "left_square_bracket"], "paused 1x  9:58 /"),
        (["greater_than_sign", "shift+right"], "▶ 1x  0:20 /"),
        (["right_parenthesis", "less_than_sign"], "▶ 1x  0:50 /"),
        (["ctrl+end", "left_parenthesis", "ctrl+left"], "paused 1x  7:59 /"),
        (["space"], "paused 1x  0:00 /"),
        (["space", "Z"], "▶ 1x  0:00 /"),
        (["plus", "plus", "minus"], "▶ 2x  0:00 /"),
        (["plus"] * 5, "▶ 32x  0:00 /"),
        (["L"], "▶ 1x loop  0:00 /"),
        (["exclamation_mark"], "paused 1x  6:40 /"),
        (["g", "5", "0", "percent_sign", "enter"], "▶ 1x  4:59 /"),
        (["g", "colon", "escape"], "▶ 1x  0:00 /"),
        (["ctrl+end", "ctrl+home", "space"], "▶ 1x  0:00 /"),
    ],
)
async def test_keys_of_a_recording(keys: list[str], place: str, tmp_path: Path) -> None:
    async with replayed(tmp_path) as stage:
        await stage.press(*keys)

        assert place in line(stage)


async def test_a_place_that_cannot_be_read_is_said_and_can_be_mended(tmp_path: Path) -> None:
    async with replayed(tmp_path) as stage:
        await stage.press("g", "x", "enter")
        assert "not a time of the recording" in text_on(stage.app.screen)
        await stage.press("backspace", "1", "colon", "4", "0", "enter")

        assert "1:40 /" in line(stage)


async def test_time_goes_on_as_it_did(tmp_path: Path) -> None:
    async with replayed(tmp_path) as stage:
        await stage.press("plus", "plus")
        stage.clock.now += 10.0
        stage.link.pump()  # type: ignore[attr-defined]
        await stage.pilot.pause()

        assert "0:40 /" in line(stage)
        assert list(stage.app.view.history.window("GPU-00000000", GPU_UTILIZATION, 3)) == [38.0, 39.0, 40.0]


@pytest.mark.parametrize("keys", [["ctrl+end", "g", "5", "0", "percent_sign", "enter"], ["exclamation_mark"]])
async def test_the_plots_after_a_jump_are_those_of_somebody_who_had_watched(keys: list[str], tmp_path: Path) -> None:
    async with replayed(tmp_path) as stage:
        await stage.press(*keys)
        view = stage.app.view
        assert view.frame is not None
        shown = view.frame.sequence
        length = shown + 1

        window = view.history.window("GPU-00000000", GPU_UTILIZATION, length)
        assert list(window) == [float(n % 100) for n in range(length)]
        assert view.history.span_s(length, 1.0) == length
        assert view.tracks.track(view.frame.processes[1].id).cpu.count == shown // 2 + 1


async def test_a_pause_is_no_silence_of_a_sampler(tmp_path: Path) -> None:
    async with replayed(tmp_path) as stage:
        await stage.press("space")
        await stage.age(3600.0)

        assert "ago" not in stage.header


@pytest.mark.parametrize("key", ["f9", "K", "f7", "f8", "r", "d", "a"])
async def test_nothing_on_a_recording_can_be_changed_and_that_is_said(key: str, tmp_path: Path) -> None:
    async with replayed(tmp_path) as stage:
        await stage.press("down", key)

        assert stage.link.sent == []
        assert stage.app.screen is stage.app.main
        assert any("a recording cannot be changed" in notice for notice in stage.messages)


async def test_the_footer_is_that_of_a_recording_with_refused_keys_in_brackets(tmp_path: Path) -> None:
    async with replayed(tmp_path, size=(200, 40)) as stage:
        assert stage.footer.startswith(" Space Play  ] Step")
        assert "(F9 Signal)" in stage.footer
        assert "Pause" not in stage.footer


async def test_a_process_of_a_recording_shows_what_the_frames_tell(tmp_path: Path) -> None:
    async with replayed(tmp_path) as stage:
        await stage.press("down", "enter")
        await stage.pilot.pause()
        page = text_on(stage.app.screen)

        assert isinstance(stage.link.sent[0], Inspect)
        assert "this is a recording" in page
        assert "4711" in page


async def test_a_click_on_the_bar_goes_there(tmp_path: Path) -> None:
    async with replayed(tmp_path, size=(160, 40)) as stage:
        first, cells = stage.app.main.replay._bar
        await stage.pilot.click("ReplayPanel", offset=(first + cells // 2, 0))
        await stage.pilot.pause()

        assert 250 < stage.app.view.frame.sequence < 350  # type: ignore[union-attr]


# --- recording -----------------------------------------------------------------------------------------------------
class FakeRecorder:
    """Keeps what it is told."""

    def __init__(self, problem: str = "") -> None:
        self.recording: Recording | None = None
        self.taken: list[int] = []
        self._problem = problem

    def start(self, path: str) -> None:
        self.recording = Recording(path=path, is_on=not self._problem, problem=self._problem)

    def take(self, frame: Frame) -> None:
        if self.recording is not None and self.recording.is_on:
            self.taken.append(frame.sequence)
            self.recording = Recording(path=self.recording.path, frames=len(self.taken), bytes=3000, seconds=65.0)

    def stop(self) -> None:
        assert self.recording is not None
        self.recording = Recording(path=self.recording.path, frames=len(self.taken), is_on=False)


async def test_a_key_records_what_is_shown_from_now_on_and_the_header_says_so() -> None:
    recorder = FakeRecorder()
    async with staged(frame(sequence=1), recorder=recorder) as stage:
        await stage.press("ctrl+o", "enter")
        await stage.deliver(frame(sequence=2))
        assert "REC 2.9KiB 1m05" in stage.header
        assert recorder.taken == [1, 2]
        assert recorder.recording is not None
        assert recorder.recording.path.startswith("./gputop-node7-")

        await stage.press("ctrl+o")
        await stage.deliver(frame(sequence=3))
        assert "REC" not in stage.header
        assert recorder.taken == [1, 2]
        assert any("2 frames" in notice for notice in stage.messages)


async def test_another_file_can_be_named_and_esc_records_nothing() -> None:
    recorder = FakeRecorder()
    async with staged(frame(sequence=1), recorder=recorder) as stage:
        await stage.press("ctrl+o", "escape")
        assert recorder.recording is None
        await stage.press("ctrl+o", "ctrl+u", "enter", "x", "enter")

        assert recorder.recording == Recording(path="x", frames=1, bytes=3000, seconds=65.0)


async def test_a_recording_that_stops_is_told_and_the_mark_goes() -> None:
    async with staged(frame(), recorder=FakeRecorder("the disk is full")) as stage:
        await stage.press("ctrl+o", "enter")

        assert "REC" not in stage.header
        assert any("the disk is full" in notice for notice in stage.messages)


@pytest.mark.parametrize("size", [SMALL, MIDDLE])
def test_what_a_recording_looks_like(snap_compare: Callable[..., bool], size: tuple[int, int], tmp_path: Path) -> None:
    player = HandPlayer(taped(frames(300)), tmp_path, Clock())
    app = GputopApp(player, ViewOptions(theme="dark", player=player), clock=lambda: 100.0)

    assert snap_compare(app, terminal_size=size, press=["space", *(["right_parenthesis"] * 4), "plus"])


async def test_the_mig_page_of_a_recording_says_that_it_is_not_in_it(tmp_path: Path) -> None:
    async with replayed(tmp_path) as stage:
        await stage.press("p")
        await stage.pilot.pause()
        page = text_on(stage.app.screen)

        assert "it does not contain the MIG layouts" in page
