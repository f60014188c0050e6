"""Actions that signal processes: from the dialog to the notice that the targets ended."""

from collections.abc import Callable

from gputop.core.model.sample import HostProcess
from gputop.core.protocol.command import SendSignal
from gputop.core.protocol.outcome import Outcome
from gputop.core.protocol.targets import targets
from gputop.ui.screens.main.changes import Changes
from gputop.ui.screens.main.host import ScreenHost
from gputop.ui.screens.main.target_actions import TargetActions
from gputop.ui.state.signal_followup import Notice
from gputop.ui.state.signal_followups import SignalFollowups
from gputop.ui.state.signal_targets import Processes, Scope, SignalRequest, TargetSelection, count_text


class SignalActions:
    """Sends a signal, follows its targets until they end, and offers SIGKILL to those that remain."""

    def __init__(self, host: ScreenHost, selected: TargetActions, changes: Changes) -> None:
        self._host = host
        self._selected = selected
        self._changes = changes
        self.followups = SignalFollowups(host.send, host.store.clock, self._show)
        self._waiting: dict[str, Callable[[Outcome], None]] = {}  # dialogs that count down, by the id of the change

    def choose(self, is_kill: int = 0) -> None:
        """Open the signal dialog for the selected targets; ``is_kill``: on SIGKILL."""
        selection = self._selected.select()
        if selection is not None:
            self._open(selection, is_kill=bool(is_kill), scope=self._selected.scope)

    def choose_for(self, process: HostProcess, *, is_kill: bool) -> None:
        """Open the signal dialog for a process that a page shows."""
        selection = self._selected.select((process,))
        if selection is not None:
            self._open(selection, is_kill=is_kill, scope=Scope.JOB)

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
    def _open(self, selection: TargetSelection, *, is_kill: bool, scope: Scope, why: str = "") -> None:
        from gputop.ui.screens.dialogs.signal import SignalScreen

        def decided(request: SignalRequest | None) -> None:
            if request is not None:
                self._send(selection, request)

        dialog = SignalScreen(selection, is_kill=is_kill, scope=scope, why=why)
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
            self._open(selection, is_kill=True, scope=Scope.PROCESS, why=why)

    def _show(self, notice: Notice) -> None:
        if notice.is_warning:
            self._host.notify(notice.text, severity="warning", timeout=12)
        else:
            self._host.notify(notice.text, timeout=6)
