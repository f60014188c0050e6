"""End of processes, or of a whole job: who is left, how long they ran, the GPU memory that they held at most."""

from collections.abc import Collection
from typing import Final

from gputop.core.model.process_id import ProcessId
from gputop.core.model.sample import Frame, HostProcess, Presence
from gputop.core.model.units import bytes_text, duration_text
from gputop.core.notification.notification import Condition, Event, Notification
from gputop.core.protocol.command import Target

_ENDED: Final = frozenset({"Z", "X"})
_MOST_PIDS: Final = 64


class Ending:
    """Follows processes until all have ended. A job also gets the members that join it later.

    A process that a frame does not show may still run: it may have closed its GPU, or the driver may not answer. Only
    the status of the process decides.
    """

    def __init__(self, condition: Condition, frame: Frame) -> None:
        self._condition = condition
        self._left = set(condition.processes)
        self._present: set[ProcessId] = set()
        self._first: HostProcess | None = None
        self._started_s: float | None = None
        self._peak_bytes: int | None = None
        self._percent: float | None = None
        self._users: set[str] = set()
        self._gpus: set[int] = set()
        self._frame = frame
        self.take_frame(frame)

    @property
    def processes(self) -> Collection[ProcessId]:
        """The processes that have not ended."""
        return self._left

    @property
    def is_over(self) -> bool:
        """Whether all processes have ended."""
        return not self._left

    def take_frame(self, frame: Frame) -> None:
        """Take a frame: the members of the job, and the processes that certainly run."""
        self._frame = frame
        self._left.update(member for job in frame.jobs if job.key == self._condition.job for member in job.members)
        shown = [one for held in (frame.processes, frame.relatives) for one in held if one.id in self._left]
        self._present = {one.id for one in shown if one.presence is Presence.ALIVE and one.state not in _ENDED}
        for one in shown:
            self._note(one)
        held = [use.memory_bytes for one in shown for use in one.gpus if use.memory_bytes is not None]
        if held:
            self._peak_bytes = max(self._peak_bytes or 0, sum(held))

    def unsure(self) -> tuple[Target, ...]:
        """Return the processes that the last frame does not show as running."""
        return tuple(Target(one.pid, one.start_ticks) for one in self._left - self._present)

    def take_ended(self, ended: Collection[ProcessId]) -> None:
        """Take processes that have ended."""
        self._left.difference_update(ended)

    def notification(self) -> Notification:
        """Return that all have ended, and what is known about how."""
        condition, frame = self._condition, self._frame
        ran_s = None if self._started_s is None else max(0.0, frame.time_s - self._started_s)
        done = "" if self._percent is None else f" · reported {int(self._percent)}% done"
        return Notification(
            event=Event.ENDED,
            title=condition.short + self._facts(ran_s),
            text=condition.text + self._facts(ran_s) + done,
            host=frame.host.name,
            time_s=frame.time_s,
            gpus=tuple(sorted(self._gpus)),
            pids=tuple(one.pid for one in condition.processes)[:_MOST_PIDS],
            job=condition.label if condition.job else "",
            user=min(self._users) if len(self._users) == 1 else "",
            command=self._first.command if self._first else "",
            ran_s=ran_s,
            peak_gpu_memory_bytes=self._peak_bytes,
        )

    def _facts(self, ran_s: float | None) -> str:
        ran = "" if ran_s is None else f" · ran {duration_text(ran_s)}"
        return ran + ("" if not self._peak_bytes else f" · held up to {bytes_text(self._peak_bytes)} of GPU memory")

    def _note(self, process: HostProcess) -> None:
        """Remember what is known of a process; its last progress may be all that shows whether it finished."""
        self._first = self._first or process
        started = [value for value in (self._started_s, process.started_s) if value is not None]
        self._started_s = min(started, default=None)
        self._users.add(process.user or "")
        self._gpus.update(use.gpu_index for use in process.gpus)
        if process.progress is not None and process.progress.percent is not None:
            self._percent = process.progress.percent
