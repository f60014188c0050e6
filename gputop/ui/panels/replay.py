"""Playback line of a recording: position, speed and recorded time."""

import time

from textual import events

from gputop.core.model.sample import Frame
from gputop.core.recording.playback import Playing, place_text, speed_text
from gputop.ui.render.line import Line, Span, Spans, cut, length
from gputop.ui.render.line_widget import FastLines
from gputop.ui.state.view import View

_LEAST_BAR = 10


class ReplayPanel(FastLines):
    """Shows the line; a click on its bar goes there."""

    _bar = (0, 0)

    def show(self, view: View) -> None:
        """Draw the line while a recording plays."""
        self.display = view.playing is not None
        if view.playing is not None:
            line, self._bar = replay_line(view.playing, view.frame, self.size.width or self.screen.size.width)
            self.draw((line,))

    async def on_click(self, event: events.Click) -> None:
        """Go to the position under the pointer."""
        first, cells = self._bar
        if first <= event.x < first + cells:
            await self.app.run_action(f"replay.go_to_share({(event.x - first) / max(1, cells - 1)})")


def replay_line(playing: Playing, frame: Frame | None, width: int) -> tuple[Line, tuple[int, int]]:
    """Return the line, and the first cell and the length of its bar; a narrow screen has no bar."""
    left: Spans = [(" REPLAY ", "badge"), (f" {_state(playing)} ", "title"), (f" {_place(playing)} ", "text")]
    right = _right(playing, frame)
    cells = width - length(left) - length(right) - 1
    if cells < _LEAST_BAR:
        return Line(tuple(cut([*left, *right], width))), (0, 0)
    share = playing.at_s / playing.length_s if playing.length_s else 1.0
    return Line((*left, *_bar(share, cells), (" ", "text"), *right)), (length(left), cells)


def _state(playing: Playing) -> str:
    state = "…" if playing.is_seeking else "▶" if playing.is_playing else "paused"
    return f"{state} {speed_text(playing.speed)}{' loop' if playing.loops else ''}"


def _place(playing: Playing) -> str:
    return f"{place_text(playing.at_s)} / {place_text(playing.length_s)}"


def _bar(share: float, cells: int) -> tuple[Span, Span]:
    full = round(max(0.0, min(1.0, share)) * cells)
    return ("━" * full, "accent"), ("─" * (cells - full), "track")


def _right(playing: Playing, frame: Frame | None) -> Spans:
    note: Spans = [(f" {playing.note} ", "warm")] if playing.note else []
    if playing.is_seeking:
        note = [(" looking for a finding ", "warm")]
    clock = "" if frame is None else time.strftime(" %a %d %b %H:%M:%S ", time.localtime(frame.time_s))
    return [*note, (clock, "muted")]
