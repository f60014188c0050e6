"""Countdown after a signal, then the question whether to send SIGKILL."""

from collections.abc import Mapping, Sequence
from typing import ClassVar

from gputop.core.model.process_id import ProcessId
from gputop.core.protocol.outcome import Outcome
from gputop.ui.render.line import BLANK, Line, cut
from gputop.ui.screens.dialogs import target_list
from gputop.ui.screens.dialogs.dialog import Dialog
from gputop.ui.state.signal_followup import PATIENCE_S, Clock, SignalFollowup
from gputop.ui.state.signal_targets import Processes, TargetSelection, count_text


class EscalationScreen(Dialog[Processes | None]):
    """Waits until the sampler reports that the processes exited; sends no signal itself.

    It returns the processes that still run, or None if the user leaves them alone.
    """

    TAKES: ClassVar[Mapping[str, str]] = {
        "back": "close", "quit": "close", "refuse": "close", "accept": "close",
    }  # fmt: skip
    ink = "warm"

    def __init__(self, selection: TargetSelection, followup: SignalFollowup, clock: Clock) -> None:
        super().__init__()
        self.selection = selection
        self.followup = followup
        self._clock = clock
        self._failed: dict[ProcessId, str] = {}

    def on_mount(self) -> None:
        """Start the countdown."""
        super().on_mount()
        self.set_interval(0.25, self.tick)

    def ended(self, outcome: Outcome) -> None:
        """Show the processes that the signal did not reach."""
        self._failed = {ProcessId(one.pid, one.start_ticks): one.text for one in outcome.failures}
        self.redraw()

    def pressed(self, key: str, character: str) -> None:
        """Cancel with 0 too, as the signal dialog does."""
        self.close() if character == "0" else super().pressed(key, character)

    def tick(self) -> None:
        """Count down; close when all processes exited, or when the sampler reports the rest after the deadline."""
        if not self.is_active or not self.is_mounted:
            return
        if self.followup.is_decided:
            self.dismiss(self.followup.remaining)
            return
        self.followup.poll()
        self.redraw()

    @property
    def rest_s(self) -> int:
        """Whole seconds until the deadline."""
        return max(0, -int(-(self.followup.began_s + PATIENCE_S - self._clock()) // 1))

    def title_line(self) -> str:
        """Return the title."""
        return f"{self.followup.signal} was sent"

    def keys_line(self) -> str:
        """Return the keys."""
        return f"{self.name_of('back')} leave them alone"

    def page(self, width: int, height: int) -> Sequence[Line]:
        """Return the countdown and the processes that still run."""
        remaining = self.followup.remaining
        still = f"{len(remaining)} of {count_text(self.followup.targets)} still running."
        if self.rest_s > 0:
            head = f"{still} gputop offers SIGKILL in {self.rest_s} s."
        else:
            head = "Time is up. Waiting for the sampler to report which processes still run."
        shape = target_list.shape_of(remaining, width)
        lines = [Line(((head, "warm"),)), BLANK, target_list.head(shape)]
        below = [Line(tuple(cut([(f"{who.pid}: {text}", "hot")], width))) for who, text in self._failed.items()]
        room = max(2, height - len(lines) - min(len(below), height // 3))
        listed = target_list.Listed(self.selection, remaining, {}, shape)
        return [*lines, *target_list.window(listed, 0, room)[0], *below][:height]
