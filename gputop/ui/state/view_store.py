"""Builds the view from frames and other news of the link."""

from typing import Any, Final

from msgspec.structs import replace

from gputop.core.detection.watchlist import Standing, Watchlist
from gputop.core.model.sample import Frame, Gpu, GpuState
from gputop.core.protocol.link import Delay, Down
from gputop.core.query.free import vacancies
from gputop.core.recording.gpu_history import History
from gputop.core.recording.playback import Stretch
from gputop.ui.options import ViewOptions
from gputop.ui.state.plots import Plots
from gputop.ui.state.signal_followup import Clock
from gputop.ui.state.view import PLOTTED, View

_LATE: Final = 2.0  # a frame is late after so many intervals
_USUAL_S: Final = 1.0  # from one frame to the next


class ViewStore:
    """Holds the view. ``newest``: the last frame that came, which a held picture does not show.

    ``clock``: seconds that only grow.
    """

    def __init__(self, options: ViewOptions, clock: Clock) -> None:
        history = History(PLOTTED)
        self._known: dict[str, Gpu] = {}
        self._has_all_processes = options.has_all_processes
        self.clock = clock
        self.watchlist = Watchlist()
        self.has_new_alarm = False
        self._heard_s = self._lost_s = clock()
        self._delay: Delay | None = None
        self.newest: Frame | None = None
        plots = Plots(history, is_ascii=options.is_ascii)
        self.view = View(
            history=history, plots=plots, known=self._known, density=options.density, remote=options.remote
        )

    def take(self, frame: Frame) -> None:
        """Remember a frame, and show it unless the screen is paused."""
        self.newest, self._heard_s = frame, self.clock()
        self.has_new_alarm = self._remember(frame)
        self.change(down=None, age_s=None, retry_s=None, interval_s=frame.interval_s)
        self.release()

    def play(self, stretch: Stretch) -> None:
        """Remember frames of a recording, and show the last one."""
        if stretch.is_jump:
            self._known.clear()
            self.view.history.forget()
            self.view.tracks.forget()
            self.view.plots.forget()
            self.watchlist.forget()
        for frame in stretch.frames:
            self._remember(frame)
        self.newest = stretch.shown or self.newest
        interval_s = self.newest.interval_s if self.newest is not None else self.view.interval_s
        self.change(playing=stretch.playing, interval_s=interval_s)
        self._show()

    def lose(self, down: Down) -> None:
        """Show that the link is down, and why."""
        self._lost_s = self.clock()
        self.change(down=down, retry_s=down.retry_s)

    def delay(self, delay: Delay) -> None:
        """Remember how late a remote host is shown."""
        self._delay = delay
        self.change(delay=delay)

    def release(self) -> None:
        """Show the newest frame, unless the screen is paused."""
        if not self.view.is_paused:
            self._show()

    def judge_again(self) -> None:
        """Judge the shown frame again, after a finding was muted or unmuted."""
        if self.view.frame is not None:
            self.change(standing=self.watchlist.standing(self.view.frame))

    def _remember(self, frame: Frame) -> bool:
        """Add a frame to what the view remembers; return whether it raises an alarm."""
        self._known.update((gpu.uuid, gpu) for gpu in frame.gpus if gpu.state is GpuState.OK)
        self.view.history.remember(frame)
        for uuid in self._known.keys() - self.view.history.names():
            del self._known[uuid]
        self.view.tracks.remember(frame)
        return self.watchlist.take(frame)

    def _show(self) -> None:
        frame = self.newest
        if frame is None:
            self.change(frame=None, standing=Standing(), vacancies=None)
            return
        found = vacancies(frame, frame) if self._has_all_processes else None
        self.change(frame=frame, standing=self.watchlist.standing(frame), vacancies=found)

    def change(self, **changes: Any) -> None:  # noqa: ANN401 - the fields of View
        """Change fields of the view."""
        self.view = replace(self.view, **changes)

    def grow_old(self) -> bool:
        """Update the age of the frame; return whether that changes the view."""
        before, now_s = self.view, self.clock()
        since_s = now_s - self._heard_s
        if before.down is not None:
            retry_s = before.down.retry_s
            self.change(retry_s=None if retry_s is None else max(0.0, round(retry_s - (now_s - self._lost_s))))
        if before.playing is None and since_s > _LATE * before.interval_s + 0.5:
            self.change(age_s=float(round(since_s)))
        if self._delay is not None and since_s >= _USUAL_S:
            self.change(delay=replace(self._delay, age_s=self._delay.age_s + since_s))
        return self.view != before
