"""Whose a process is: its container, pod, job, unit, terminal and environment, and its place among its peers.

In JSON a key is left out where there is nothing to be said: most processes have little of all this, and a frame of
thousands would be nulls for a third of its length.
"""

from typing import Final

from msgspec import Struct

from gputop.core.model.metric import Missing

_SHORT_ID: Final = 12
_SHORT_UID: Final = 8


class Container(Struct, frozen=True, kw_only=True, gc=False, omit_defaults=True):
    """A container. ``id``: None where the runtime has none, or where it cannot be seen from inside the container."""

    runtime: str
    id: str | None = None
    name: str | None = None

    @property
    def text(self) -> str:
        """Return its name, or else the digits that the runtimes show."""
        return self.name or (self.id[:_SHORT_ID] if self.id else self.runtime)


class Pod(Struct, frozen=True, kw_only=True, gc=False, omit_defaults=True):
    """A Kubernetes pod. Its name is known where the kubelet's logs are, or from the process's environment."""

    uid: str
    name: str | None = None
    namespace: str | None = None

    @property
    def text(self) -> str:
        """Return its name, or else the beginning of its uid."""
        return self.name or self.uid[:_SHORT_UID]


class SlurmStep(Struct, frozen=True, kw_only=True, gc=False, omit_defaults=True):
    """A job of Slurm and the step in it. Since Slurm 26.05 cgroups may tell the ``sluid`` instead of the number."""

    job: str | None = None
    step: str | None = None
    sluid: str | None = None

    @property
    def text(self) -> str:
        """Return 84213.0, as squeue and scancel write it."""
        job = self.job or self.sluid or ""
        return f"{job}.{self.step}" if self.step else job


class Owner(Struct, frozen=True, kw_only=True, gc=False, omit_defaults=True):
    """Whose a process is. A None without a reason in ``missing`` says that there is no such thing.

    ``unit``: of systemd, a service or a scope. ``session``: tmux, screen, ssh, or a login. ``terminal``: pts/3.
    ``environment``: of conda or venv. ``run_id``, ``master``: what the ranks of one torch job have in common. Without
    root the environment variables of others cannot be read: then ``missing`` has what they would have told.
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
    missing: dict[str, Missing] = {}
