"""The watchlist: present findings, muted ones apart, and past ones."""

from collections.abc import Collection, Mapping, Sequence
from typing import Final

from msgspec import Struct

from gputop.core.detection.timeline import Episode, Timeline
from gputop.core.model.finding import Finding, Stage
from gputop.core.model.process_id import ProcessId
from gputop.core.model.sample import Frame

MUTED_S: Final = 3600.0
_MOST_PAST: Final = 200

Marks = Mapping[ProcessId | str, Stage]


class Standing(Struct, frozen=True):
    """The findings of a frame. ``marks``: the gravest suspect or alarm of each process, and of each GPU by uuid.

    ``about``: the findings that concern a process or a GPU. A finding about a job concerns all its processes; one about
    a process concerns its GPUs too.
    """

    findings: tuple[Finding, ...] = ()
    muted: tuple[Finding, ...] = ()
    marks: Marks = {}
    about: Mapping[ProcessId | str, Sequence[Finding]] = {}

    def of(self, subject: ProcessId | str) -> Sequence[Finding]:
        """Return the findings that concern a process, or a GPU by its uuid."""
        return self.about.get(subject, ())


class Watchlist:
    """Follows findings from frame to frame, and keeps the ones that the user muted."""

    def __init__(self) -> None:
        self._timeline = Timeline(_MOST_PAST)
        self._muted: dict[tuple[object, ...], float] = {}
        self._concerned: dict[tuple[object, ...], set[ProcessId | str]] = {}
        self._alarms: frozenset[tuple[object, ...]] = frozenset()

    def take(self, frame: Frame) -> bool:
        """Take a frame; return whether it has a new alarm that is not muted."""
        self._timeline.add(frame.time_s, frame.time_s, frame.findings)
        standing = self.standing(frame)
        self._note_concerned(standing)
        alarms = frozenset(one.key for one in standing.findings if one.stage is Stage.ALARM)
        is_new = bool(alarms - self._alarms)
        self._alarms = alarms
        return is_new

    def forget(self) -> None:
        """Forget past findings; muted ones stay muted."""
        self._timeline, self._alarms = Timeline(_MOST_PAST), frozenset()
        self._concerned.clear()

    def standing(self, frame: Frame) -> Standing:
        """Return the findings of a frame."""
        muted = {key for key, until_s in self._muted.items() if frame.time_s < until_s}
        shown = tuple(one for one in frame.findings if one.key not in muted)
        if not frame.findings:
            return _NOTHING
        hidden = tuple(one for one in frame.findings if one.key in muted)
        about = concerned_by((*shown, *hidden), frame)
        return Standing(shown, hidden, _marks(about, frozenset(muted)), about)

    def mute(self, finding: Finding, time_s: float) -> bool:
        """Mute a finding for an hour, or show it again; return whether it is muted now.

        ``time_s``: of the frame.
        """
        if self._muted.get(finding.key, 0.0) > time_s:
            del self._muted[finding.key]
            return False
        self._muted[finding.key] = time_s + MUTED_S
        return True

    def episodes_of(self, subject: ProcessId | str) -> tuple[Episode, ...]:
        """Return the present and past findings that concern a process, or a GPU by its uuid."""
        return tuple(each for each in self._timeline.episodes if subject in self._concerned.get(each.finding.key, ()))

    def _note_concerned(self, standing: Standing) -> None:
        """Remember which processes and GPUs each finding concerns, also after the processes exit."""
        for name, findings in standing.about.items():
            for one in findings:
                self._concerned.setdefault(one.key, set()).add(name)
        if len(self._concerned) > 2 * _MOST_PAST:
            held = {each.finding.key for each in self._timeline.episodes}
            self._concerned = {key: names for key, names in self._concerned.items() if key in held}

    @property
    def past(self) -> tuple[Episode, ...]:
        """The past findings, the last one first."""
        ended = [each for each in self._timeline.episodes if each.end_s is not None]
        return tuple(sorted(ended, key=lambda each: each.end_s or 0.0, reverse=True))


_NOTHING: Final = Standing()


def concerned_by(findings: Sequence[Finding], frame: Frame) -> dict[ProcessId | str, list[Finding]]:
    """Return the findings that concern each process and GPU, in the order given."""
    members = {job.key: job.members for job in frame.jobs} if any(one.subject.job for one in findings) else {}
    found: dict[ProcessId | str, list[Finding]] = {}
    concerned = [{one.subject.process, one.subject.gpu, *members.get(one.subject.job or "", ())} for one in findings]
    used = _gpus_of(frame, {name.pid for names in concerned for name in names if isinstance(name, ProcessId)})
    for one, names in zip(findings, concerned, strict=True):
        gpus = {gpu for name in names if isinstance(name, ProcessId) for gpu in used.get(name, ())}
        for name in names | gpus:
            if name is not None:
                found.setdefault(name, []).append(one)
    return found


def _gpus_of(frame: Frame, pids: Collection[int]) -> dict[ProcessId, set[str]]:
    return {one.id: {use.gpu for use in one.gpus} for one in frame.processes if one.pid in pids}


def _marks(about: Mapping[ProcessId | str, Sequence[Finding]], muted: Collection[object]) -> Marks:
    """Return the marks; findings come with the gravest first."""
    stages = {
        name: next((one.stage for one in findings if one.key not in muted), Stage.OBSERVATION)
        for name, findings in about.items()
    }
    return {name: stage for name, stage in stages.items() if stage is not Stage.OBSERVATION}
