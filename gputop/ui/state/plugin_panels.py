"""Panels of plugins: each makes its lines in a thread of its own, so that no key waits for it."""

import threading
from collections.abc import Callable
from typing import Final

from msgspec import Struct

from gputop.core.plugins.errors import ordinary
from gputop.core.plugins.panel import Panel, Shown, Written, written
from gputop.core.text.text import clean
from gputop.ui.state.signal_followup import Clock

LATE_S: Final = 3.0
OFF_S: Final = 10.0
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
        self._is_known = self._is_late = False
        self._thread: threading.Thread | None = None

    def request(self, shown: Shown) -> None:
        """Request lines, unless it is too early; a later request replaces one that still waits. Never blocks."""
        now = self._clock()
        self._end_if_late(now)
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

    def _end_if_late(self, now: float) -> None:
        """Shut the panel off if it does not return; its thread cannot be ended, and remains.

        It must be late twice: after a stop (Ctrl-Z), gputop continues before the panel can return.
        """
        with self._gate:
            if self._problem or self._busy_since is None or now - self._busy_since < OFF_S:
                return
            if not self._is_late:
                self._is_late = True
                return
            self._problem, self._lines, self._busy_since = f"it did not return within {OFF_S:g} s", (), None
        self._ended(self.panel.key, self._problem)

    def _run(self) -> None:
        while not self._problem:
            shown, problem = self._next(), ""
            try:
                lines = written(self.panel.lines(shown))
            except BaseException as error:  # noqa: BLE001 - the border to plugins
                problem, lines = _why(ordinary(error)), ()
            self._take(lines, problem)

    def _take(self, lines: tuple[Written, ...], problem: str) -> None:
        """Take the answer of the panel, unless it is too late."""
        with self._gate:
            if self._problem:
                return
            self._busy_since, self._problem = None, problem
            is_changed, self._lines = problem or lines != self._lines, lines
        if problem or not self._is_known:
            self._is_known = True
            self._ended(self.panel.key, problem)
        if is_changed:
            self._changed()

    def _next(self) -> Shown:
        with self._gate:
            while self._shown is None:
                self._gate.wait()
            shown, self._shown = self._shown, None
            self._busy_since, self._is_late = self._clock(), False
        return shown


def _why(error: BaseException) -> str:
    text = clean(str(error))[:_MOST_WORDS]
    return f"{type(error).__name__}: {text}" if text else type(error).__name__
