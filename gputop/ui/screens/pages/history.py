"""History page: the plots of a GPU, of several GPUs or of a process, with zoom, pan and a cursor."""

from collections.abc import Mapping, Sequence
from typing import ClassVar, Final

from msgspec.structs import replace

from gputop.core.detection.timeline import Episode
from gputop.core.detection.watchlist import Watchlist
from gputop.core.recording.look import Look
from gputop.core.recording.window import Window
from gputop.ui.input.typed_number import TypedNumber
from gputop.ui.panels.band import cells_of
from gputop.ui.panels.gpu_cards import PLOTS
from gputop.ui.panels.values import short_name
from gputop.ui.render.line import Line
from gputop.ui.screens.pages.history_lines import Topic, history_page
from gputop.ui.screens.pages.page import Page
from gputop.ui.state.signal_followup import Clock
from gputop.ui.state.view import View

_PAN: Final = 0.5


class HistoryScreen(Page):
    """Shows what the view remembers, live or of a recording. ``name``: of the process."""

    TAKES: ClassVar[Mapping[str, str]] = {
        **Page.TAKES, "back": "step_back", "history": "close", "zoom-in": "zoom(-1)", "zoom-out": "zoom(1)",
        "left": "point(-1)", "right": "point(1)", "earlier": "pan(-1)", "later": "pan(1)", "home": "go_to_start",
        "end": "go_to_end", "view-next": "turn(1)", "view-before": "turn(-1)", "focus-gpu": "choose({key})",
        "all-gpus": "choose_all",
    }  # fmt: skip
    is_full = True

    def __init__(self, topic: Topic, view: View, watchlist: Watchlist, *, clock: Clock, name: str = "") -> None:
        super().__init__()
        self.topic = topic
        self._name = name
        self._view = view
        self.look = Look.over(self._whole)
        self._watchlist = watchlist
        self._typed = TypedNumber(clock)

    def follow(self, view: View) -> None:
        """Draw the new values."""
        self._view = view
        self.redraw()

    def page(self, width: int, height: int) -> Sequence[Line]:
        """Return the page."""
        return history_page(self.topic, self.look, self._view, self._episodes(), (width, height))

    def title_line(self) -> str:
        """Return what is shown."""
        topic, gpus = self.topic, [gpu for gpu in self._view.gpus if gpu.uuid in self.topic.gpus]
        if topic.process is not None:
            return f"History · process {topic.process.pid}" + (f" · {self._name}" if self._name else "")
        if topic.plot is None:
            return "History" + "".join(f" · GPU {gpu.index} · {short_name(gpu.name)}" for gpu in gpus[:1])
        return f"History · {PLOTS[topic.plot].metric.label} · GPU {' '.join(str(gpu.index) for gpu in gpus)}"

    def keys_line(self) -> str:
        """Return the keys."""
        name = self.name_of
        is_last, is_comparison = self.topic.plot == len(PLOTS) - 1, self.topic.plot is not None
        turn = "compare GPUs" if not is_comparison else "all plots" if is_last else "next plot"
        keys = [
            f"{name('zoom-in')} {name('zoom-out')} zoom", f"{name('left')} {name('right')} cursor",
            f"{name('earlier')} {name('later')} move", f"{name('view-next')} {turn}",
            f"0-9 add · {name('all-gpus')} all" if is_comparison else "0-9 GPU",
            f"{name('back')} {'back' if self.look.cursor_s is not None else 'close'}",
        ]  # fmt: skip
        return " · ".join(keys)

    def step_back(self) -> None:
        """Remove the cursor and follow the last sample; without a cursor, close."""
        if self.look.cursor_s is None:
            self.close()
        else:
            self._show(replace(self.look, cursor_s=None))

    def zoom(self, step: int) -> None:
        """Show more or less time."""
        self._show(self.look.zoomed(step, self._whole))

    def pan(self, step: int) -> None:
        """Show earlier or later time."""
        self._show(self.look.panned(step * _PAN, self._whole))

    def point(self, step: int) -> None:
        """Move the cursor by a column; the first press sets it on the last sample."""
        self._show(self.look.pointed(step, self._whole, cells_of(self.room[0])))

    def go_to_start(self) -> None:
        """Show the oldest values."""
        self._show(replace(self.look.ending(self._whole.start_s, self._whole), cursor_s=None))

    def go_to_end(self) -> None:
        """Show the latest values, and follow them."""
        self._show(Look(self.look.zoom))

    def turn(self, step: int) -> None:
        """Go through all plots of a GPU, then each plot of several GPUs."""
        gpus = [gpu.uuid for gpu in self._view.gpus]
        if not gpus:
            return
        chosen = [uuid for uuid in gpus if uuid in self.topic.gpus] or gpus[:1]
        stops = [None, *range(len(PLOTS))]
        plot = stops[(stops.index(self.topic.plot) + step) % len(stops)]
        chosen = chosen[:1] if plot is None else chosen
        self.topic = Topic(gpus=tuple(chosen), plot=plot)
        self.redraw()

    def choose(self, digit: int) -> None:
        """Show this GPU; in a comparison add or remove it."""
        by_index = {gpu.index: gpu.uuid for gpu in self._view.gpus}
        uuid = by_index.get(self._typed.add(digit, by_index.__contains__))
        if uuid is None:
            return
        gpus = {uuid}
        if self.topic.plot is not None:
            gpus = set(self.topic.gpus) ^ gpus or gpus
        self.topic = Topic(gpus=tuple(gpus), plot=self.topic.plot)
        self.redraw()

    def choose_all(self) -> None:
        """Show all GPUs in a comparison, or only the first of them again."""
        gpus = tuple(gpu.uuid for gpu in self._view.gpus)
        if gpus and self.topic.process is None:
            plot = self.topic.plot or 0
            self.topic = Topic(gpus=self.topic.gpus[:1] if set(self.topic.gpus) == set(gpus) else gpus, plot=plot)
            self.redraw()

    def _show(self, look: Look) -> None:
        self.look = look
        self.redraw()

    @property
    def _whole(self) -> Window:
        whole = self.topic.times(self._view).window(self.topic.times(self._view).most)
        return whole if whole is not None else Window(0.0, 1.0)

    def _episodes(self) -> list[Episode]:
        """Return the findings of the process, or of the GPUs shown, each once."""
        subjects = self.topic.gpus if self.topic.process is None else (self.topic.process,)
        found = {id(one.finding): one for subject in subjects for one in self._watchlist.episodes_of(subject)}
        return list(found.values())
