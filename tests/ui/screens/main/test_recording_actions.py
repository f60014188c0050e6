"""Recording what is shown, and playing a recording."""

import re
from typing import Any

from examples import frame
from fake_host import FakeHost

from gputop.core.model.sample import Frame
from gputop.core.recording.playback import Playing
from gputop.core.recording.recording import Recording
from gputop.ui.screens.dialogs.ask import AskScreen
from gputop.ui.screens.main.player_actions import PlayerActions
from gputop.ui.screens.main.recording_actions import RecordingActions
from gputop.ui.state.rows import Grouping


class FakeRecorder:
    recording: Recording | None = None
    frames = 0

    def start(self, path: str) -> None:
        self.recording = Recording(path=path)

    def take(self, _: Frame) -> None:
        self.frames += 1

    def stop(self) -> None:
        assert self.recording is not None
        self.recording = Recording(path=self.recording.path, frames=self.frames, is_on=False)


class FakePlayer:
    """Keeps the calls."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, Any]] = []

    def __getattr__(self, name: str) -> Any:
        return lambda *arguments: self.calls.append((name, *arguments))


def test_a_recording_begins_with_the_frame_that_is_shown_and_ends_by_the_same_key() -> None:
    recorder = FakeRecorder()
    host = FakeHost(recorder=recorder)
    recording = RecordingActions(host)
    recording.toggle()
    assert isinstance(host.top, AskScreen)
    assert re.fullmatch(r"\./gputop-node7-\d{8}-\d{6}\.tape", host.top.text)

    host.close(" new.tape ")
    recording.take_frame(frame())
    shown = [host.view.recording]
    recording.toggle()
    recording.update()

    assert [*shown, host.view.recording] == [Recording(path="new.tape"), None]
    assert host.notices == ["recorded 2 frames, 0B, 0s in new.tape"]


def test_a_player_goes_to_a_share_of_the_recording() -> None:
    player: Any = FakePlayer()
    host = FakeHost()
    host.change(playing=Playing(length_s=600.0))
    actions = PlayerActions(host, player)

    actions.go_to_share(0.5)
    actions.go_to_end(1)

    assert player.calls == [("go", 300.0), ("go", 600.0)]


def test_a_player_goes_to_a_place_that_the_user_typed() -> None:
    player: Any = FakePlayer()
    host = FakeHost()
    host.change(playing=Playing(length_s=600.0))
    PlayerActions(host, player).choose_place()

    host.close("50%")

    assert player.calls == [("go", 300.0)]


def test_in_a_tree_the_keys_for_speed_fold() -> None:
    player: Any = FakePlayer()
    host = FakeHost()
    actions = PlayerActions(host, player)
    actions.change_speed(1)
    host.processes.group(Grouping.TREE)

    actions.change_speed(1)

    assert player.calls == [("faster", 1)]
