"""Sends changes of processes to the sampler, and shows the outcomes that did not work."""

from collections.abc import Sequence
from itertools import count
from typing import Final

from gputop.core.protocol.command import Change, ProcessChange
from gputop.core.protocol.outcome import Outcome
from gputop.ui.screens.dialogs.dialog import Dialog
from gputop.ui.screens.main.host import ScreenHost
from gputop.ui.state.signal_targets import ROOT
from gputop.ui.state.undo import needs_root, undo_changes

_MOST_LISTED: Final = 4
_MOST_UNDONE: Final = 20


class Changes:
    """Failures stay on the screen until the user closes them; those that come during a dialog wait for its end."""

    def __init__(self, host: ScreenHost) -> None:
        self._host = host
        self._numbers = count(1)
        self._waiting: list[Outcome] = []
        self._sent: dict[str, Change] = {}
        self._undo: list[tuple[Change, ...]] = []

    def next_id(self) -> str:
        """Return the id of another change."""
        return f"screen-{next(self._numbers)}"

    def send(self, change: Change | None) -> None:
        """Send a change unless the screen is read-only; the sampler checks that too."""
        if change is not None and not self._host.options.refusal:
            self._sent[change.id] = change
            self._host.send(change)

    def show(self, outcome: Outcome) -> None:
        """Show an outcome: briefly if it worked, in a dialog if not. What can be undone can be undone from then on."""
        undo = undo_changes(self._sent.pop(outcome.id, None), outcome, self.next_id)
        if undo:
            self._undo = [*self._undo[1 - _MOST_UNDONE :], undo]
        if outcome.all_worked and not outcome.note:
            lines = [*_summary(outcome), *self._how_to_undo(undo, outcome)]
            self._host.notify("\n".join(lines), title=outcome.id, timeout=6)
        else:
            self._show_failures(outcome)

    def undo(self) -> None:
        """Undo the last change of a nice value, I/O class or affinity; ask first if it affects several processes."""
        if self._host.options.refusal or not self._undo:
            self._host.notify(self._host.options.refusal or "no change to undo", severity="warning", timeout=4)
            return
        last = self._undo.pop()
        targets = [one for change in last if isinstance(change, ProcessChange) for one in change.targets]
        if len(targets) == 1:
            self._send_all(last)
            return
        from gputop.ui.screens.dialogs.undo import UndoScreen

        def decided(is_confirmed: bool | None) -> None:  # noqa: FBT001 - Textual hands it over
            if is_confirmed:
                self._send_all(last)
            else:
                self._undo.append(last)

        self._host.push(UndoScreen([one for one in last if isinstance(one, ProcessChange)]), decided)

    def _how_to_undo(self, undo: Sequence[Change], outcome: Outcome) -> list[str]:
        """Return the key that undoes a change, or the rights that it lacks; empty if there is nothing to undo."""
        key = self._host.keys.name("undo")
        if self._host.options.own_user not in ROOT and needs_root(undo, outcome):
            return ["an undo needs root, or RLIMIT_NICE"]
        return [f"{key} undoes it"] if undo and key else []

    def _send_all(self, changes: tuple[Change, ...]) -> None:
        for change in changes:
            self._host.send(change)  # an undo is not remembered: another one undoes what was before it

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


def _summary(outcome: Outcome) -> list[str]:
    """Return the summary, and the values before and after of the first processes."""
    lines = [outcome.summary]
    detailed = [one for one in outcome.results if one.after is not None or one.detail]
    lines += [f"{one.subject}: {one.text.removeprefix('done: ')}" for one in detailed[:_MOST_LISTED]]
    rest = len(outcome.results) - _MOST_LISTED
    return [*lines, f"and {rest} more"] if rest > 0 and len(lines) > _MOST_LISTED else lines
