"""The processes to ask about: those of a job, of a finding, or one."""

from collections.abc import Sequence
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from gputop.core.insight.member import Member
from gputop.core.model.finding import Finding, Stage
from gputop.core.model.process_id import ProcessId
from gputop.core.model.sample import Frame, HostProcess, Job, Presence
from gputop.core.processes.program import program_of

HANGS: Final = ("stuck.", "stalled.")
_STANDS: Final = (*HANGS, "process.")


class Asked(Struct, frozen=True, kw_only=True):
    """Processes to ask about. ``label``: of all, for people.

    ``marked``: the processes by which the user named the job. ``since_s``: when a finding says that they ceased to
    progress.
    """

    label: str
    members: tuple[Member, ...]
    marked: tuple[Member, ...] = ()
    since_s: float | None = None

    @property
    def heading(self) -> str:
        """``job 90117.0 of process 61020 (rank 0)``: explanations name a process by its rank."""
        if not self.marked or {one.pid for one in self.marked} >= {one.pid for one in self.members}:
            return self.label
        noun = "process" if len(self.marked) == 1 else "processes"
        return f"{self.label} of {noun} {', '.join(map(_marked_text, self.marked))}"


class AlarmedHangs:
    """The hangs that became alarms, each once."""

    def __init__(self) -> None:
        self._known: set[tuple[object, ...]] = set()

    def new(self, frame: Frame) -> list[Asked]:
        """Return the processes of each hang that is an alarm and was none in the frames before."""
        hangs = [one for one in frame.findings if one.stage is Stage.ALARM and one.code.startswith(HANGS)]
        found = [of_finding(frame, one) for one in hangs if one.key not in self._known]
        self._known = {one.key for one in hangs} | (self._known & {one.key for one in frame.findings})
        return [asked for asked in found if asked.members]


def member_of(process: HostProcess) -> Member:
    """Return a process as a member."""
    return Member(
        pid=process.pid,
        start_ticks=process.start_ticks,
        rank=process.owner.rank,
        gpus=tuple(sorted({use.gpu_index for use in process.gpus})),
        name=program_of(process.command).text,
        user=process.user,
    )


def of_process(frame: Frame, process: HostProcess) -> Asked:
    """Return the job of a rank or launcher with that process marked; else the process alone, such as a data loader."""
    member = member_of(process)
    job = next((job for job in frame.jobs if process.id in job.members), None)
    if job is not None:
        asked = of_job(frame, job)
        if process.id == job.launcher or process.pid in {one.pid for one in asked.members}:
            return replace(asked, marked=(member,))
    return of_member(member, _since_s(frame, {process.id}, None))


def of_member(member: Member, since_s: float | None = None) -> Asked:
    """Return one process."""
    return Asked(label=f"process {_marked_text(member)}", members=(member,), since_s=since_s)


def of_job(frame: Frame, job: Job) -> Asked:
    """Return the processes of a job that use GPUs, in the order of their ranks; all if none does."""
    known = {process.id: process for process in (*frame.relatives, *frame.processes)}
    found = [known[id_] for id_ in job.members if id_ in known and known[id_].presence is Presence.ALIVE]
    working = [process for process in found if process.gpus] or found
    members = sorted(map(member_of, working), key=lambda one: (one.rank is None, one.rank or 0, one.pid))
    since_s = _since_s(frame, set(job.members), job.key)
    return Asked(label=f"job {job.label}", members=tuple(members), since_s=since_s)


def of_finding(frame: Frame, finding: Finding) -> Asked:
    """Return the processes of a finding: its job, the job of its process, its process, or those on its GPU."""
    subject = finding.subject
    job = next((one for one in frame.jobs if one.key == subject.job or subject.process in one.members), None)
    if job is not None:
        found = of_job(frame, job)
    else:
        on_it = [one for one in frame.processes if _is_of(one, subject.process, subject.gpu)]
        found = Asked(label=subject.label, members=tuple(map(member_of, on_it)))
    since_s = finding.since_s if finding.code.startswith(_STANDS) else found.since_s
    return Asked(label=found.label, members=found.members, since_s=since_s)


def joined(asked: Sequence[Asked]) -> Asked:
    """Return the processes of several questions, each once."""
    return Asked(
        label=", ".join(dict.fromkeys(one.label for one in asked)),
        members=tuple({member.pid: member for one in asked for member in one.members}.values()),
        marked=tuple({member.pid: member for one in asked for member in one.marked}.values()),
        since_s=min((one.since_s for one in asked if one.since_s is not None), default=None),
    )


def _marked_text(member: Member) -> str:
    return f"{member.pid}" if member.rank is None else f"{member.pid} ({member.label})"


def _is_of(process: HostProcess, id_: ProcessId | None, gpu: str | None) -> bool:
    if process.presence is not Presence.ALIVE:
        return False
    if id_ is not None:
        return process.id == id_
    return gpu is not None and any(use.gpu == gpu for use in process.gpus)


def _since_s(frame: Frame, processes: set[ProcessId], job: str | None) -> float | None:
    """Return the beginning of the first finding of a hang about these processes."""
    found = [
        finding.since_s
        for finding in frame.findings
        if finding.code.startswith(_STANDS)
        and (finding.subject.process in processes or (job is not None and finding.subject.job == job))
    ]
    return min(found, default=None)
