"""History page: the plots of a GPU, of several GPUs or of a process, with zoom, pan and a cursor."""

from collections.abc import Mapping, Sequence
from typing import ClassVar

from gputop.core.detection.timeline import Episode
from gputop.core.detection.watchlist import Watchlist
from gputop.core.recording.look import Look
from gputop.core.recording.window import Window
from gputop.ui.input.typed_number import TypedNumber
from gputop.ui.panels.gpu_cards import PLOTS
from gputop.ui.panels.values import short_name
from gputop.ui.render.line import Line
from gputop.ui.screens.pages.history_lines import Topic, history_page
from gputop.ui.screens.pages.history_page import HistoryPage
from gputop.ui.state.signal_followup import Clock
from gputop.ui.state.view import View


class HistoryScreen(HistoryPage):
    """Shows what the view remembers, live or of a recording. ``name``: of the process."""

    TAKES: ClassVar[Mapping[str, str]] = {
        **HistoryPage.TAKES, "view-next": "turn(1)", "view-before": "turn(-1)", "focus-gpu": "choose({key})",
        "all-gpus": "choose_all",
    }  # fmt: skip

    def __init__(self, topic: Topic, view: View, watchlist: Watchlist, *, clock: Clock, name: str = "") -> None:
        super().__init__()
        self.topic = topic
        self._name = name
        self._view = view
        self.look = Look.over(self.whole)
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
            *self.look_keys(), f"{name('view-next')} {turn}",
            f"0-9 add · {name('all-gpus')} all" if is_comparison else "0-9 GPU",
            self.back_key(),
        ]  # fmt: skip
        return " · ".join(keys)

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

    @property
    def whole(self) -> Window:
        """Return the time of which values are kept."""
        whole = self.topic.times(self._view).window(self.topic.times(self._view).most)
        return whole if whole is not None else Window(0.0, 1.0)

    def _episodes(self) -> list[Episode]:
        """Return the findings of the process, or of the GPUs shown, each once."""
        subjects = self.topic.gpus if self.topic.process is None else (self.topic.process,)
        found = {id(one.finding): one for subject in subjects for one in self._watchlist.episodes_of(subject)}
        return list(found.values())
