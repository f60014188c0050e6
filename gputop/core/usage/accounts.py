"""The accounts of processes: the user, and the job by an identity that only root can give, or else by a process."""

from typing import Final

from msgspec import Struct

from gputop.core.model.process_id import ProcessId
from gputop.core.model.sample import Frame, HostProcess, Job

UNKNOWN: Final = "(unknown)"  # no user or job has parentheses in its name
OTHER: Final = "(other)"
TREE: Final = "tree"
_SYSTEM_CONTAINER: Final = "lxc"  # a machine of several users
_SHORT: Final = 12  # digits of a container ID, as runtimes show


class Account(Struct, frozen=True, gc=False):
    """A user, or a job of a user. ``kind``: slurm, pod, container or tree; empty for the user.

    ``id``: of a tree of processes, the pid of the first. ``born``: its start ticks, because pids are reused.
    """

    user: str
    kind: str = ""
    id: str = ""
    born: int | None = None

    @property
    def is_job(self) -> bool:
        """Return whether this is a job."""
        return bool(self.kind)


def accounts_of(frame: Frame) -> dict[ProcessId, Account]:
    """Return the account of each process on GPUs: its job, or its user if it belongs to none."""
    jobs = {member: job for job in frame.jobs for member in job.members}
    return {process.id: _account(process, jobs.get(process.id)) for process in frame.processes}


def _account(process: HostProcess, job: Job | None) -> Account:
    user = process.user or UNKNOWN
    trusted = _trusted(process)
    if trusted:
        return Account(user, *trusted)
    if job is None:
        return Account(user)
    first = job.launcher or job.members[0]
    return Account(user, TREE, str(first.pid), first.start_ticks)


def _trusted(process: HostProcess) -> tuple[str, str] | None:
    """Return kind and id of a job whose cgroup only root can write; None if there is none."""
    owner = process.owner
    if "slurm" in owner.trusted and owner.slurm:
        return "slurm", owner.slurm.sluid or owner.slurm.job or ""  # with a SLUID, the number is only claimed
    if "pod" in owner.trusted and owner.pod:
        pod = owner.pod
        return "pod", f"{pod.namespace}/{pod.name}" if pod.namespace and pod.name else pod.uid
    container = owner.container
    if "container" in owner.trusted and container and container.id and container.runtime != _SYSTEM_CONTAINER:
        return "container", container.id[:_SHORT]
    return None
