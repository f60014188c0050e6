"""All signals whose aftermath is waited for, each until there is something to tell."""

from collections.abc import Callable

from gputop.core.model.sample import Frame
from gputop.core.protocol.command import Command
from gputop.core.protocol.outcome import Outcome
from gputop.core.protocol.process_status import ProcessStatuses
from gputop.ui.state.signal_followup import Clock, SignalFollowup, Verdict
from gputop.ui.state.signal_targets import Processes


class SignalFollowups:
    """Holds them by the id of the change. ``tell`` gets what is to be told, once for each."""

    def __init__(self, ask: Callable[[Command], None], clock: Clock, tell: Callable[[Verdict], None]) -> None:
        self._ask = ask
        self._clock = clock
        self._tell = tell
        self._held: dict[str, SignalFollowup] = {}
        self._quiet: set[str] = set()

    def begin(self, change_id: str, signal: str, meant: Processes, *, is_quiet: bool) -> SignalFollowup:
        """Watch a signal's processes. ``is_quiet``: tell nothing until that is taken back."""
        held = self._held[change_id] = SignalFollowup(signal, meant, self._ask, self._clock)
        if is_quiet:
            self._quiet.add(change_id)
        return held

    def end(self, change_id: str, *, is_told: bool) -> None:
        """Tell in the end after all what was watched quietly, or watch it no longer."""
        self._quiet.discard(change_id)
        if is_told:
            self._judge()
        else:
            self._held.pop(change_id, None)

    def settle(self, outcome: Outcome) -> None:
        """Take the outcome of a change, and look at once what it did."""
        held = self._held.get(outcome.id)
        if held is not None:
            held.settle(outcome)
            held.look()
            self._judge()

    def look(self) -> None:
        """Ask who still runs, where that is not on its way."""
        for held in self._held.values():
            held.look()
        self._judge()

    def take(self, statuses: ProcessStatuses) -> bool:
        """Take an answer; say whether it was asked for here."""
        is_taken = any(held.take(statuses) for held in self._held.values())
        self._judge()
        return is_taken

    def heard(self, frame: Frame) -> None:
        """Take a frame."""
        for held in self._held.values():
            held.heard(frame)
        self._judge()

    def _judge(self) -> None:
        for change_id, held in tuple(self._held.items()):
            verdict = None if change_id in self._quiet else held.verdict()
            if verdict is not None:
                del self._held[change_id]
                if verdict.text:
                    self._tell(verdict)
