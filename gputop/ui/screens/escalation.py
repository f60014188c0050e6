"""What follows a signal on request: a visible countdown, and then the question whether SIGKILL is to follow."""

from collections.abc import Callable, Sequence
from typing import ClassVar, Final, TypeAlias

from gputop.core.identity import ProcessId
from gputop.core.outcome import Outcome
from gputop.core.sample import Frame
from gputop.ui.line import BLANK, Line, cut
from gputop.ui.screens import target_list
from gputop.ui.screens.dialog import Dialog
from gputop.ui.screens.signal import Sending
from gputop.ui.targets import Aim, Processes, count_text, remaining

Clock: TypeAlias = Callable[[], float]
PATIENCE_S: Final = 5.0


class EscalationScreen(Dialog[Processes | None]):
    """Waits for processes to end, as far as frames tell; sends nothing itself.

    It ends with those that still run; with None if they are to be left alone.
    """

    KEYS: ClassVar[dict[str, str]] = {
        "escape": "give_up", "q": "give_up", "n": "give_up", "enter": "give_up", "0": "give_up", "f10": "give_up",
    }  # fmt: skip
    ink = "warm"

    def __init__(self, aim: Aim, sending: Sending, change_id: str, clock: Clock, *, is_ascii: bool) -> None:
        super().__init__(is_ascii=is_ascii)
        self.aim = aim
        self.change_id = change_id
        self._sending = sending
        self._clock = clock
        self._until_s = clock() + PATIENCE_S
        self._failed: dict[ProcessId, str] = {}
        self._is_told = False  # by a frame that came when the time was over
        self._has_asked = False
        self.left = sending.meant

    def on_mount(self) -> None:
        """Count."""
        self.set_interval(0.25, self.tick)

    def heard(self, frame: Frame) -> None:
        """Look who is left in a new frame."""
        self.left = remaining(frame, self._sending.meant)
        self.aim = Aim(frame, self.left, self.aim.own_user)
        self._is_told = self.rest_s <= 0
        self.tick()

    def ended(self, outcome: Outcome) -> None:
        """Show for whom the signal did not work."""
        self._failed = {ProcessId(one.pid, one.start_ticks): one.text for one in outcome.failures}
        self.redraw()

    def tick(self) -> None:
        """Count down; go when nobody is left, or when the time is over and a frame has told who is left."""
        if not self.is_active or not self.is_mounted:
            return
        if not self.left or self._is_told:
            self.dismiss(self.left)
            return
        if self.rest_s <= 0 and not self._has_asked:
            self._has_asked = True
            self.call_later(self.app.run_action, "read_now")
        self.redraw()

    def give_up(self) -> None:
        """Leave them alone."""
        self.dismiss(None)

    @property
    def rest_s(self) -> int:
        """Whole seconds that are left."""
        return max(0, -int(-(self._until_s - self._clock()) // 1))

    def title_line(self) -> str:
        """Name what was done."""
        return f"{self._sending.signal} was sent to {count_text(self._sending.hit)}"

    def keys_line(self) -> str:
        """Name the keys."""
        return "Esc leave them alone"

    def page(self, width: int, height: int) -> Sequence[Line]:
        """Return the countdown, and who still runs."""
        still = f"{len(self.left)} of {count_text(self._sending.meant)} still there."
        if self.rest_s > 0:
            head = f"{still} SIGKILL is offered in {self.rest_s} s."
        else:
            head = f"{still} Waiting for a frame that tells who is left."
        lines = [Line(((head, "warm"),)), BLANK, target_list.head(width)]
        below = [Line(tuple(cut([(f"{who.pid}: {text}", "hot")], width))) for who, text in self._failed.items()]
        listed = target_list.lines(self.aim, self.left, {}, width)
        room = max(2, height - len(lines) - min(len(below), height // 3))
        return [*lines, *target_list.window(listed, 0, room)[0], *below][:height]
