"""What the main screen does to processes: it tags them, asks, sends what was decided, and tells how it ended."""

from collections.abc import Set as AbstractSet
from itertools import count
from typing import Final

from textual.screen import Screen

from gputop.core.aim import targets
from gputop.core.command import Change, Renice, SendSignal, Target, target
from gputop.core.identity import ProcessId
from gputop.core.outcome import Outcome
from gputop.core.sample import Frame, HostProcess
from gputop.ui.actions import READ_ONLY
from gputop.ui.entries import Grouping
from gputop.ui.messages import ChangeWanted
from gputop.ui.options import ViewOptions
from gputop.ui.panels.processes import ProcessPanel
from gputop.ui.screens.affinity import AffinityScreen
from gputop.ui.screens.dialog import Dialog
from gputop.ui.screens.escalation import Clock, EscalationScreen
from gputop.ui.screens.io_class import IoClassScreen
from gputop.ui.screens.outcome import OutcomeScreen
from gputop.ui.screens.renice import ReniceScreen
from gputop.ui.screens.signal import Sending, SignalScreen
from gputop.ui.screens.value import ValueScreen
from gputop.ui.tags import entry_ids
from gputop.ui.targets import Aim, Processes, Scope, count_text, family, picked
from gputop.ui.view import View

_NOBODY: Final = "no process is chosen: move the cursor onto one, or tag some with Space"
_MOST_TOLD: Final = 4


class ActingScreen(Screen[None]):
    """The half of the main screen that tags and acts. Whom a change means is settled when its dialog opens."""

    processes: ProcessPanel

    def __init__(self, options: ViewOptions, view: View, clock: Clock) -> None:
        super().__init__()
        self._options = options
        self._view = view
        self._clock = clock
        self._numbers = count(1)
        self._escalation: EscalationScreen | None = None
        self._unseen: list[Outcome] = []

    def on_screen_resume(self) -> None:
        """Show failures that came while something else was asked."""
        if self._unseen:
            self._show_failures(self._unseen.pop(0))

    def heard(self, frame: Frame) -> None:
        """Tell a countdown what a new frame says."""
        if self._escalation is not None:
            self._escalation.heard(frame)

    def change_ended(self, outcome: Outcome) -> None:
        """Show how a change ended: failures stay until they are closed."""
        waiting = self._escalation
        if waiting is not None and waiting.change_id == outcome.id:
            waiting.ended(outcome)
        elif outcome.all_worked and not outcome.note:
            self.notify(_told(outcome), markup=False, timeout=4)
        else:
            self._show_failures(outcome)

    def action_tag(self) -> None:
        """Tag the process under the cursor, or take its tag away, and go on to the next."""
        if self.processes.selected_entry is None:
            self.processes.move(0)
        entry = self.processes.selected_entry
        if entry is not None:
            self._toggle(entry_ids(entry))
            self.processes.move(1)

    def action_tag_job(self) -> None:
        """Tag the job of the process under the cursor; without a job, all that it started."""
        row, frame = self.processes.selected, self._view.frame
        if row is None or frame is None:
            self._say(_NOBODY)
        else:
            self._toggle(family(frame, row.process))

    def action_untag(self) -> None:
        """Take all tags away."""
        self.untag()

    def untag(self) -> bool:
        """Take all tags away; say whether there were any."""
        had = self.processes.tags.clear()
        self.processes.show_again()
        return had

    def action_signal(self, is_kill: int = 0) -> None:
        """Ask for a signal; ``is_kill``: whether SIGKILL is to be sent."""
        aim = self._aim()
        if aim is not None:
            self._ask_signal(aim, is_kill=bool(is_kill), scope=self._scope())

    def ask_for(self, process: HostProcess, *, is_kill: bool) -> None:
        """Ask for a signal to a process that is shown elsewhere."""
        aim = self._aim((process,))
        if aim is not None:
            self._ask_signal(aim, is_kill=is_kill)

    def action_nice(self, step: int) -> None:
        """Add to the nice value."""
        aim = self._aim()
        if aim is not None:
            meant = aim.within(self._scope())
            self._want(Renice(id=self._next_id(), nice=step, is_relative=True, targets=targets(meant)))

    def action_renice(self) -> None:
        """Ask for a nice value."""
        self._ask_value(ReniceScreen)

    def action_io_class(self) -> None:
        """Ask for an I/O class."""
        self._ask_value(IoClassScreen)

    def action_affinity(self) -> None:
        """Ask for CPUs."""
        self._ask_value(AffinityScreen)

    def _aim(self, chosen: Processes | None = None) -> Aim | None:
        """Return whom a change would mean now: the tagged ones, or what is under the cursor, unless it is told.

        Says why it cannot be made.
        """
        frame = self._view.frame
        if self._options.settings.read_only:
            self._say(READ_ONLY)
        elif not isinstance(self.app.screen, Dialog) and frame is not None:
            chosen = self._chosen(frame) if chosen is None else chosen
            if chosen:
                return Aim(frame, chosen, self._options.own_user)
            self._say(_NOBODY)
        return None

    def _chosen(self, frame: Frame) -> Processes:
        entry = self.processes.selected_entry
        return picked(frame, self.processes.tags.ids or (entry_ids(entry) if entry is not None else ()))

    def _ask_signal(self, aim: Aim, *, is_kill: bool, scope: Scope = Scope.PROCESS, why: str = "") -> None:
        def decided(sending: Sending | None) -> None:
            if sending is not None:
                self._send(aim, sending)

        dialog = SignalScreen(aim, is_ascii=self._options.is_ascii, is_kill=is_kill, scope=scope, why=why)
        self.app.push_screen(dialog, decided)

    def _ask_value(self, kind: type[ValueScreen]) -> None:
        aim = self._aim()
        if aim is not None:
            dialog = kind(aim, self._next_id(), scope=self._scope(), is_ascii=self._options.is_ascii)
            self.app.push_screen(dialog, self._want)

    def _send(self, aim: Aim, sending: Sending) -> None:
        change_id = self._next_id()
        self._want(SendSignal(id=change_id, signal=sending.signal, targets=_as_targets(sending.hit)))
        if sending.offers_kill:
            is_ascii, clock = self._options.is_ascii, self._clock
            self._escalation = EscalationScreen(aim, sending, change_id, clock, is_ascii=is_ascii)
            self.app.push_screen(self._escalation, lambda left: self._escalated(sending, left))

    def _escalated(self, sending: Sending, left: Processes | None) -> None:
        """Offer SIGKILL for those that are left."""
        waited, self._escalation = self._escalation, None
        if left and waited is not None:
            why = f"{count_text(left)} survived {sending.signal}. "
            self._ask_signal(Aim(waited.aim.frame, left, self._options.own_user), is_kill=True, why=why)
        elif left is not None:
            self.notify(f"{sending.signal}: none of {count_text(sending.meant)} is left", markup=False, timeout=4)

    def _want(self, change: Change | None) -> None:
        if change is not None:
            self.post_message(ChangeWanted(change))

    def _show_failures(self, outcome: Outcome) -> None:
        top = self.app.screen
        if isinstance(top, OutcomeScreen):
            top.add(outcome)
        elif isinstance(top, Dialog):
            self._unseen.append(outcome)
            self.notify(outcome.summary, markup=False, severity="error", timeout=10)
        else:
            self.app.push_screen(OutcomeScreen(outcome, is_ascii=self._options.is_ascii))

    def _scope(self) -> Scope:
        """Return how far a dialog reaches at first: a folded line stands for what it hides."""
        entry = self.processes.selected_entry
        if self.processes.tags.ids or entry is None:
            return Scope.PROCESS
        if entry.is_group:
            return Scope.JOB if self.processes.grouping is Grouping.JOB else Scope.PROCESS
        return Scope.TREE if entry.is_open is False else Scope.PROCESS

    def _toggle(self, ids: AbstractSet[ProcessId]) -> None:
        self.processes.tags.toggle(ids)
        self.processes.show_again()

    def _say(self, text: str) -> None:
        self.notify(text, markup=False, severity="warning", timeout=5)

    def _next_id(self) -> str:
        return f"screen-{next(self._numbers)}"


def _as_targets(hit: Processes) -> tuple[Target, ...]:
    return tuple(map(target, hit))


def _told(outcome: Outcome) -> str:
    """Return the sum, and what was and became of the first ones."""
    lines = [outcome.summary]
    lines += [f"{one.pid}: {one.text}" for one in outcome.results if one.after is not None or one.detail][:_MOST_TOLD]
    rest = len(outcome.results) - _MOST_TOLD
    return "\n".join([*lines, f"and {rest} more"] if rest > 0 and len(lines) > _MOST_TOLD else lines)
