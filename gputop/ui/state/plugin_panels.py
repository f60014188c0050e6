"""Panels of plugins: each makes its lines in a thread of its own, so that no key waits for it."""

import threading
from collections.abc import Callable
from typing import Final

from msgspec import Struct

from gputop.core.plugins.panel import Panel, Shown, Written, written
from gputop.core.text.text import clean
from gputop.ui.state.signal_followup import Clock

LATE_S: Final = 3.0
_MOST_WORDS: Final = 200


class PanelState(Struct, frozen=True):
    """The latest lines of a panel. ``problem``: why it was shut off; ``is_old``: its next lines are overdue."""

    panel: Panel
    lines: tuple[Written, ...] = ()
    problem: str = ""
    is_old: bool = False


class PanelWorker:
    """Runs one panel. ``changed`` is called from its thread when its lines have changed.

    ``ended`` gets, from the same thread, why the panel was shut off, or an empty text when it works.
    """

    def __init__(
        self, panel: Panel, changed: Callable[[], object], clock: Clock, ended: Callable[[str, str], None]
    ) -> None:
        self.panel = panel
        self._changed = changed
        self._clock = clock
        self._ended = ended
        self._gate = threading.Condition()
        self._shown: Shown | None = None
        self._requested_s: float | None = None
        self._busy_since: float | None = None
        self._lines: tuple[Written, ...] = ()
        self._problem = ""
        self._thread: threading.Thread | None = None

    def request(self, shown: Shown) -> None:
        """Request lines, unless it is too early; a later request replaces one that still waits. Never blocks."""
        now = self._clock()
        if self._problem or (self._requested_s is not None and now - self._requested_s < self.panel.every_s):
            return
        with self._gate:
            self._shown, self._requested_s = shown, now
            self._gate.notify()
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name=f"panel {self.panel.key}", daemon=True)
            self._thread.start()

    @property
    def state(self) -> PanelState:
        """The latest lines."""
        since = self._busy_since
        is_old = since is not None and self._clock() - since > LATE_S
        return PanelState(self.panel, self._lines, self._problem, is_old)

    def _run(self) -> None:
        is_known = False
        while not self._problem:
            shown = self._next()
            try:
                lines = written(self.panel.lines(shown))
            except (Exception, SystemExit) as error:  # noqa: BLE001 - the border to plugins
                self._problem, lines = _why(error), ()
            self._busy_since, before, self._lines = None, self._lines, lines
            if self._problem or not is_known:
                is_known = True
                self._ended(self.panel.key, self._problem)
            if self._problem or lines != before:
                self._changed()

    def _next(self) -> Shown:
        with self._gate:
            while self._shown is None:
                self._gate.wait()
            shown, self._shown = self._shown, None
            self._busy_since = self._clock()
        return shown


def _why(error: BaseException) -> str:
    text = clean(str(error))[:_MOST_WORDS]
    return f"{type(error).__name__}: {text}" if text else type(error).__name__
