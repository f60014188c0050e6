"""The owner of a process: its container, pod, job, unit, terminal and environment, and its rank.

JSON omits keys without a value: most processes have few of them, and nulls would fill a third of a large frame.
"""

from typing import Final

from msgspec import Struct

from gputop.core.model.metric import Missing

CLAIMED: Final = "?"  # behind a name that only the process says
_SHORT_ID: Final = 12
_SHORT_UID: Final = 8


class Container(Struct, frozen=True, kw_only=True, gc=False, omit_defaults=True):
    """A container. ``id``: None if the runtime has none, or if it is not visible from inside the container."""

    runtime: str
    id: str | None = None
    name: str | None = None

    @property
    def text(self) -> str:
        """Return the name, or else the digits of the ID that runtimes show."""
        return self.name or (self.id[:_SHORT_ID] if self.id else self.runtime)


class Pod(Struct, frozen=True, kw_only=True, gc=False, omit_defaults=True):
    """A Kubernetes pod. Name and namespace come from the logs of the kubelet.

    Without a namespace, the name comes from the environment of the process.
    """

    uid: str
    name: str | None = None
    namespace: str | None = None

    @property
    def text(self) -> str:
        """Return the name, or else the beginning of the UID."""
        return self.name or self.uid[:_SHORT_UID]


class SlurmStep(Struct, frozen=True, kw_only=True, gc=False, omit_defaults=True):
    """A job of Slurm and its step. Since Slurm 26.05, cgroups may contain the ``sluid`` instead of the number."""

    job: str | None = None
    step: str | None = None
    sluid: str | None = None

    @property
    def text(self) -> str:
        """Return ``84213.0``, as squeue and scancel write it."""
        job = self.job or self.sluid or ""
        return f"{job}.{self.step}" if self.step else job


class Owner(Struct, frozen=True, kw_only=True, gc=False, omit_defaults=True):
    """The owner of a process. A None without a reason in ``missing`` means that there is none.

    ``unit``: a systemd service or scope. ``session``: tmux, screen, ssh or a login. ``terminal``: pts/3.
    ``environment``: of conda or venv. ``run_id``, ``master``: shared by the ranks of one torch job. Without root the
    environment of other users is not readable: then ``missing`` contains the fields that come from it.

    ``trusted``: the fields that come from a cgroup that only root can write. All others are what the process says of
    itself: they are shown, but they never join processes of two users, and make no command.
    """

    container: Container | None = None
    pod: Pod | None = None
    slurm: SlurmStep | None = None
    unit: str | None = None
    session: str | None = None
    terminal: str | None = None
    environment: str | None = None
    framework: str | None = None
    rank: int | None = None
    world_size: int | None = None
    run_id: str | None = None
    master: str | None = None
    trusted: tuple[str, ...] = ()
    missing: dict[str, Missing] = {}

    def named(self, field: str) -> str | None:
        """Return the name of the ``slurm`` step, ``pod`` or ``container``; if only claimed, with a question mark."""
        held = {"slurm": self.slurm, "pod": self.pod, "container": self.container}[field]
        return held.text + ("" if self.proves(field) else CLAIMED) if held else None

    def proves(self, field: str) -> bool:
        """Return whether the shown name of the step, pod or container is more than a claim of the process.

        The number of a step with a SLUID, and the name of a pod without its namespace, come from the environment.
        """
        is_number_claimed = field == "slurm" and bool(self.slurm and self.slurm.sluid and self.slurm.job)
        is_name_claimed = field == "pod" and bool(self.pod and self.pod.name and not self.pod.namespace)
        return field in self.trusted and not is_number_claimed and not is_name_claimed
