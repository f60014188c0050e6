"""Asks a panel of a plugin for its lines in a thread of its own, so that no key ever waits for it."""

import threading
from collections.abc import Callable
from typing import Final

from msgspec import Struct

from gputop.core.plugins.panel import Panel, Shown, Written, written
from gputop.core.text.text import clean
from gputop.ui.state.signal_followup import Clock

LATE_S: Final = 3.0
_MOST_WORDS: Final = 200


class Told(Struct, frozen=True):
    """What a panel last said. ``problem``: why it was shut off; ``is_old``: it has not answered for a while."""

    panel: Panel
    lines: tuple[Written, ...] = ()
    problem: str = ""
    is_old: bool = False


class Asked:
    """One panel. ``news`` is called from its thread when there is something else to draw.

    ``ended``: is told, from the same thread, with why it was shut off, or with nothing when it works.
    """

    def __init__(
        self, panel: Panel, news: Callable[[], object], clock: Clock, ended: Callable[[str, str], None]
    ) -> None:
        self.panel = panel
        self._news = news
        self._clock = clock
        self._ended = ended
        self._gate = threading.Condition()
        self._question: Shown | None = None
        self._asked_s: float | None = None
        self._busy_since: float | None = None
        self._lines: tuple[Written, ...] = ()
        self._problem = ""
        self._thread: threading.Thread | None = None

    def ask(self, question: Shown) -> None:
        """Ask, unless it is too early; a question that still waits is replaced. Never blocks."""
        now = self._clock()
        if self._problem or (self._asked_s is not None and now - self._asked_s < self.panel.every_s):
            return
        with self._gate:
            self._question, self._asked_s = question, now
            self._gate.notify()
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name=f"panel {self.panel.key}", daemon=True)
            self._thread.start()

    @property
    def told(self) -> Told:
        """What it last said."""
        since = self._busy_since
        is_old = since is not None and self._clock() - since > LATE_S
        return Told(self.panel, self._lines, self._problem, is_old)

    def _run(self) -> None:
        is_known = False
        while not self._problem:
            question = self._next()
            try:
                lines = written(self.panel.lines(question))
            except (Exception, SystemExit) as error:  # noqa: BLE001 - this is the border: whatever a plugin does
                self._problem, lines = _why(error), ()
            self._busy_since, before, self._lines = None, self._lines, lines
            if self._problem or not is_known:
                is_known = True
                self._ended(self.panel.key, self._problem)
            if self._problem or lines != before:
                self._news()

    def _next(self) -> Shown:
        with self._gate:
            while self._question is None:
                self._gate.wait()
            question, self._question = self._question, None
            self._busy_since = self._clock()
        return question


def _why(error: BaseException) -> str:
    text = clean(str(error))[:_MOST_WORDS]
    return f"{type(error).__name__}: {text}" if text else type(error).__name__
