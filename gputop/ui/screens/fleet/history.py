"""History page of the fleet: the curves of a host, a GPU, a user, a job or a group, from minutes to weeks."""

import time
from collections.abc import Callable, Mapping, Sequence
from math import inf
from typing import ClassVar, Final

from textual.message import Message

from gputop.core.fleet.history import FLEET, GPU, HOST, MEASURES, FleetCurve, FleetHistory, Stretch, Subject, stretch_of
from gputop.core.recording.look import Look, column_of
from gputop.core.recording.window import Times, Window
from gputop.core.text.fit import fit
from gputop.ui.input.typed_number import TypedNumber
from gputop.ui.panels.band import LABEL, cells_of
from gputop.ui.render.line import BLANK, Line
from gputop.ui.screens.pages.history_page import HistoryPage
from gputop.ui.screens.pages.history_plots import Curve, Picture, axis, highest, plots, seconds_text

_HOUR_S: Final = 3600.0
_MOST_S: Final = 28 * 24 * _HOUR_S
_SPANS: Final = (900.0, _HOUR_S, 6 * _HOUR_S, 24 * _HOUR_S, 7 * 24 * _HOUR_S, inf)
_MOST_PROBLEMS: Final = 3


class HistoryWanted(Message):
    """The page needs values."""

    def __init__(self, subject: Subject, stretch: Stretch) -> None:
        super().__init__()
        self.subject, self.stretch = subject, stretch


class FleetHistoryPage(HistoryPage):
    """Shows what the servers remember. ``gpus``: indices of a host's GPUs, that a digit chooses."""

    TAKES: ClassVar[Mapping[str, str]] = {
        **HistoryPage.TAKES, "focus-gpu": "choose({key})", "all-gpus": "choose_all", "read-now": "ask",
    }  # fmt: skip

    def __init__(
        self,
        subject: Subject,
        gpus: Sequence[str] = (),
        *,
        is_ascii: bool = False,
        wall: Callable[[], float] = time.time,
    ) -> None:
        super().__init__()
        self._first = self.subject = subject
        self._gpus = tuple(gpus)
        self._is_ascii = is_ascii
        self._wall = wall
        self._now = wall()
        self._typed = TypedNumber(time.monotonic)
        self._asked: tuple[Subject, Stretch] | None = None
        self.history: FleetHistory | None = None
        self.look = Look(1, spans=_SPANS)

    @property
    def whole(self) -> Window:
        """Return four weeks up to now."""
        return Window(self._now - _MOST_S, self._now)

    def show_history(self, history: FleetHistory) -> None:
        """Draw an answer, unless the user has gone on."""
        if history.subject == self.subject:
            self.history = history
            self.redraw()

    def follow_time(self) -> None:
        """Ask for the values since, unless the user looks at the past."""
        if self.look.end_s is None:
            self._now = self._wall()
            self.redraw()

    def ask(self) -> None:
        """Ask again."""
        self._asked = None
        self._now = self._wall()
        self.redraw()

    def choose(self, digit: int) -> None:
        """Show a GPU of the host."""
        number = str(self._typed.add(digit, lambda one: str(one) in self._gpus))
        if self._first.kind == HOST and number in self._gpus:
            first = self._first
            self.subject = Subject(
                kind=GPU, name=first.name, server=first.server, instances=first.instances, gpu=number
            )
            self.redraw()

    def choose_all(self) -> None:
        """Show the whole host or group again; from there, the whole fleet."""
        fleet = Subject(kind=FLEET, name="all hosts", server=self._first.server)
        self.subject = fleet if self.subject == self._first else self._first
        self.redraw()

    def title_line(self) -> str:
        """Return the subject."""
        subject = self.subject
        gpu = f" · GPU {subject.gpu}" if subject.gpu else ""
        kind = "" if subject.kind in {FLEET, GPU} else f"{subject.kind} "
        return f"History · {kind}{subject.name}{gpu} · {subject.server}"

    def keys_line(self) -> str:
        """Return the keys."""
        digits = ["0-9 GPU"] if self._first.kind == HOST else []
        there = "all hosts" if self.subject == self._first else self._first.name
        return " · ".join([*self.look_keys(), *digits, f"{self.name_of('all-gpus')} {there}", self.back_key()])

    def page(self, width: int, height: int) -> Sequence[Line]:
        """Return the plots of what is known, and ask for what is missing."""
        cells = cells_of(width)
        window = self.look.window(self.whole, cells)
        stretch = stretch_of(window.start_s, min(window.end_s, self._now), 2 * cells)
        if self._asked != (self.subject, stretch):
            self._asked = self.subject, stretch
            self.post_message(HistoryWanted(self.subject, stretch))
        held = self.history if self.history is not None and self.history.subject == self.subject else None
        cursor = None if self.look.cursor_s is None else column_of(self.look.cursor_s, window, cells)
        lines = [self._span_line(window), self._known(held, stretch), *self._problems(held), BLANK]
        if held is None:
            return lines
        picture = Picture(_times(held), window, (cells, height - len(lines) - 1), cursor)
        curves = [_curve(curve) for curve in held.curves]
        return [*lines, *plots(curves, picture, is_ascii=self._is_ascii), axis(window, cells, cursor)]

    def _span_line(self, window: Window) -> Line:
        at_s = self.look.cursor_s
        at = f"at {_moment(at_s)}" if at_s is not None else f"now {_moment(self._now)}"
        text = f"  {_moment(window.start_s)} to {_moment(min(window.end_s, self._now))}"
        return Line(((fit(at, LABEL + 2), "accent"), (text, "muted")))

    def _known(self, held: FleetHistory | None, stretch: Stretch) -> Line:
        if held is None:
            return Line((("asking …", "muted"),))
        step = seconds_text(held.stretch.step_s)
        text = f"each value: mean of {step}" if held.stretch.is_mean else f"a value every {step}"
        return Line(((text, "muted"), ("  asking …" if held.stretch != stretch else "", "muted")))

    @staticmethod
    def _problems(held: FleetHistory | None) -> list[Line]:
        return [Line(((text, "warm"),)) for text in (held.problems[:_MOST_PROBLEMS] if held else ())]


def _curve(curve: FleetCurve) -> Curve:
    measure = MEASURES[curve.key]
    top = measure.top or (highest(curve.values) or 0.0) * 1.1 or 1.0
    return Curve(measure.name, curve.values, measure.unit, measure.ink, top)


def _times(history: FleetHistory) -> Times:
    times = Times(max(1, len(history.stretch.times)))
    for time_s in history.stretch.times:
        times.add(time_s, history.stretch.step_s)
    return times


def _moment(time_s: float) -> str:
    return time.strftime("%d %b %H:%M", time.localtime(time_s))
