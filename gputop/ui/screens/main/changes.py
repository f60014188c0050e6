"""Sends changes of processes to the sampler, and shows the outcomes that did not work."""

from itertools import count
from typing import Final

from gputop.core.protocol.command import Change
from gputop.core.protocol.outcome import Outcome
from gputop.ui.screens.dialogs.dialog import Dialog
from gputop.ui.screens.main.host import ScreenHost

_MOST_LISTED: Final = 4


class Changes:
    """Failures stay on the screen until the user closes them; those that come during a dialog wait for its end."""

    def __init__(self, host: ScreenHost) -> None:
        self._host = host
        self._numbers = count(1)
        self._waiting: list[Outcome] = []

    def next_id(self) -> str:
        """Return the id of another change."""
        return f"screen-{next(self._numbers)}"

    def send(self, change: Change | None) -> None:
        """Send a change unless the screen is read-only; the sampler checks that too."""
        if change is not None and not self._host.options.refusal:
            self._host.send(change)

    def show(self, outcome: Outcome) -> None:
        """Show an outcome: briefly if it worked, in a dialog if not."""
        if outcome.all_worked and not outcome.note:
            self._host.notify(_summary(outcome), timeout=4)
        else:
            self._show_failures(outcome)

    def show_later(self, outcome: Outcome) -> None:
        """Show failures when the dialog in front closes."""
        if outcome.failures or outcome.note:
            self._waiting.append(outcome)

    def show_waiting(self) -> None:
        """Show failures that came during another dialog."""
        if self._waiting:
            self._show_failures(self._waiting.pop(0))

    def _show_failures(self, outcome: Outcome) -> None:
        from gputop.ui.screens.dialogs.outcome import OutcomeScreen

        top = self._host.top
        if isinstance(top, OutcomeScreen):
            top.add(outcome)
        elif isinstance(top, Dialog):
            self._waiting.append(outcome)
            self._host.notify(outcome.summary, severity="error", timeout=10)
        else:
            self._host.push(OutcomeScreen(outcome))


def _summary(outcome: Outcome) -> str:
    """Return the summary, and the values before and after of the first processes."""
    lines = [outcome.summary]
    detailed = [one for one in outcome.results if one.after is not None or one.detail]
    lines += [f"{one.subject}: {one.text}" for one in detailed[:_MOST_LISTED]]
    rest = len(outcome.results) - _MOST_LISTED
    return "\n".join([*lines, f"and {rest} more"] if rest > 0 and len(lines) > _MOST_LISTED else lines)
