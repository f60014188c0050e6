"""The follow-ups of all signals, each until its notice is shown."""

from collections.abc import Callable

from gputop.core.model.sample import Frame
from gputop.core.protocol.command import Command
from gputop.core.protocol.outcome import Outcome
from gputop.core.protocol.process_status import ProcessStatuses
from gputop.ui.state.signal_followup import Clock, Notice, SignalFollowup
from gputop.ui.state.signal_targets import Processes


class SignalFollowups:
    """Holds follow-ups by the id of the change. ``show`` gets the id and the notice of each, once."""

    def __init__(self, send: Callable[[Command], None], clock: Clock, show: Callable[[str, Notice], None]) -> None:
        self._send = send
        self._clock = clock
        self._show = show
        self._held: dict[str, SignalFollowup] = {}
        self._quiet: set[str] = set()

    def begin(self, change_id: str, signal: str, targets: Processes, *, is_quiet: bool) -> SignalFollowup:
        """Follow the targets of a signal. ``is_quiet``: show no notice before `end`."""
        held = self._held[change_id] = SignalFollowup(signal, targets, self._send, self._clock)
        if is_quiet:
            self._quiet.add(change_id)
        return held

    def end(self, change_id: str, *, is_shown: bool) -> None:
        """End the silence of a quiet follow-up: show its notice, or drop it."""
        self._quiet.discard(change_id)
        if is_shown:
            self._show_notices()
        else:
            self._held.pop(change_id, None)

    def take_outcome(self, outcome: Outcome) -> None:
        """Take the outcome of a change, and request the status of its targets at once."""
        held = self._held.get(outcome.id)
        if held is not None:
            held.take_outcome(outcome)
            held.poll()
            self._show_notices()

    def poll(self) -> None:
        """Request the status of all remaining targets."""
        for held in self._held.values():
            held.poll()
        self._show_notices()

    def take_statuses(self, statuses: ProcessStatuses) -> bool:
        """Take an answer; return whether a follow-up had requested it."""
        is_taken = any(held.take_statuses(statuses) for held in self._held.values())
        self._show_notices()
        return is_taken

    def take_frame(self, frame: Frame) -> None:
        """Pass a frame to all follow-ups."""
        for held in self._held.values():
            held.take_frame(frame)
        self._show_notices()

    def _show_notices(self) -> None:
        for change_id, held in tuple(self._held.items()):
            notice = None if change_id in self._quiet else held.notice()
            if notice is not None:
                del self._held[change_id]
                if notice.text:
                    self._show(change_id, notice)
