"""Wait: until a GPU is free, a process or job has ended, or there is a finding."""

import os
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Final

from msgspec import Struct

from gputop.app.backend.backend import BackendRequest
from gputop.app.backend.operations.choice import open_operations
from gputop.app.errors import OK, BadRequestError
from gputop.app.monitoring.frames import frames, open_source
from gputop.app.monitoring.pick import require_all_processes
from gputop.app.terminal import print_json, warn
from gputop.core.inspection.inspection import Inspection
from gputop.core.model.process_id import ProcessId
from gputop.core.model.sample import Frame
from gputop.core.notification.lookout import Lookout
from gputop.core.notification.notification import Condition, Event, Notification
from gputop.core.processes.jobs import jobs_named
from gputop.core.processes.program import program_of
from gputop.core.protocol.command import Inspect, ReadStatus
from gputop.core.protocol.process_status import ProcessStatuses
from gputop.core.text.text import clean, excerpt
from gputop.lazy_imports import collect_seldom
from gputop.wire.server import Rhythm

_TIME_OVER: Final = 1
_LONGEST_PID: Final = 10  # digits; int() refuses thousands of them
_NEVER: Final = float("inf")


class WaitRequest(Struct, frozen=True, kw_only=True):
    """What to wait for, as ``free:3``; the first that happens counts. ``limit_s``: None waits for ever."""

    backend: BackendRequest
    goals: tuple[str, ...]
    limit_s: float | None = None
    notifies: bool = False
    format: str = "text"


def wait(request: WaitRequest) -> int:
    """Wait, print what happened, notify if that is requested, and return the exit status."""
    backend = request.backend
    if any(goal.startswith(Event.FREE.value) for goal in request.goals):
        require_all_processes(backend, "wait free")
    if backend.source is not None and any(goal.startswith(Event.ENDED.value) for goal in request.goals):
        raise BadRequestError("a plugin's source does not report the end of processes")
    source, operations = open_source(backend, is_once=False), open_operations(backend)
    rhythm = Rhythm(source)
    step = frames(source, backend, waits=True, notify=warn)
    collect_seldom()
    until = time.monotonic() + (_NEVER if request.limit_s is None else request.limit_s)
    first = step()
    goals = [goal_of(text, first, operations.inspect) for text in request.goals]
    happened = waited(first, goals, step, operations.process_status, partial(_pause, rhythm, until))
    for one in happened:
        print_json(one) if request.format == "json" else print(clean(one.text))
    if happened and request.notifies:
        _notify(happened)
    return OK if happened else _TIME_OVER


def waited(
    first: Frame,
    goals: Sequence[Condition | Notification],
    step: Callable[[], Frame],
    process_status: Callable[[ReadStatus], ProcessStatuses],
    pause: Callable[[], bool],
) -> list[Notification]:
    """Return what happened first; empty if the time is over. ``pause``: waits, and returns whether time is left."""
    happened = [goal for goal in goals if isinstance(goal, Notification)]
    lookout, frame = Lookout(), first
    for goal in goals:
        if isinstance(goal, Condition):
            lookout.add(goal, first, has_past=True)
    while not happened:
        happened += lookout.take_frame(frame)
        unsure = lookout.unsure()
        if unsure:
            happened += lookout.take_statuses(process_status(ReadStatus(id="wait", targets=unsure)))
        if not happened and not pause():
            break
        frame = frame if happened else step()
    return happened


def goal_of(text: str, frame: Frame, inspect: Callable[[Inspect], Inspection]) -> Condition | Notification:
    """Return the condition of a text such as ``ended:4711``, or that it holds. Raises BadRequestError."""
    event, _, name = text.partition(":")
    match event:
        case "free" if not name:
            return Condition(event=Event.FREE, plain="any GPU")
        case "free":
            gpus = [gpu for gpu in frame.gpus if name in {str(gpu.index), gpu.uuid}]
            if not gpus:
                raise BadRequestError(f"no such GPU: {excerpt(name)}")
            return Condition(event=Event.FREE, plain=f"GPU {gpus[0].index}", gpu=gpus[0].uuid)
        case "ended":
            return _process(int(name), frame, inspect) if _is_pid(name, frame) else _job(name, frame)
        case _:
            return Condition(event=Event.FINDING, plain="any GPU or process")


def _is_pid(name: str, frame: Frame) -> bool:
    """Return whether a name is that of a process; a number may also be that of a job."""
    is_number = name.isdecimal() and len(name) <= _LONGEST_PID
    return is_number and (_on_gpus(int(name), frame) is not None or not jobs_named(name, frame.jobs))


def _on_gpus(pid: int, frame: Frame) -> tuple[ProcessId, str] | None:
    held = (one for shown in (frame.processes, frame.relatives) for one in shown if one.pid == pid)
    return next(((one.id, one.command) for one in held if one.start_ticks is not None), None)


def _process(pid: int, frame: Frame, inspect: Callable[[Inspect], Inspection]) -> Condition | Notification:
    known = _on_gpus(pid, frame)
    if known is None:
        found = inspect(Inspect(id="", pid=pid))
        if found.has_ended:
            text = f"process {pid} does not run"
            return Notification(
                event=Event.ENDED, title=text, text=text, host=frame.host.name, time_s=frame.time_s, pids=(pid,)
            )
        if found.start_ticks is None:
            raise BadRequestError(f"process {pid}: {found.problem or 'its start time is unknown'}")
        known = ProcessId(pid, found.start_ticks), " ".join(found.command)
    name = program_of(known[1]).text
    return Condition(event=Event.ENDED, plain=f"process {pid}", label=name, processes=(known[0],))


def _job(name: str, frame: Frame) -> Condition:
    found = jobs_named(name, frame.jobs)
    if len(found) != 1:
        names = ", ".join(job.label for job in found or frame.jobs) or "none"
        raise BadRequestError(
            f"{'several jobs are' if found else 'no job is'} called {excerpt(name)}. Jobs on GPUs: {excerpt(names)}"
        )
    job = found[0]
    plain = f"job of {len(job.members)} processes"
    label = f"{job.kind.value} {job.label}"
    return Condition(event=Event.ENDED, plain=plain, label=label, job=job.key, processes=job.members)


def _pause(rhythm: Rhythm, until: float) -> bool:
    if time.monotonic() >= until:
        return False
    rhythm.wait()
    return True


def _notify(happened: Sequence[Notification]) -> None:
    from gputop.app.notifying import notify
    from gputop.app.settings.settings_file import settled

    settings = settled().settings
    for one in happened:
        for reason in notify(one, settings, os.environ):
            warn(f"not sent: {reason}")
