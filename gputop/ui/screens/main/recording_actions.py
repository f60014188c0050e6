"""The action that starts and stops a recording, and the recording itself while it runs."""

import os
import time
from typing import Final

from gputop.core.model.sample import Frame
from gputop.core.recording.recording import Recording
from gputop.core.text.text import clean
from gputop.ui.screens.main.host import ScreenHost

_HINT: Final = "A new file, which only you can read: it contains command lines and user names."


class RecordingActions:
    """Passes frames to the recorder, and shows its progress."""

    def __init__(self, host: ScreenHost) -> None:
        self._host = host
        self._recorder = host.options.recorder
        self._shown: Recording | None = None

    def toggle(self) -> None:
        """Start a recording, or stop the one that runs."""
        from gputop.ui.screens.dialogs.ask import AskScreen

        recorder, frame = self._recorder, self._host.view.frame
        if recorder is None:
            self._host.notify("this screen cannot record: gputop record does, on the host", severity="warning")
        elif frame is None:
            self._host.notify("nothing to record yet: no frame has arrived", timeout=2)
        elif recorder.recording is not None and recorder.recording.is_on:
            recorder.stop()
        else:
            dialog = AskScreen("Record to", _new_path(frame.host.name), _HINT, _wrong_path)
            self._host.push(dialog, self._start)

    def take_frame(self, frame: Frame) -> None:
        """Pass a frame to the recording, if one runs."""
        if self._recorder is not None:
            self._recorder.take(frame)
            self.update()

    def update(self) -> None:
        """Show the state of the recording, and how it ended."""
        recording = None if self._recorder is None else self._recorder.recording
        if recording is None or recording is self._shown:
            return
        self._shown = recording
        self._host.store.change(recording=recording if recording.is_on else None)
        if recording.problem:
            self._host.notify(f"recording: {recording.problem}", severity="error", timeout=20)
        elif not recording.is_on:
            self._host.notify(f"recorded {recording.text} in {recording.path}", timeout=8)

    def _start(self, path: str | None) -> None:
        if path is not None and self._recorder is not None:
            self._recorder.start(path.strip())
            if self._host.view.frame is not None:
                self.take_frame(self._host.view.frame)
            self._host.draw()


def _new_path(host: str) -> str:
    name = f"gputop-{host}-{time.strftime('%Y%m%d-%H%M%S')}.tape".replace(os.sep, "-")
    return os.path.join(os.curdir, clean(name))


def _wrong_path(path: str) -> str:
    """Return why a name cannot be used; the recorder checks the file itself, since a disk may be slow."""
    return "" if path.strip() else "enter a file name"
