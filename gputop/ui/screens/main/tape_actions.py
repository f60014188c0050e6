"""What the main screen does with recordings: it makes them, and it plays them."""

import os
import time
from collections.abc import Callable
from typing import Final

from gputop.core.model.sample import Frame
from gputop.core.protocol.command import Command
from gputop.core.recording.playback import PLACES, place
from gputop.core.recording.recording import Recording
from gputop.core.text.text import clean
from gputop.ui.input.keymap import Keymap
from gputop.ui.options import ViewOptions
from gputop.ui.panels.tape import TapePanel
from gputop.ui.screens.main.table_actions import FindingScreen
from gputop.ui.state.view_store import ViewStore

_HINT: Final = "A new file. It holds command lines and users; only you may read it."


class TapingScreen(FindingScreen):
    """The part of the main screen that has to do with tapes."""

    def __init__(
        self, options: ViewOptions, reception: ViewStore, ask: Callable[[Command], None], keys: Keymap
    ) -> None:
        super().__init__(options, reception, ask, keys)
        self.tape = TapePanel(is_ascii=options.is_ascii)
        self._told: Recording | None = None

    # --- making one ------------------------------------------------------------------------------------------------
    def record(self, frame: Frame) -> None:
        """Hand a frame to the recording, if one runs."""
        if self._options.recorder is not None:
            self._options.recorder.take(frame)
            self.follow_recording()

    def follow_recording(self) -> None:
        """Take note of how far the recording is; say how it ended."""
        recorder = self._options.recorder
        recording = None if recorder is None else recorder.recording
        if recording is None or recording is self._told:
            return
        self._told = recording
        self._reception.change(recording=recording if recording.is_on else None)
        if recording.problem:
            self.notify(recording.problem, title="recording", severity="error", markup=False, timeout=20)
        elif not recording.is_on:
            self.notify(f"{recording.text} in {recording.path}", title="recorded", markup=False, timeout=8)

    def action_record(self) -> None:
        """Begin a recording, or end the one that runs."""
        from gputop.ui.screens.dialogs.ask import AskScreen

        recorder, frame = self._options.recorder, self._view.frame
        if recorder is None or frame is None:
            self.notify("there is nothing to record yet", markup=False, timeout=2)
        elif recorder.recording is not None and recorder.recording.is_on:
            recorder.stop()
        else:
            name = f"gputop-{frame.host.name}-{time.strftime('%Y%m%d-%H%M%S')}.tape".replace(os.sep, "-")
            path = os.path.join(os.curdir, clean(name))
            dialog = AskScreen("Record to", path, _HINT, _wrong_file, is_ascii=self._options.is_ascii)
            self.app.push_screen(dialog, self._begin)

    def _begin(self, path: str | None) -> None:
        if path is not None and self._options.recorder is not None:
            self._options.recorder.start(path.strip())
            if self._view.frame is not None:
                self.record(self._view.frame)
            self.show()

    # --- playing one -----------------------------------------------------------------------------------------------
    def action_tape_play(self) -> None:
        """Go on, or hold."""
        if self._options.player is not None:
            self._options.player.play()

    def action_tape_step(self, frames: int) -> None:
        """Hold, a frame on or back."""
        if self._options.player is not None:
            self._options.player.step(frames)

    def action_tape_move(self, seconds: int) -> None:
        """Go on from later or earlier."""
        if self._options.player is not None:
            self._options.player.move(float(seconds))

    def action_tape_end(self, is_last: int) -> None:
        """Go to the beginning or the end."""
        if self._options.player is not None and self._view.playing is not None:
            self._options.player.go(self._view.playing.length_s if is_last else 0.0)

    def action_tape_speed(self, step: int) -> None:
        """Play slower or faster; in a tree or group unfold or fold."""
        if self._options.player is not None and not self.processes.fold(is_open=step > 0):
            self._options.player.faster(step)

    def action_tape_loop(self) -> None:
        """Begin again at the end, or do not."""
        if self._options.player is not None:
            self._options.player.loop()

    def action_tape_find(self) -> None:
        """Go to the next finding."""
        if self._options.player is not None:
            self._options.player.find()

    def action_tape_go(self) -> None:
        """Ask for a place."""
        from gputop.ui.screens.dialogs.ask import AskScreen

        dialog = AskScreen("Go to", "", PLACES, self._wrong_place, is_ascii=self._options.is_ascii)
        self.app.push_screen(dialog, self._go)

    def on_tape_panel_picked(self, message: TapePanel.Picked) -> None:
        """Go to the place that was pointed at."""
        if self._options.player is not None and self._view.playing is not None:
            self._options.player.go(self._view.playing.length_s * message.share)

    def _go(self, text: str | None) -> None:
        at_s = None if text is None else self._place(text)
        if at_s is not None and self._options.player is not None:
            self._options.player.go(at_s)

    def _wrong_place(self, text: str) -> str:
        return "" if self._place(text) is not None else f"no place on a tape: {PLACES}"

    def _place(self, text: str) -> float | None:
        playing, frame = self._view.playing, self._view.frame
        if playing is None or frame is None:
            return None
        now = time.localtime(frame.time_s)
        return place(text, playing, now.tm_hour * 3600.0 + now.tm_min * 60 + now.tm_sec)


def _wrong_file(path: str) -> str:
    """Say what is wrong with a name; what is wrong with the file the recorder finds out, which may wait for a disk."""
    return "" if path.strip() else "name a file"
