"""Lookout: compares frames with the conditions that the user waits for. Each condition ends when it holds."""

from collections.abc import Iterator, Sequence

from gputop.core.detection.watchlist import concerned_by
from gputop.core.model.finding import Finding, Stage
from gputop.core.model.process_id import ProcessId
from gputop.core.model.sample import Frame
from gputop.core.notification.ending import Ending
from gputop.core.notification.notification import Condition, Event, Notification
from gputop.core.protocol.command import Target
from gputop.core.protocol.process_status import ProcessStatuses
from gputop.core.query.free import Vacancies, vacancies


class Lookout:
    """Holds conditions. It takes every frame, and the status of the processes that it requests with `unsure`."""

    def __init__(self) -> None:
        self._held: dict[tuple[object, ...], Condition] = {}
        self._endings: dict[tuple[object, ...], Ending] = {}
        self._ranks: dict[tuple[object, ...], dict[tuple[object, ...], int]] = {}
        self._before: Frame | None = None

    @property
    def conditions(self) -> tuple[Condition, ...]:
        """The conditions, in the order in which they were added."""
        return tuple(self._held.values())

    @property
    def marked(self) -> frozenset[ProcessId | str]:
        """The processes, and the GPUs by uuid, that the conditions are about."""
        others = [one for one in self._held.values() if one.event is not Event.ENDED]
        gpus = {one.gpu for one in others if one.gpu is not None}
        processes = {process for one in others for process in one.processes}
        return frozenset({*gpus, *processes, *(each for one in self._endings.values() for each in one.processes)})

    def add(self, condition: Condition, frame: Frame, *, has_past: bool = False) -> None:
        """Wait for a condition from this frame on. ``has_past``: findings of this frame count as new."""
        self._held[condition.key] = condition
        if condition.event is Event.ENDED:
            self._endings[condition.key] = Ending(condition, frame)
        elif condition.event is Event.FINDING:
            present = () if has_past else _about(condition, frame)
            self._ranks[condition.key] = {one.key: one.stage.rank for one in present}

    def remove(self, condition: Condition) -> bool:
        """Stop waiting for a condition; return whether it was held."""
        self._endings.pop(condition.key, None)
        self._ranks.pop(condition.key, None)
        return self._held.pop(condition.key, None) is not None

    def take_frame(self, frame: Frame) -> list[Notification]:
        """Take a frame; return the notification of each condition that holds now, and end these conditions."""
        before, self._before = self._before, frame
        for ending in self._endings.values():
            ending.take_frame(frame)
        wants_free = any(one.event is Event.FREE for one in self._held.values())
        found = vacancies(before, frame) if wants_free and before is not None else Vacancies()
        return list(self._happened(frame, found))

    def unsure(self) -> tuple[Target, ...]:
        """Return the processes that the last frame does not show: they may have ended."""
        return tuple(dict.fromkeys(one for ending in self._endings.values() for one in ending.unsure()))

    def take_statuses(self, statuses: ProcessStatuses) -> list[Notification]:
        """Take the status of processes; return the notifications of processes and jobs that have ended."""
        gone = {ProcessId(one.pid, one.start_ticks) for one in statuses.statuses if one.is_running is False}
        for ending in self._endings.values():
            ending.take_ended(gone)
        over = [(self._held[key], ending) for key, ending in self._endings.items() if ending.is_over]
        for condition, _ in over:
            self.remove(condition)
        return [ending.notification() for _, ending in over]

    def _happened(self, frame: Frame, found: Vacancies) -> Iterator[Notification]:
        for condition in self.conditions:
            notification = None
            if condition.event is Event.FREE:
                notification = _freed(condition, frame, found)
            elif condition.event is Event.FINDING:
                notification = self._found(condition, frame)
            if notification is not None:
                self.remove(condition)
                yield notification

    def _found(self, condition: Condition, frame: Frame) -> Notification | None:
        ranks, present = self._ranks[condition.key], _about(condition, frame)
        new = [one for one in present if one.stage.rank > ranks.get(one.key, 0)]
        self._ranks[condition.key] = {one.key: ranks[one.key] for one in present if one.key in ranks}
        return _of_finding(condition, new[0], frame) if new else None


def free_now(condition: Condition, frame: Frame, found: Vacancies) -> tuple[str, ...]:
    """Return the free GPUs and instances of a condition, by their names."""
    if condition.gpu is None:
        return tuple(one.place for one in found.free)
    return tuple(str(gpu.index) for gpu in frame.gpus if gpu.uuid == condition.gpu and found.is_free(gpu))


def _freed(condition: Condition, frame: Frame, found: Vacancies) -> Notification | None:
    places = free_now(condition, frame, found)
    if not places:
        return None
    title = f"GPU {places[0]} is free" if len(places) == 1 else f"GPUs {' '.join(places)} are free"
    indices = tuple(dict.fromkeys(int(place.partition(":")[0]) for place in places))
    return Notification(
        event=Event.FREE, title=title, text=title, host=frame.host.name, time_s=frame.time_s, gpus=indices
    )


def _about(condition: Condition, frame: Frame) -> Sequence[Finding]:
    """Return the suspects and alarms that a condition is about, the gravest first."""
    grave = [one for one in frame.findings if one.stage is not Stage.OBSERVATION]
    members = [member for job in frame.jobs if job.key == condition.job for member in job.members]
    names: set[ProcessId | str] = {*condition.processes, *members, *((condition.gpu,) if condition.gpu else ())}
    if not names and condition.job is None:
        return grave
    by_name = concerned_by(grave, frame)
    keys = {one.key for name in names for one in by_name.get(name, ())}
    return [one for one in grave if one.key in keys or (condition.job and one.subject.job == condition.job)]


def _of_finding(condition: Condition, finding: Finding, frame: Frame) -> Notification:
    subject = finding.subject
    gpus = tuple(gpu.index for gpu in frame.gpus if gpu.uuid == subject.gpu)
    where = f"process {subject.process.pid}" if subject.process else condition.plain if condition.key[1:] else ""
    where = f"GPU {gpus[0]}" if gpus and not subject.process else where
    return Notification(
        event=Event.FINDING,
        title=f"{finding.stage.value} {finding.code}" + (f": {where}" if where else ""),
        text=f"{finding.stage.value} {subject.label}: {finding.summary}",
        host=frame.host.name,
        time_s=frame.time_s,
        gpus=gpus,
        pids=(subject.process.pid,) if subject.process else (),
        code=finding.code,
        stage=finding.stage.value,
    )
