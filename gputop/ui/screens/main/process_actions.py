"""What the main screen does to processes: it tags them, asks, sends what was decided, and tells how it ended."""

from collections.abc import Callable
from collections.abc import Set as AbstractSet
from itertools import count
from typing import TYPE_CHECKING, Final

from gputop.core.model.process_id import ProcessId
from gputop.core.model.sample import Frame, HostProcess
from gputop.core.protocol.command import Change, Command, Renice, SendSignal
from gputop.core.protocol.outcome import Outcome
from gputop.core.protocol.process_status import ProcessStatuses
from gputop.core.protocol.targets import targets
from gputop.ui.options import ViewOptions
from gputop.ui.panels.processes import ProcessPanel
from gputop.ui.screens.dialogs.dialog import Dialog
from gputop.ui.screens.main.view_actions import ViewingScreen
from gputop.ui.state.rows import Grouping
from gputop.ui.state.selection import process_ids
from gputop.ui.state.signal_followup import Verdict
from gputop.ui.state.signal_followups import SignalFollowups
from gputop.ui.state.signal_targets import Processes, Scope, TargetSelection, count_text, family, find_processes
from gputop.ui.state.view_store import ViewStore

if TYPE_CHECKING:
    from gputop.ui.screens.dialogs.escalation import EscalationScreen
    from gputop.ui.screens.dialogs.signal import SignalRequest
    from gputop.ui.screens.dialogs.value import ValueScreen

_NOBODY: Final = "no process is chosen: move the cursor onto one, or tag some with Space"
_MOST_TOLD: Final = 4


class ActingScreen(ViewingScreen):
    """The part of the main screen that tags and acts. Whom a change means is settled when its dialog opens."""

    processes: ProcessPanel

    def __init__(self, options: ViewOptions, reception: ViewStore, ask: Callable[[Command], None]) -> None:
        super().__init__(options, reception, ask)
        self._numbers = count(1)
        self._watches = SignalFollowups(ask, reception.clock, self._tell)
        self._escalations: dict[str, EscalationScreen] = {}
        self._unseen: list[Outcome] = []

    def on_screen_resume(self) -> None:
        """Show failures that came while something else was asked."""
        if self._unseen:
            self._show_failures(self._unseen.pop(0))

    def heard(self, frame: Frame) -> None:
        """Let those watch a new frame who wait for processes to end."""
        self._watches.heard(frame)

    def take_statuses(self, statuses: ProcessStatuses) -> bool:
        """Take an answer of the sampler; say whether it was asked for by those who wait for processes to end."""
        return self._watches.take(statuses)

    def look_again(self) -> None:
        """Ask again who runs, once a second."""
        self._watches.look()

    def change_ended(self, outcome: Outcome) -> None:
        """Show how a change ended: failures stay until they are closed."""
        self._watches.settle(outcome)
        waiting = self._escalations.get(outcome.id)
        if waiting is not None:
            waiting.ended(outcome)
            self._unseen += [outcome] if outcome.failures or outcome.note else []
        elif outcome.all_worked and not outcome.note:
            self.notify(_told(outcome), markup=False, timeout=4)
        else:
            self._show_failures(outcome)

    def action_tag(self) -> None:
        """Tag the process under the cursor, or take its tag away, and go on to the next."""
        if self.processes.selected_line is None:
            self.processes.move(0)
        entry = self.processes.selected_line
        if entry is None:
            self._say_nobody()
        else:
            self._toggle(process_ids(entry))
            self.processes.move(1)

    def action_tag_job(self) -> None:
        """Tag the job of the process under the cursor, or all that it started; of a group all."""
        row, entry, frame = self.processes.selected, self.processes.selected_line, self._view.frame
        if row is None or entry is None or frame is None:
            self._say_nobody()
        elif entry.is_group and self.processes.grouping is not Grouping.JOB:
            self._toggle(process_ids(entry))
        else:
            self._toggle(family(frame, row.process))

    def action_untag(self) -> None:
        """Take all tags away, or say that there are none."""
        if not self.untag():
            self._say("nothing is tagged")

    def untag(self) -> bool:
        """Take all tags away; say whether there were any."""
        had = self.processes.tags.clear()
        self.processes.show_again()
        return had

    def action_signal(self, is_kill: int = 0) -> None:
        """Ask for a signal; ``is_kill``: whether SIGKILL is to be sent."""
        selection = self._selection()
        if selection is not None:
            self._ask_signal(selection, is_kill=bool(is_kill), scope=self._scope())

    def ask_for(self, process: HostProcess, *, is_kill: bool) -> None:
        """Ask for a signal to a process that is shown elsewhere."""
        selection = self._selection((process,))
        if selection is not None:
            self._ask_signal(selection, is_kill=is_kill, scope=Scope.JOB)

    def action_nice(self, step: int) -> None:
        """Add to the nice value."""
        selection = self._selection()
        if selection is not None:
            meant = selection.within(self._scope())
            self._want(Renice(id=self._next_id(), nice=step, is_relative=True, targets=targets(meant)))

    def action_renice(self) -> None:
        """Ask for a nice value."""
        from gputop.ui.screens.dialogs.renice import ReniceScreen

        self._ask_value(ReniceScreen)

    def action_io_class(self) -> None:
        """Ask for an I/O class."""
        from gputop.ui.screens.dialogs.io_class import IoClassScreen

        self._ask_value(IoClassScreen)

    def action_affinity(self) -> None:
        """Ask for CPUs."""
        from gputop.ui.screens.dialogs.affinity import AffinityScreen

        self._ask_value(AffinityScreen)

    def _selection(self, chosen: Processes | None = None) -> TargetSelection | None:
        """Return whom a change would mean now: the tagged ones, or what is under the cursor, unless it is told.

        Says why it cannot be made.
        """
        frame = self._view.frame
        if self._options.refusal:
            self._say(self._options.refusal)
        elif not isinstance(self.app.screen, Dialog) and frame is not None:
            chosen = self._chosen(frame) if chosen is None else chosen
            if chosen:
                return TargetSelection(frame, chosen, self._options.own_user, self._options.own_pid)
            self._say_nobody()
        return None

    def _chosen(self, frame: Frame) -> Processes:
        entry = self.processes.selected_line
        return find_processes(frame, self.processes.tags.ids or (process_ids(entry) if entry is not None else ()))

    def _ask_signal(self, selection: TargetSelection, *, is_kill: bool, scope: Scope, why: str = "") -> None:
        from gputop.ui.screens.dialogs.signal import SignalScreen

        def decided(request: "SignalRequest | None") -> None:
            if request is not None:
                self._send(selection, request)

        dialog = SignalScreen(selection, is_ascii=self._options.is_ascii, is_kill=is_kill, scope=scope, why=why)
        self.app.push_screen(dialog, decided)

    def _ask_value(self, kind: "type[ValueScreen]") -> None:
        selection = self._selection()
        if selection is not None:
            dialog = kind(selection, self._next_id(), self._ask, scope=self._scope(), is_ascii=self._options.is_ascii)
            self.app.push_screen(dialog, self._want)

    def _send(self, selection: TargetSelection, request: "SignalRequest") -> None:
        from gputop.ui.screens.dialogs.escalation import EscalationScreen

        change_id = self._next_id()
        followup = self._watches.begin(change_id, request.signal, request.meant, is_quiet=request.offers_kill)
        self._want(SendSignal(id=change_id, signal=request.signal, targets=targets(request.recipients)))
        if request.offers_kill:
            waiting = EscalationScreen(selection, followup, self._reception.clock, is_ascii=self._options.is_ascii)
            self._escalations[change_id] = waiting
            self.app.push_screen(waiting, lambda left: self._escalated(change_id, request.signal, left))

    def _escalated(self, change_id: str, signal: str, left: Processes | None) -> None:
        """Offer SIGKILL for those that are left; where nobody is, that is told."""
        self._escalations.pop(change_id, None)
        frame = self._view.frame
        self._watches.end(change_id, is_told=left == ())
        if left and frame is not None:
            why = f"{count_text(left)} survived {signal}. "
            selection = TargetSelection(frame, left, self._options.own_user, self._options.own_pid)
            self._ask_signal(selection, is_kill=True, scope=Scope.PROCESS, why=why)

    def _want(self, change: Change | None) -> None:
        """Ask the sampler for a change; it looks at read-only as well."""
        if change is not None and not self._options.refusal:
            self._ask(change)

    def _tell(self, verdict: Verdict) -> None:
        if verdict.is_warning:
            self.notify(verdict.text, markup=False, severity="warning", timeout=12)
        else:
            self.notify(verdict.text, markup=False, timeout=6)

    def _show_failures(self, outcome: Outcome) -> None:
        from gputop.ui.screens.dialogs.outcome import OutcomeScreen

        top = self.app.screen
        if isinstance(top, OutcomeScreen):
            top.add(outcome)
        elif isinstance(top, Dialog):
            self._unseen.append(outcome)
            self.notify(outcome.summary, markup=False, severity="error", timeout=10)
        else:
            self.app.push_screen(OutcomeScreen(outcome, is_ascii=self._options.is_ascii))

    def _scope(self) -> Scope:
        """Return how far a change reaches at first: to the job; but tags mean the tagged ones, and groups themselves.

        A folded line of the tree stands for what it hides.
        """
        entry = self.processes.selected_line
        if self.processes.tags.ids or entry is None:
            return Scope.PROCESS
        if entry.is_group:
            return Scope.JOB if self.processes.grouping is Grouping.JOB else Scope.PROCESS
        return Scope.TREE if entry.is_open is False else Scope.JOB

    def _toggle(self, ids: AbstractSet[ProcessId]) -> None:
        self.processes.tags.toggle(ids)
        self.processes.show_again()

    def _say_nobody(self) -> None:
        frame = self._view.frame
        self._say(_NOBODY if frame is not None and frame.processes else "there is no process on the GPUs")

    def _say(self, text: str) -> None:
        self.notify(text, markup=False, severity="warning", timeout=5)

    def _next_id(self) -> str:
        return f"screen-{next(self._numbers)}"


def _told(outcome: Outcome) -> str:
    """Return the sum, and what was and became of the first ones."""
    lines = [outcome.summary]
    telling = [one for one in outcome.results if one.after is not None or one.detail]
    lines += [f"{one.subject}: {one.text}" for one in telling[:_MOST_TOLD]]
    rest = len(outcome.results) - _MOST_TOLD
    return "\n".join([*lines, f"and {rest} more"] if rest > 0 and len(lines) > _MOST_TOLD else lines)
