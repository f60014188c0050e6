"""The jobs: processes that were started together, and that are shown, signalled and judged as one.

The first rule that joins two processes or two GPUs makes the job: the same Slurm step, the same torch rendezvous, the
same pod or container, the same launcher, or one process on several GPUs.

A job has processes of several users only if a trusted cgroup joins them: the key of everything else has the user.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from msgspec.structs import replace

from gputop.core.model.owner import CLAIMED
from gputop.core.model.sample import HostProcess, Job, JobKind, Presence
from gputop.core.processes.program import LAUNCHERS, program_of

_DEEPEST: Final = 32
_CROWD: Final = 400  # processes
_NOT_A_JOB: Final = "desktop"
_SYSTEM_CONTAINER: Final = "lxc"  # a machine of several users
_NAMED: Final = frozenset({JobKind.SLURM, JobKind.POD, JobKind.CONTAINER})


class JobFinder:
    """Finds jobs; caches them while the processes stay the same."""

    def __init__(self) -> None:
        self._present: list[tuple[int, int | None]] = []
        self._calls = 0  # with the same processes
        self._seen: list[tuple[object, ...]] = []
        self._found: tuple[Job, ...] = ()

    def find(self, processes: Sequence[HostProcess], relatives: Sequence[HostProcess]) -> tuple[Job, ...]:
        """Return the jobs, by the lowest pid of their processes on GPUs.

        With many unchanged processes, only every few calls check for a changed command, parent or GPU.
        """
        present = [(p.pid, p.start_ticks) for some in (processes, relatives) for p in some]
        self._calls = self._calls + 1 if present == self._present else 0
        self._present = present
        if self._calls % (1 + len(present) // _CROWD):
            return self._found
        alive = [p for p in processes if p.presence is Presence.ALIVE and p.start_ticks is not None]
        others = [p for p in relatives if p.presence is Presence.ALIVE and p.start_ticks is not None]
        seen = [_signature(p) for some in (alive, others) for p in some]
        if seen != self._seen:
            self._seen = seen
            self._found = _Search(alive, others).jobs()
        return self._found


def _signature(process: HostProcess) -> tuple[object, ...]:
    uses = tuple([use.gpu_index for use in process.gpus])
    return (process.pid, process.start_ticks, process.parent_pid, process.user, process.owner, process.command, uses)


def jobs_named(name: str, jobs: Sequence[Job]) -> list[Job]:
    """Return the jobs with a key, a label or a number; of several only those whose name is proven, if one is."""
    found = [job for job in jobs if name in {job.key, job.label, *_names(job)}]
    return [job for job in found if not _is_claimed(job)] or found


def _names(job: Job) -> tuple[str, str]:
    plain = job.label.removesuffix(CLAIMED) if _is_claimed(job) else job.label
    return plain, plain.partition(".")[0]


def _is_claimed(job: Job) -> bool:
    return job.kind in _NAMED and job.label.endswith(CLAIMED)


class _Search:
    """One search. A group: the processes on GPUs that a rule joins."""

    def __init__(self, alive: list[HostProcess], others: list[HostProcess]) -> None:
        self._alive = [p for p in alive if p.owner.framework != _NOT_A_JOB]
        self._others = others
        self._by_pid = {p.pid: p for p in (*others, *alive)}
        self._leaders = {p.pid: self._leader(p) for p in self._alive}

    def jobs(self) -> tuple[Job, ...]:
        left = self._alive
        groups: list[tuple[JobKind, str, list[HostProcess]]] = []
        for kind, key_of in (*_SHARED, (JobKind.LAUNCHER, self._leader_key), (JobKind.PROCESS, _itself)):
            found = {key: group for key, group in _grouped(left, key_of).items() if _joins(kind, group)}
            groups += [(kind, key, group) for key, group in found.items()]
            taken = {process.pid for group in found.values() for process in group}
            left = [process for process in left if process.pid not in taken]
        return self._with_relatives(sorted(groups, key=lambda one: one[2][0].pid))

    def _leader_key(self, process: HostProcess) -> str | None:
        leader = self._leaders[process.pid]
        return f"{leader.pid}/{leader.start_ticks}" if leader else None

    def _leader(self, process: HostProcess) -> HostProcess | None:
        """Return the nearest ancestor that is a launcher by name, or else the topmost that leads."""
        top: HostProcess | None = None
        name = program_of(process.command).name
        for one in self._lineage(process):
            what = program_of(one.command)
            if one.user != process.user or what.is_border:
                break
            if what.known in LAUNCHERS:
                return one
            if what.leads or (what.name == name and what.script is None):
                top = one
        return top

    def _lineage(self, process: HostProcess) -> list[HostProcess]:
        """Return the process and its ancestors."""
        found = [process]
        while len(found) < _DEEPEST and (one := self._by_pid.get(found[-1].parent_pid or 0)):
            found.append(one)
        return found

    def _with_relatives(self, groups: list[tuple[JobKind, str, list[HostProcess]]]) -> tuple[Job, ...]:
        places = {process.pid: at for at, (_, _, group) in enumerate(groups) for process in group}
        launchers = [self._launcher(group) for _, _, group in groups]
        for at, launcher in enumerate(launchers):
            if launcher:
                places.setdefault(launcher.pid, at)
                for process in groups[at][2]:
                    self._claim_between(process, launcher, at, places)
        keys = {(kind, key): at for at, (kind, key, _) in enumerate(groups)}
        for other in self._others:
            self._place(other, keys, places)
        members: list[list[HostProcess]] = [[] for _ in groups]
        for pid, at in places.items():
            members[at].append(self._by_pid[pid])
        return tuple(
            self._job(kind, key, group, launcher, own)
            for (kind, key, group), launcher, own in zip(groups, launchers, members, strict=True)
        )

    def _launcher(self, group: list[HostProcess]) -> HostProcess | None:
        """Return the process that leads the whole group; None if there is none."""
        leaders = {leader.pid: leader for process in group if (leader := self._leaders[process.pid])}
        is_led = len(leaders) == 1 and all(self._leaders[process.pid] for process in group)
        leader = next(iter(leaders.values())) if is_led else None
        return None if leader and [leader.pid] == [process.pid for process in group] else leader

    def _claim_between(self, process: HostProcess, launcher: HostProcess, at: int, places: dict[int, int]) -> None:
        """Count the processes between a launcher and its worker as members: scripts that wrap it."""
        for one in self._lineage(process):
            if one.pid == launcher.pid:
                return
            places.setdefault(one.pid, at)

    def _place(self, other: HostProcess, keys: Mapping[tuple[JobKind, str], int], places: dict[int, int]) -> None:
        """Put a process without a GPU into the job of its nearest ancestor, or into the job with the same key.

        An ancestor of another user does not count: root may start programs for all users, and all users may use sudo.
        """
        near = (one for one in self._lineage(other) if one.pid in places)
        at = next((places[one.pid] for one in near if one.user == other.user), None)
        if at is None:
            shared = ((kind, key_of(other)) for kind, key_of in _SHARED)
            at = next((keys[kind, key] for kind, key in shared if key and (kind, key) in keys), None)
        if at is not None:
            places.setdefault(other.pid, at)

    def _job(
        self,
        kind: JobKind,
        key: str,
        group: list[HostProcess],
        launcher: HostProcess | None,
        members: list[HostProcess],
    ) -> Job:
        depths = {process.pid: len(self._lineage(process)) for process in members}
        first = launcher.pid if launcher else None
        members.sort(key=lambda process: (process.pid != first, depths[process.pid], process.pid))
        return Job(
            key=f"{kind.value}:{key}",
            kind=kind,
            label=_owner_label(kind, group[0]) or self._label(group[0], launcher),
            launcher=launcher.id if launcher else None,
            members=tuple(process.id for process in members),
        )

    def _label(self, first: HostProcess, launcher: HostProcess | None) -> str:
        lead = program_of(launcher.command) if launcher else None
        if lead and lead.known not in LAUNCHERS:
            return lead.text
        return " ".join(part for part in (lead and lead.known, program_of(first.command).text) if part)


def _grouped(processes: list[HostProcess], key_of: Callable[[HostProcess], str | None]) -> dict[str, list[HostProcess]]:
    groups: dict[str, list[HostProcess]] = {}
    for process in processes:
        key = key_of(process)
        if key:
            groups.setdefault(key, []).append(process)
    return groups


def _joins(kind: JobKind, group: list[HostProcess]) -> bool:
    """Return whether a group is more than one process on one GPU; a process that leads only itself is no launcher."""
    return len(group) > 1 or (kind is not JobKind.LAUNCHER and len({use.gpu for use in group[0].gpus}) > 1)


# --- what the processes of a job have in common --------------------------------------------------------------------
def _slurm(process: HostProcess) -> str | None:
    slurm = process.owner.slurm
    if slurm is None or "slurm" not in process.owner.trusted:
        return _claimed(process, "slurm", slurm.text) if slurm else None
    return replace(slurm, job=None).text if slurm.sluid else slurm.text  # with a SLUID, the number is only claimed


def _run_id(process: HostProcess) -> str | None:
    run_id = process.owner.run_id
    return _claimed(process, "run", run_id) if run_id else None


def _master(process: HostProcess) -> str | None:
    master = process.owner.master
    return _claimed(process, "master", master) if master else None


def _pod(process: HostProcess) -> str | None:
    pod = process.owner.pod
    if pod is None:
        return None
    return pod.uid if "pod" in process.owner.trusted else _claimed(process, "pod", pod.uid)


def _container(process: HostProcess) -> str | None:
    container = process.owner.container
    if container is None or container.id is None or container.runtime == _SYSTEM_CONTAINER:
        return None
    return container.id if "container" in process.owner.trusted else _claimed(process, "container", container.id)


def _claimed(process: HostProcess, what: str, text: str) -> str:
    """Return the key of what a process says of itself: another user may say the same."""
    return f"{process.user or ''}:{what}:{text}"  # no user name has a colon


def _itself(process: HostProcess) -> str:
    return f"{process.pid}/{process.start_ticks}"


def _owner_label(kind: JobKind, process: HostProcess) -> str | None:
    return process.owner.named(kind.value) if kind in _NAMED else None


_SHARED: Final[tuple[tuple[JobKind, Callable[[HostProcess], str | None]], ...]] = (
    (JobKind.SLURM, _slurm),
    (JobKind.TORCH, _run_id),
    (JobKind.TORCH, _master),
    (JobKind.POD, _pod),
    (JobKind.CONTAINER, _container),
)
