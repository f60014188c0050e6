"""Follow-up of a signal: which targets ended, the GPU memory that they freed, and which still run.

The sampler reports which targets run: a frame holds only processes that use a GPU, and others may run too.
"""

from collections.abc import Callable
from itertools import count
from typing import Final, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from gputop.core.model.process_id import ProcessId
from gputop.core.model.sample import Frame, GpuState
from gputop.core.model.units import bytes_text
from gputop.core.protocol.command import Command, ReadStatus
from gputop.core.protocol.outcome import Outcome
from gputop.core.protocol.process_status import ProcessStatuses
from gputop.core.protocol.targets import targets
from gputop.ui.state.signal_targets import Processes, count_text

Clock: TypeAlias = Callable[[], float]

PATIENCE_S: Final = 5.0
_LISTED_S: Final = 3.0  # the driver may list a process for so long after its end
_EVERY_S: Final = 1.0
_ANSWER_S: Final = 3.0
_DO_NOT_END: Final = frozenset({"SIGSTOP", "SIGTSTP", "SIGTTIN", "SIGTTOU", "SIGCONT", "SIGCHLD", "SIGURG", "SIGWINCH"})
_USUALLY_END: Final = frozenset({"SIGTERM", "SIGINT", "SIGQUIT", "SIGABRT", "SIGKILL"})
_NUMBERS: Final = count(1)
_MOST_NAMED: Final = 6


class Notice(Struct, frozen=True):
    """The message at the end of a follow-up; an empty text shows none."""

    text: str
    is_warning: bool = False


class SignalFollowup:
    """Follows the targets of a signal. ``remaining``: targets that are not known to have ended."""

    def __init__(self, signal: str, targets: Processes, send: Callable[[Command], None], clock: Clock) -> None:
        self.signal = signal
        self.targets = self.remaining = targets
        self.began_s = clock()
        self.answered_s: float | None = None  # when the request of the latest answer was sent
        self._send = send
        self._clock = clock
        self._request = ""
        self._requested_s: float | None = None
        self._ended_s: float | None = None
        self._frame: Frame | None = None
        self._fresh: Frame | None = None  # a frame after the end of the last target

    @property
    def is_decided(self) -> bool:
        """Whether all targets have ended, or an answer shows which ran after `PATIENCE_S`."""
        return not self.remaining or (self.answered_s is not None and self.answered_s >= self.began_s + PATIENCE_S)

    def poll(self) -> None:
        """Request the status of the remaining targets, unless an answer is on its way."""
        now = self._clock()
        is_due = self._requested_s is None or now - self._requested_s >= (_ANSWER_S if self._request else _EVERY_S)
        is_last = self._requested_s is not None and self._requested_s < self.began_s + PATIENCE_S <= now
        if self.remaining and (is_due or is_last):
            self._request, self._requested_s = f"look-{next(_NUMBERS)}", now
            self._send(ReadStatus(id=self._request, targets=targets(self.remaining)))

    def take_statuses(self, statuses: ProcessStatuses) -> bool:
        """Take an answer; return whether it is to the last request."""
        if statuses.id != self._request:
            return False
        seen = {ProcessId(one.pid, one.start_ticks): one for one in statuses.statuses}
        found = [(one, seen.get(one.id)) for one in self.remaining]
        self.remaining = tuple(
            replace(one, state=status.state or one.state) if status else one
            for one, status in found
            if status is None or status.is_running is not False
        )
        self._request, self.answered_s = "", self._requested_s
        self._ended_s = self._clock() if not self.remaining else None
        return True

    def take_frame(self, frame: Frame) -> None:
        """Remember a frame."""
        self._frame = frame
        if self._ended_s is not None:
            self._fresh = frame

    def take_outcome(self, outcome: Outcome) -> None:
        """Take the outcome, and follow only the targets that got the signal."""
        failed = {ProcessId(one.pid, one.start_ticks) for one in outcome.failures}
        self.targets = () if outcome.none_worked else tuple(one for one in self.targets if one.id not in failed)
        self.remaining = tuple(one for one in self.remaining if one.id not in failed and self.targets)

    def notice(self) -> Notice | None:
        """Return the message for the end; None while it is not known."""
        if not self.targets or self.signal in _DO_NOT_END:
            return Notice("")
        now = self._clock()
        if not self.remaining:
            is_over = self._ended_s is not None and now - self._ended_s >= _LISTED_S
            is_clear = self._fresh is not None and not listed(self._fresh, self.targets)
            return self._ended(self._fresh) if is_over or is_clear else None
        if self.is_decided:
            return self._survived()
        return self._unknown() if now - self.began_s >= 2 * PATIENCE_S else None

    def _ended(self, frame: Frame | None) -> Notice:
        return Notice(f"{self.signal}: {count_text(self.targets)} ended{freed_text(frame, self.targets)}")

    def _survived(self) -> Notice:
        remaining = {one.id for one in self.remaining}
        ended = tuple(one for one in self.targets if one.id not in remaining)
        gone = f"{count_text(ended)} ended{freed_text(self._frame, ended)}" if ended else ""
        if self.signal not in _USUALLY_END:
            return Notice(f"{self.signal}: {gone}" if gone else "")
        part = f"{len(remaining)} of {count_text(self.targets)}"
        still = f"{self.signal}: {part} still running after {PATIENCE_S:g} s: {self._names()}"
        stuck = sum(one.state == "D" for one in self.remaining)
        why = f"{stuck} in uninterruptible sleep (D): they end when a kernel call returns" if stuck else ""
        return Notice("\n".join(part for part in (still, why, gone) if part), is_warning=True)

    def _unknown(self) -> Notice:
        return Notice(
            f"{self.signal}: the sampler does not answer, so it is unknown whether the targets ended", is_warning=True
        )

    def _names(self) -> str:
        named = " ".join(str(one.pid) for one in self.remaining[:_MOST_NAMED])
        return named if len(self.remaining) <= _MOST_NAMED else f"{named} …"


def listed(frame: Frame, ended: Processes) -> set[tuple[int, str]]:
    """Return pid and GPU of ended processes that the driver still lists."""
    starts = {one.pid: one.start_ticks for one in ended}
    return {
        (one.pid, use.gpu)
        for one in frame.processes
        if one.pid in starts and one.start_ticks in {None, starts[one.pid]}
        for use in one.gpus
    }


def freed_text(frame: Frame | None, ended: Processes) -> str:
    """Return the GPU memory that ended processes freed, by a frame; ``ended``: the processes before their end."""
    if frame is None or not any(one.gpus for one in ended):
        return ""
    still = listed(frame, ended)
    telling = {gpu.uuid for gpu in frame.gpus if gpu.state is GpuState.OK and "processes" not in gpu.missing}
    held = [(one.pid, use) for one in ended for use in one.gpus]
    freed = sum(use.memory_bytes or 0 for pid, use in held if (pid, use.gpu) not in still and use.gpu in telling)
    kept = sum(use.memory_bytes or 0 for pid, use in held if (pid, use.gpu) in still)
    mute = sorted({use.gpu_index for _, use in held if use.gpu not in telling})
    return (
        (f", {bytes_text(freed)} GPU memory freed" if freed else "")
        + (f"; the driver still lists {bytes_text(kept)}" if kept else "")
        + (f"; GPU {' '.join(map(str, mute))} does not report freed memory" if mute else "")
    )
