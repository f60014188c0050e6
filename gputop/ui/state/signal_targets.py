"""The targets of a change: the selected processes alone, with their job, or with their descendants."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from enum import Enum
from typing import Final, TypeAlias

from msgspec import Struct

from gputop.core.model.process_id import ProcessId
from gputop.core.model.sample import Frame, HostProcess, Job, Presence
from gputop.core.model.units import NOTHING, bytes_text
from gputop.core.processes.owner_command import owner_command
from gputop.core.processes.program import LAUNCHERS, program_of
from gputop.core.protocol.targets import parents_first, users_text
from gputop.core.text.ranges import ranges

Processes: TypeAlias = tuple[HostProcess, ...]
_TO_LAUNCHERS: Final = frozenset(
    {"SIGTERM", "SIGINT", "SIGHUP", "SIGQUIT"}
)  # a launcher that gets one ends its workers
_INIT: Final = 1
ROOT: Final = frozenset({None, "root"})


class Scope(str, Enum):
    """The targets that a change takes in besides the selected processes."""

    PROCESS = "process"
    JOB = "job"
    TREE = "tree"


class TargetSelection(Struct, frozen=True):
    """What was chosen, and the frame in which it was: nothing that happens later changes whom it means.

    ``own_user``: of gputop; None or root may do everything. ``own_pid``: of the screen, where it is among those shown.
    """

    frame: Frame
    selected: Processes
    own_user: str | None = None
    own_pid: int | None = None

    def within(self, scope: Scope) -> Processes:
        """Return the targets of a scope, parents before children."""
        if scope is Scope.JOB:
            wanted = {one.id for one in self.selected}
            jobs = (set(job.members) for job in self.frame.jobs)
            return parents_first(
                find_processes(self.frame, wanted.union(*(members for members in jobs if wanted & members)))
            )
        if scope is Scope.TREE:
            return parents_first(descendants(self.frame, self.selected))
        return parents_first(self.selected)

    def beginning(self, scope: Scope) -> Scope:
        """Return the scope that a change begins with: the wanted one, unless it has processes of several users."""
        return Scope.PROCESS if users_text(self.within(scope)) else scope

    def by_scope(self) -> dict[Scope, Processes]:
        """Return the targets of each scope; JOB is there only if a selected process is in a job."""
        selected = {one.id for one in self.selected}
        has_job = any(not selected.isdisjoint(job.members) for job in self.frame.jobs)
        scopes = [scope for scope in Scope if scope is not Scope.JOB or has_job]
        return {scope: self.within(scope) for scope in scopes}

    def word(self, scope: Scope) -> str:
        """Return the name of a scope."""
        return "chosen" if scope is Scope.PROCESS and len(self.selected) > 1 else scope.value

    def label(self, scope: Scope) -> str:
        """Return the name of the job; empty for other scopes."""
        if scope is not Scope.JOB:
            return ""
        selected = {one.id for one in self.selected}
        names = [f"{job.kind.value} {job.label}" for job in self.frame.jobs if not selected.isdisjoint(job.members)]
        return names[0] if len(names) == 1 else f"{len(names)} jobs"

    def via_launcher(self, signal: str, targets: Sequence[HostProcess]) -> dict[ProcessId, HostProcess]:
        """Return the workers that do not get the signal, with the launcher that gets it and ends them."""
        if signal not in _TO_LAUNCHERS:
            return {}
        by_id = {one.id: one for one in targets}
        jobs = [job for job in self.frame.jobs if job.launcher in by_id]
        known = {one.id for one in find_processes(self.frame, {member for job in jobs for member in job.members})}
        return {
            worker: launcher
            for job in jobs
            if (launcher := _leader(job, by_id, known)) is not None
            for worker in job.members
            if worker != launcher.id and worker in by_id
        }

    @property
    def is_root(self) -> bool:
        """Whether gputop may change processes of all users."""
        return self.own_user in ROOT

    def foreign_owner(self, target: HostProcess) -> str:
        """Return the owner of a target whose changes need root; empty if gputop has the rights."""
        return "" if self.is_root or target.user is None or target.user == self.own_user else target.user

    def obstacle(self, target: HostProcess) -> str:
        """Return why a change may have no effect on a target; empty if none is known."""
        never = self._never(target)
        if never:
            return f"will be refused: {never}"
        if target.state in {"Z", "X"}:
            return "has exited; its parent has not collected it yet"
        if target.user is None:
            return "may be refused: its owner is unknown"
        if self.foreign_owner(target):
            return f"will be refused without root: owned by {target.user}"
        return (
            "in uninterruptible sleep (D): the signal takes effect when its kernel call returns"
            if target.state == "D"
            else ""
        )

    def _never(self, target: HostProcess) -> str:
        """Return why gputop refuses every change of a target; empty if it does not."""
        if target.presence is not Presence.ALIVE:
            return target.presence.text
        if target.pid == _INIT:
            return "it is init, which everything depends on"
        is_own = self.own_pid is not None and self.own_pid in {target.pid, target.parent_pid}
        return "it is gputop itself" if is_own else ""


class SignalRequest(Struct, frozen=True):
    """A signal that the user decided to send. ``recipients``: the targets that get the signal itself.

    A launcher that gets it ends the other targets. ``offers_kill``: wait, and then offer SIGKILL for those that remain.
    """

    signal: str
    recipients: Processes
    targets: Processes
    offers_kill: bool


def _leader(job: Job, targets: Mapping[ProcessId, HostProcess], known: Collection[ProcessId]) -> HostProcess | None:
    """Return the launcher of a job whose members are all targets, if a signal to it ends them."""
    launcher = targets.get(job.launcher) if job.launcher else None
    if launcher is None or any(member in known and member not in targets for member in job.members):
        return None
    workers = [targets[member] for member in job.members if member in targets]
    is_fit = launcher.presence is Presence.ALIVE and launcher.state not in {"Z", "X", "D"} and launcher.pid != _INIT
    return launcher if is_fit and all(worker.user == launcher.user for worker in workers) else None


def all_processes(frame: Frame) -> dict[ProcessId, HostProcess]:
    """Return all processes of a frame, also those without a GPU."""
    return {one.id: one for one in (*frame.processes, *frame.relatives)}


def find_processes(frame: Frame, ids: Collection[ProcessId]) -> Processes:
    """Return the processes of a frame with these identities."""
    pids = {one.pid for one in ids}
    return tuple(
        one for held in (frame.processes, frame.relatives) for one in held if one.pid in pids and one.id in ids
    )


def descendants(frame: Frame, roots: Iterable[HostProcess]) -> list[HostProcess]:
    """Return the roots and all their descendants."""
    children: dict[int | None, list[HostProcess]] = {}
    for one in (*frame.processes, *frame.relatives):
        children.setdefault(one.parent_pid, []).append(one)
    found: dict[ProcessId, HostProcess] = {}
    waiting = list(roots)
    while waiting:
        one = waiting.pop(0)
        if one.id not in found:
            found[one.id] = one
            waiting += children.get(one.pid, []) if one.presence is Presence.ALIVE else []
    return list(found.values())


def family(frame: Frame, process: HostProcess) -> Processes:
    """Return the whole job of a process; without a job, the process and its descendants."""
    jobs = [job.members for job in frame.jobs if process.id in job.members]
    return find_processes(frame, jobs[0]) if jobs else tuple(descendants(frame, [process]))


def has_known_launcher(frame: Frame, process: HostProcess) -> bool:
    """Return whether a process belongs to a job whose launcher is a known program: torchrun, srun, mpirun."""
    launchers = {job.launcher for job in frame.jobs if process.id in job.members and job.launcher is not None}
    return any(program_of(one.command).known in LAUNCHERS for one in find_processes(frame, launchers))


def common_command(targets: Sequence[HostProcess]) -> str:
    """Return the owner's command that ends the targets (scancel, kubectl, docker), if they share one."""
    commands = {owner_command(one.owner) for one in targets}
    command = commands.pop() if len(commands) == 1 else None
    return f"To end {command.ends}: {command.text}" if command else ""


def gpu_bytes(process: HostProcess) -> int | None:
    """Return the GPU memory of a process on all GPUs; None if it is unknown."""
    held = [use.memory_bytes for use in process.gpus if use.memory_bytes is not None]
    return sum(held) if held else None


def count_text(targets: Sequence[HostProcess]) -> str:
    """Return ``1 process`` or ``3 processes``."""
    return "1 process" if len(targets) == 1 else f"{len(targets)} processes"


def sum_text(targets: Sequence[HostProcess]) -> str:
    """Return the number of targets, their users and their GPU memory."""
    users = sorted({one.user or "an unknown user" for one in targets})
    held = [size for one in targets if (size := gpu_bytes(one)) is not None]
    gpus = tuple({use.gpu_index for one in targets for use in one.gpus})
    memory = bytes_text(sum(held)) if held else NOTHING
    where = f"{memory} on GPU {ranges(gpus)}" if gpus else "no GPU memory"
    return f"{count_text(targets)} of {', '.join(users)}, {where}"
