"""Actions that play a recording."""

import time

from gputop.core.protocol.player import Player
from gputop.core.recording.playback import PLACES, place
from gputop.ui.screens.main.host import ScreenHost


class PlayerActions:
    """Moves the player by places and in folded tables; without a recording there is none, and no key leads here."""

    def __init__(self, host: ScreenHost, player: Player) -> None:
        self._host = host
        self._player = player

    def go_to_end(self, is_last: int) -> None:
        """Go to the start or the end."""
        self.go_to_share(1.0 if is_last else 0.0)

    def go_to_share(self, share: float) -> None:
        """Go to a share of the whole recording, from 0 to 1."""
        if self._host.view.playing is not None:
            self._player.go(self._host.view.playing.length_s * share)

    def change_speed(self, step: int) -> None:
        """Play slower or faster; in a tree or in groups expand or collapse."""
        if not self._host.processes.fold(is_open=step > 0):
            self._player.faster(step)

    def choose_place(self) -> None:
        """Open the dialog for a time to go to."""
        from gputop.ui.screens.dialogs.ask import AskScreen

        dialog = AskScreen("Go to", "", PLACES, self._wrong_place)
        self._host.push(dialog, self._go)

    def _go(self, text: str | None) -> None:
        at_s = None if text is None else self._place(text)
        if at_s is not None:
            self._player.go(at_s)

    def _wrong_place(self, text: str) -> str:
        return "" if self._place(text) is not None else f"not a time of the recording: {PLACES}"

    def _place(self, text: str) -> float | None:
        playing, frame = self._host.view.playing, self._host.view.frame
        if playing is None or frame is None:
            return None
        now = time.localtime(frame.time_s)
        return place(text, playing, now.tm_hour * 3600.0 + now.tm_min * 60 + now.tm_sec)
