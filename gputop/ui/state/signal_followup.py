"""What became of those that a signal was meant for: who ended, what GPU memory that freed, who still runs.

Who runs is asked of the sampler: frames show only what uses a GPU, so a process that is in none may run all the same.
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
_LISTED_S: Final = 3.0  # so long the driver may list a process after its end
_EVERY_S: Final = 1.0
_ANSWER_S: Final = 3.0
_ENDS_NOBODY: Final = frozenset(
    {"SIGSTOP", "SIGTSTP", "SIGTTIN", "SIGTTOU", "SIGCONT", "SIGCHLD", "SIGURG", "SIGWINCH"}
)
_MEANT_TO_END: Final = frozenset({"SIGTERM", "SIGINT", "SIGQUIT", "SIGABRT", "SIGKILL"})
_NUMBERS: Final = count(1)
_MOST_NAMED: Final = 6


class Verdict(Struct, frozen=True):
    """What is told in the end; an empty text tells nothing."""

    text: str
    is_warning: bool = False


class SignalFollowup:
    """Watches a signal's processes. ``left``: those that run, or may, as far as is known."""

    def __init__(self, signal: str, meant: Processes, ask: Callable[[Command], None], clock: Clock) -> None:
        self.signal = signal
        self.meant = self.left = meant
        self.began_s = clock()
        self.answered_s: float | None = None  # when the question was asked whose answer came last
        self._ask = ask
        self._clock = clock
        self._question = ""
        self._asked_s: float | None = None
        self._ended_s: float | None = None
        self._frame: Frame | None = None
        self._fresh: Frame | None = None  # came after the end of the last one

    @property
    def is_decided(self) -> bool:
        """Say whether all have ended, or an answer tells who ran when the patience was over."""
        return not self.left or (self.answered_s is not None and self.answered_s >= self.began_s + PATIENCE_S)

    def look(self) -> None:
        """Ask who runs, unless that was asked just now."""
        now = self._clock()
        is_due = self._asked_s is None or now - self._asked_s >= (_ANSWER_S if self._question else _EVERY_S)
        is_last = self._asked_s is not None and self._asked_s < self.began_s + PATIENCE_S <= now
        if self.left and (is_due or is_last):
            self._question, self._asked_s = f"look-{next(_NUMBERS)}", now
            self._ask(ReadStatus(id=self._question, targets=targets(self.left)))

    def take(self, statuses: ProcessStatuses) -> bool:
        """Take an answer; say whether it was to this question."""
        if statuses.id != self._question:
            return False
        seen = {ProcessId(one.pid, one.start_ticks): one for one in statuses.statuses}
        found = [(one, seen.get(one.id)) for one in self.left]
        self.left = tuple(
            replace(one, state=told.state or one.state) if told else one
            for one, told in found
            if told is None or told.is_running is not False
        )
        self._question, self.answered_s = "", self._asked_s
        self._ended_s = self._clock() if not self.left else None
        return True

    def heard(self, frame: Frame) -> None:
        """Take a frame."""
        self._frame = frame
        if self._ended_s is not None:
            self._fresh = frame

    def settle(self, outcome: Outcome) -> None:
        """Take the outcome: whom the signal did not reach is not waited for; if it reached nobody, nobody is."""
        failed = {ProcessId(one.pid, one.start_ticks) for one in outcome.failures}
        self.meant = () if outcome.none_worked else tuple(one for one in self.meant if one.id not in failed)
        self.left = tuple(one for one in self.left if one.id not in failed and self.meant)

    def verdict(self) -> Verdict | None:
        """Return what is to be told; None as long as that is not known."""
        if not self.meant or self.signal in _ENDS_NOBODY:
            return Verdict("")
        now = self._clock()
        if not self.left:
            is_over = self._ended_s is not None and now - self._ended_s >= _LISTED_S
            is_clear = self._fresh is not None and not listed(self._fresh, self.meant)
            return self._ended(self._fresh) if is_over or is_clear else None
        if self.is_decided:
            return self._survived()
        return self._unknown() if now - self.began_s >= 2 * PATIENCE_S else None

    def _ended(self, frame: Frame | None) -> Verdict:
        return Verdict(f"{self.signal}: {count_text(self.meant)} ended{freed_text(frame, self.meant)}")

    def _survived(self) -> Verdict:
        left = {one.id for one in self.left}
        ended = tuple(one for one in self.meant if one.id not in left)
        gone = f"{count_text(ended)} ended{freed_text(self._frame, ended)}" if ended else ""
        if self.signal not in _MEANT_TO_END:
            return Verdict(f"{self.signal}: {gone}" if gone else "")
        part = f"{len(left)} of {count_text(self.meant)}"
        still = f"{self.signal}: {part} still there after {PATIENCE_S:g} s: {self._names()}"
        stuck = sum(one.state == "D" for one in self.left)
        why = f"{stuck} in uninterruptible sleep (D): the end waits for a kernel call" if stuck else ""
        return Verdict("\n".join(part for part in (still, why, gone) if part), is_warning=True)

    def _unknown(self) -> Verdict:
        return Verdict(f"{self.signal}: whether they ended is not known: the sampler does not answer", is_warning=True)

    def _names(self) -> str:
        named = " ".join(str(one.pid) for one in self.left[:_MOST_NAMED])
        return named if len(self.left) <= _MOST_NAMED else f"{named} …"


def listed(frame: Frame, ended: Processes) -> set[tuple[int, str]]:
    """Return pid and GPU of what the driver still lists of processes that have ended."""
    starts = {one.pid: one.start_ticks for one in ended}
    return {
        (one.pid, use.gpu)
        for one in frame.processes
        if one.pid in starts and one.start_ticks in {None, starts[one.pid]}
        for use in one.gpus
    }


def freed_text(frame: Frame | None, ended: Processes) -> str:
    """Return what GPU memory the end of processes freed, as far as a frame tells; ``ended``: as they were before."""
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
        + (f"; the driver still lists {bytes_text(kept)} of them" if kept else "")
        + (f"; GPU {' '.join(map(str, mute))} does not tell what is freed" if mute else "")
    )
