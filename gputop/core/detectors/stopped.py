"""The detector of processes that hold a GPU while they are stopped, or blocked inside the kernel."""

from collections.abc import Iterator, Mapping
from typing import Final

from msgspec import Struct

from gputop.core.detection.detector import FORGET_S, Claim, Context, Dial, Kind
from gputop.core.detectors.subjects import process_subject
from gputop.core.model.finding import Evidence, Stage
from gputop.core.model.sample import GpuProcess, HostProcess
from gputop.core.model.units import bytes_text, duration_text

KIND: Final = Kind(
    name="stopped",
    question="Is a process on a GPU stopped, or blocked in the kernel?",
    codes={
        "process.stopped": "A signal or a debugger stopped a process on a GPU. It keeps its memory.",
        "process.blocked": "A process on a GPU waits inside the kernel. No signal can end it.",
    },
    remedies={
        "process.stopped": "Continue it (`kill -CONT PID`, or `F9`), or end it to free its memory.",
        "process.blocked": "Check the storage that it reads. To see where it waits: `sudo cat /proc/PID/stack`.",
    },
    dials=(
        Dial("stopped_s", 5.0, 0.0, 3600.0, "If a process is stopped for this time, that is an alarm."),
        Dial("blocked_s", 30.0, 5.0, 3600.0, "If a process is blocked for this time, that is a suspect."),
        Dial("blocked_alarm_s", 120.0, 5.0, 86400.0, "If a process is blocked for this time, that is an alarm."),
        Dial(
            "still_percent", 1.0, 0.0, 100.0,
            "A process in state D is not blocked if it uses more CPU than this: it still makes progress.",
        ),
    ),
    is_instant=True,
)  # fmt: skip

_STOPPED, _TRACED, _BLOCKED = "T", "t", "D"
_STOPPED_BY: Final = {_STOPPED: "a signal", _TRACED: "a debugger"}


class _Since(Struct):
    state: str
    since_s: float
    seen_s: float


class StoppedDetector:
    """Remembers since when each process has been stopped or blocked."""

    def __init__(self, dials: Mapping[str, float]) -> None:
        self._stopped_s, self._still = dials["stopped_s"], dials["still_percent"]
        self._blocked_s, self._blocked_alarm_s = dials["blocked_s"], dials["blocked_alarm_s"]
        self._since: dict[tuple[int, int | None], _Since] = {}

    def detect(self, context: Context) -> Iterator[Claim]:
        """Return a claim per process that is stopped or blocked."""
        since = self._since
        for process in context.due:
            state = process.state
            if state in (_STOPPED, _TRACED) or (state == _BLOCKED and (process.cpu_percent or 0.0) <= self._still):
                yield from self._judged(process, state, context)
            elif since:
                since.pop((process.pid, process.start_ticks), None)
        for key, one in tuple(since.items()):
            if context.now_s - one.seen_s > FORGET_S:
                del since[key]

    def _judged(self, process: HostProcess, state: str, context: Context) -> Iterator[Claim]:
        key = (process.pid, process.start_ticks)
        one = self._since.get(key)
        if one is None or one.state != state:
            one = self._since[key] = _Since(state, context.now_s, context.now_s)
        one.seen_s = context.now_s
        lasted_s = context.now_s - one.since_s
        if state == _BLOCKED and lasted_s >= self._blocked_s:
            stage = Stage.ALARM if lasted_s >= self._blocked_alarm_s else Stage.SUSPECT
            yield _blocked(process, stage, lasted_s, one.since_s)
        elif state == _TRACED:
            yield _stopped(process, Stage.OBSERVATION, lasted_s, one.since_s)
        elif state == _STOPPED:
            stage = Stage.ALARM if lasted_s >= self._stopped_s else Stage.SUSPECT
            yield _stopped(process, stage, lasted_s, one.since_s)


def _stopped(process: HostProcess, stage: Stage, lasted_s: float, since_s: float) -> Claim:
    cause = _STOPPED_BY[process.state or _STOPPED]
    remedy = (
        f"Continue it: kill -CONT {process.pid}. If it is no longer needed, end it: only that frees the memory."
        if process.state == _STOPPED
        else f"It continues when the debugger releases it: see TracerPid in /proc/{process.pid}/status."
    )
    return Claim(
        code="process.stopped",
        stage=stage,
        subject=process_subject(process, _only(process)),
        summary=f"stopped{_for(lasted_s)} by {cause} (state {process.state}); holds {_holds(process)}",
        evidence=_evidence(process, lasted_s, "stopped"),
        remedy=remedy,
        action="signal",
        began_s=since_s,
        hold_s=2.0,
    )


def _blocked(process: HostProcess, stage: Stage, lasted_s: float, since_s: float) -> Claim:
    return Claim(
        code="process.blocked",
        stage=stage,
        subject=process_subject(process, _only(process)),
        summary=f"blocked for {duration_text(lasted_s)} inside the kernel (state D), without using the CPU; "
        f"holds {_holds(process)}",
        evidence=_evidence(process, lasted_s, "blocked"),
        remedy=f"No signal ends it, not even kill -9. Check the storage that it reads (sudo cat /proc/{process.pid}/"
        "stack) and the kernel log. Reset the GPU only if the driver or an Xid error requests it.",
        action="process",
        confidence=0.8 if stage is Stage.ALARM else 0.6,
        began_s=since_s,
        hold_s=5.0,
    )


def _for(lasted_s: float) -> str:
    """Return the time for which it was observed; nothing at the first sample."""
    return f" for {duration_text(lasted_s)}" if lasted_s >= 1 else ""


def _evidence(process: HostProcess, lasted_s: float, what: str) -> tuple[Evidence, ...]:
    held = sum(use.memory_bytes or 0 for use in process.gpus)
    return (
        Evidence("state", process.state, f"state {process.state}"),
        Evidence("lasted_s", round(lasted_s, 1), f"{what}{_for(lasted_s)}"),
        Evidence("memory_bytes", held, f"holds {bytes_text(held)}"),
    )


def _holds(process: HostProcess) -> str:
    held = bytes_text(sum(use.memory_bytes or 0 for use in process.gpus))
    one = _only(process)
    return f"{held} on GPU {one.gpu_index}" if one else f"{held} on {len(process.gpus)} GPUs"


def _only(process: HostProcess) -> GpuProcess | None:
    return process.gpus[0] if len(process.gpus) == 1 else None
