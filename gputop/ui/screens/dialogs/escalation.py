"""What follows a signal on request: a visible countdown, and then the question whether SIGKILL is to follow."""

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
    """Waits for processes to end, as the sampler tells; sends no signal itself.

    It ends with those that still run; with None if they are to be left alone.
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
        """Count."""
        super().on_mount()
        self.set_interval(0.25, self.tick)

    def ended(self, outcome: Outcome) -> None:
        """Show for whom the signal did not work."""
        self._failed = {ProcessId(one.pid, one.start_ticks): one.text for one in outcome.failures}
        self.redraw()

    def pressed(self, key: str, character: str) -> None:
        """Take the 0 as well, as in the dialog before."""
        self.close() if character == "0" else super().pressed(key, character)

    def tick(self) -> None:
        """Count down; go when nobody is left, or when the sampler told who is left after the time was over."""
        if not self.is_active or not self.is_mounted:
            return
        if self.followup.is_decided:
            self.dismiss(self.followup.remaining)
            return
        self.followup.poll()
        self.redraw()

    @property
    def rest_s(self) -> int:
        """Whole seconds that are left."""
        return max(0, -int(-(self.followup.began_s + PATIENCE_S - self._clock()) // 1))

    def title_line(self) -> str:
        """Name what was done."""
        return f"{self.followup.signal} was sent"

    def keys_line(self) -> str:
        """Name the keys."""
        return f"{self.name_of('back')} leave them alone"

    def page(self, width: int, height: int) -> Sequence[Line]:
        """Return the countdown, and who still runs."""
        remaining = self.followup.remaining
        still = f"{len(remaining)} of {count_text(self.followup.targets)} still there."
        if self.rest_s > 0:
            head = f"{still} SIGKILL is offered in {self.rest_s} s."
        else:
            head = "The time is over. Waiting for the sampler to tell who is left."
        shape = target_list.shape_of(remaining, width)
        lines = [Line(((head, "warm"),)), BLANK, target_list.head(shape)]
        below = [Line(tuple(cut([(f"{who.pid}: {text}", "hot")], width))) for who, text in self._failed.items()]
        room = max(2, height - len(lines) - min(len(below), height // 3))
        listed = target_list.Listed(self.selection, remaining, {}, shape)
        return [*lines, *target_list.window(listed, 0, room)[0], *below][:height]
