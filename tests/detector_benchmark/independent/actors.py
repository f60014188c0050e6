"""The actors of the world: processes with their use of GPUs, their place in the host, and their lives."""

from collections.abc import Callable, Mapping
from typing import Final, TypeAlias

from detector_benchmark.independent.activity import IDLE
from detector_benchmark.independent.scripts import Curve, Script, script
from msgspec import Struct

from gputop.core.model.owner import Owner
from gputop.core.model.progress import Progress
from gputop.core.model.sample import Presence
from gputop.core.processes.attribution import Evidence, attribute
from gputop.core.processes.cgroup import Cgroup

Steps: TypeAlias = Callable[[float], tuple[float, float]]  # the time and the step of the last report

INIT: Final = "init"


class Use(Struct, frozen=True):
    """The use of one GPU. ``is_listed``: whether the driver lists the process; ``instance``: of MIG."""

    gpu: int
    does: Script
    memory: Curve
    instance: int | None = None
    type: str = "C"
    is_listed: bool = True


class Actor(Struct, frozen=True, kw_only=True):
    """A process. ``host``: its activity on the CPU, if that is not the activity of its first use.

    ``age_s``: its age at the start of the trace; ``from_s``, ``until_s``: its life within the trace, if it is shorter.
    ``zombie_s``, ``gone_s``: when it becomes a zombie, or exits while the driver still lists it.
    """

    name: str
    command: str
    uses: tuple[Use, ...] = ()
    parent: str = INIT
    user: str = "ann"
    host: Script | None = None
    age_s: float = 3600.0
    from_s: float = -1e9
    until_s: float = 1e9
    zombie_s: float = 1e9
    gone_s: float = 1e9
    threads: int = 12
    resident_mib: float = 2600.0
    variables: Mapping[str, str] = {}
    cgroup: Cgroup = Cgroup()
    title: str = ""  # of a data loader
    terminal: int = 0
    nice: int = 0
    steps: Steps | None = None

    def lives(self, t_s: float) -> bool:
        """Say whether the process exists."""
        return self.from_s <= t_s < self.until_s

    def presence(self, t_s: float) -> Presence:
        """Return whether /proc has the process."""
        return Presence.GONE if t_s >= self.gone_s else Presence.ALIVE

    def reported(self, epoch_s: float, t_s: float) -> Progress | None:
        """Return the progress that the process last reported, if it reports any."""
        if self.steps is None:
            return None
        at_s, step = self.steps(t_s)
        before_s, before = self.steps(at_s - 120)
        rate = (step - before) / (at_s - before_s) if at_s > before_s else None
        return Progress(time_s=epoch_s + at_s, step=int(step), total=100_000, rate_per_s=rate)

    def on_host(self) -> Script:
        """Return its activity on the CPU."""
        return self.host or (self.uses[0].does if self.uses else script(IDLE))

    def owner(self) -> Owner:
        """Return the owner as the machine would."""
        arguments = self.command.split()
        return attribute(
            Evidence(
                cgroup=self.cgroup,
                variables=dict(self.variables),
                arguments=arguments,
                name=self.title,
                terminal=self.terminal,
            )
        )


def slurm(job: int, step: str = "0") -> Cgroup:
    """Return the cgroup of a Slurm step."""
    return Cgroup(kind="slurm", job=str(job), step=step, trusted=("slurm",))


def docker(letter: str) -> Cgroup:
    """Return the cgroup of a container; its ID repeats a hexadecimal digit."""
    return Cgroup(kind="docker", runtime="docker", id=letter * 64, trusted=("container",))


def service(name: str) -> Cgroup:
    """Return the cgroup of a systemd service."""
    return Cgroup(kind="service", unit=f"{name}.service", trusted=("unit",))


TERMINAL: Final = 136 << 8 | 3  # pts/3
SSH: Final = {"SSH_CONNECTION": "10.0.0.7 50211 10.0.0.2 22"}
TMUX: Final = {"TMUX": "/tmp/tmux-1000/default,4242,0"}  # noqa: S108 - the value of a variable
