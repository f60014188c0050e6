"""Actions that signal processes: from the dialog to the notice that the targets ended."""

from collections.abc import Callable
from typing import NamedTuple

from textual.notifications import SeverityLevel

from gputop.core.model.sample import HostProcess
from gputop.core.protocol.command import SendSignal
from gputop.core.protocol.outcome import Outcome
from gputop.core.protocol.signals import KILL, TERM
from gputop.core.protocol.targets import targets
from gputop.ui.screens.main.changes import Changes
from gputop.ui.screens.main.host import ScreenHost
from gputop.ui.screens.main.target_actions import TargetActions
from gputop.ui.state.signal_followup import Notice
from gputop.ui.state.signal_followups import SignalFollowups
from gputop.ui.state.signal_targets import (
    Processes,
    Scope,
    SignalRequest,
    TargetSelection,
    count_text,
    has_known_launcher,
)


class Reach(NamedTuple):
    """The scope that a dialog begins with; ``is_row``: it is what the user pointed at."""

    scope: Scope
    is_row: bool = True


class SignalActions:
    """Sends a signal, follows its targets until they end, and offers SIGKILL to those that remain."""

    def __init__(self, host: ScreenHost, selected: TargetActions, changes: Changes) -> None:
        self._host = host
        self._selected = selected
        self._changes = changes
        self.followups = SignalFollowups(host.send, host.store.clock, self._show)
        self._waiting: dict[str, Callable[[Outcome], None]] = {}  # dialogs that count down, by the id of the change

    def choose(self, signal: str = TERM) -> None:
        """Open the signal dialog for the selected targets."""
        selection = self._selected.select()
        if selection is not None:
            reach = Reach(scope=self._selected.scope, is_row=self._selected.is_row)
            self._open(selection, reach, signal)

    def choose_one(self, signal: str) -> None:
        """Open the signal dialog for the process under the cursor, not for its job, or for the tagged ones."""
        selection = self._selected.select()
        if selection is not None:
            self._open(selection, Reach(Scope.PROCESS), signal)

    def choose_for(self, *processes: HostProcess, is_kill: bool, is_job: bool = False) -> None:
        """Open the signal dialog for processes that a page shows; ``is_job``: the page shows the job of a process."""
        selection = self._selected.select(processes)
        if selection is not None:
            is_known = len(processes) == 1 and has_known_launcher(selection.frame, processes[0])
            reach = Reach(Scope.JOB if is_known or is_job else Scope.PROCESS, is_row=is_known and is_job)
            self._open(selection, reach, KILL if is_kill else TERM)

    # --- what the sampler sends ------------------------------------------------------------------------------------
    def take_outcome(self, outcome: Outcome) -> None:
        """Show the outcome of a change."""
        self.followups.take_outcome(outcome)
        waiting = self._waiting.get(outcome.id)
        if waiting is None:
            self._changes.show(outcome)
        else:
            waiting(outcome)
            self._changes.show_later(outcome)

    # --- from the dialog to the outcome ----------------------------------------------------------------------------
    def _open(self, selection: TargetSelection, reach: Reach, signal: str, why: str = "") -> None:
        from gputop.ui.screens.dialogs.signal import SignalScreen

        def decided(request: SignalRequest | None) -> None:
            if request is not None:
                self._send(selection, request)

        dialog = SignalScreen(selection, signal=signal, scope=reach.scope, is_row=reach.is_row, why=why)
        self._host.push(dialog, decided)

    def _send(self, selection: TargetSelection, request: SignalRequest) -> None:
        from gputop.ui.screens.dialogs.escalation import EscalationScreen

        change_id = self._changes.next_id()
        followup = self.followups.begin(change_id, request.signal, request.targets, is_quiet=request.offers_kill)
        self._changes.send(SendSignal(id=change_id, signal=request.signal, targets=targets(request.recipients)))
        if request.offers_kill:
            dialog = EscalationScreen(selection, followup, self._host.store.clock)
            self._waiting[change_id] = dialog.ended
            self._host.push(dialog, lambda remaining: self._escalate(change_id, request.signal, remaining))

    def _escalate(self, change_id: str, signal: str, remaining: Processes | None) -> None:
        """Offer SIGKILL to the targets that remain; if none remain, show that they ended."""
        self._waiting.pop(change_id, None)
        self.followups.end(change_id, is_shown=remaining == ())
        frame = self._host.view.frame
        if remaining and frame is not None:
            why = f"{count_text(remaining)} survived {signal}. "
            options = self._host.options
            selection = TargetSelection(frame, remaining, options.own_user, options.own_pid)
            self._open(selection, Reach(Scope.PROCESS), KILL, why)

    def _show(self, change_id: str, notice: Notice) -> None:
        """Show how the targets ended, in place of the outcome of the signal."""
        severity: SeverityLevel = "warning" if notice.is_warning else "information"
        self._host.notify(notice.text, title=change_id, severity=severity, timeout=12 if notice.is_warning else 6)
