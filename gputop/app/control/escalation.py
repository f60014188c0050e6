"""Escalation: a signal, a wait, and SIGKILL for the remaining processes, if the user agrees."""

from collections.abc import Callable, Sequence

from msgspec.structs import replace

from gputop.app.backend.operations.operations import Control
from gputop.app.control.process_change import new_id
from gputop.app.terminal import Person
from gputop.core.protocol.command import Change, ChangeMig, SendSignal, Target
from gputop.core.protocol.outcome import Outcome, Result, Status

_STEP_S = 0.05
_AFTER_KILL_S = 2.0  # the kernel needs time to free a large process
_KEPT_WAITING = "it did not exit within {:g} s"
_OUTLIVED = "it got SIGKILL and still runs: it waits in the kernel, and exits when that returns"


class Escalation:
    """``patience_s``: the time that a process gets to exit. ``clock`` and ``sleep`` as those of `time`."""

    def __init__(self, patience_s: float, clock: Callable[[], float], sleep: Callable[[float], None]) -> None:
        self._patience_s = patience_s
        self._clock = clock
        self._sleep = sleep

    def run(self, change: Change, control: Control, person: Person) -> Outcome:
        """Execute the change, and then SIGKILL if needed. DONE: the process exited; SURVIVED: it did not."""
        outcome = control.execute(change)
        signalled = () if isinstance(change, ChangeMig) else self._of(outcome, change.targets, Status.DONE)
        if not signalled:
            return outcome
        person.show([f"{outcome.summary}; waiting up to {self._patience_s:g} s for them to exit"])
        left = self._wait(signalled, control, self._patience_s)
        if not left:
            return outcome
        person.show([f"{target.pid}: still runs" for target in left])
        if not person.agrees(f"Send SIGKILL to {len(left)} of them?"):
            return self._survived(outcome, left, _KEPT_WAITING.format(self._patience_s))
        return self._kill(outcome, left, control)

    def _kill(self, outcome: Outcome, left: Sequence[Target], control: Control) -> Outcome:
        killed = control.execute(SendSignal(id=new_id(), signal="SIGKILL", targets=tuple(left)))
        by_pid = {result.pid: result for result in killed.results if result.status is not Status.GONE}
        notes = dict.fromkeys(note for note in (outcome.note, killed.note) if note)
        merged = replace(
            outcome,
            what=f"{outcome.what}, then SIGKILL",
            results=tuple(by_pid.get(result.pid, result) for result in outcome.results),
            note=" ".join(notes),
        )
        hit = self._of(killed, left, Status.DONE)
        return self._survived(merged, self._wait(hit, control, _AFTER_KILL_S), _OUTLIVED)

    def _wait(self, targets: Sequence[Target], control: Control, patience_s: float) -> tuple[Target, ...]:
        """Wait until all have exited; return those that have not in time."""
        end = self._clock() + patience_s
        while (left := control.living(targets)) and (rest := end - self._clock()) > 0:
            self._sleep(min(_STEP_S, rest))
        return left

    def _survived(self, outcome: Outcome, left: Sequence[Target], detail: str) -> Outcome:
        pids = {target.pid for target in left}
        results = tuple(
            Result(pid=each.pid, start_ticks=each.start_ticks, status=Status.SURVIVED, detail=detail)
            if each.pid in pids
            else each
            for each in outcome.results
        )
        return replace(outcome, results=results)

    def _of(self, outcome: Outcome, targets: Sequence[Target], status: Status) -> tuple[Target, ...]:
        pids = {result.pid for result in outcome.results if result.status is status}
        return tuple(target for target in targets if target.pid in pids)
