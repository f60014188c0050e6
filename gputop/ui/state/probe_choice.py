"""The choice of a probe: its level and its GPUs."""

from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from gputop.core.model.sample import Frame, Gpu, GpuState
from gputop.core.probing.newcomers import users
from gputop.core.probing.probe import Level
from gputop.core.probing.progress import Wish

CPUS: Final = "cpus"
CPU_COUNT: Final = 2
_LEVELS: Final = tuple(Level)


class Candidate(Struct, frozen=True, kw_only=True):
    """A GPU to choose. ``users``: its users, a line each; ``fault``: why it cannot be tested.

    ``parts``: its number of MIG devices.
    """

    uuid: str
    label: str
    name: str
    users: tuple[str, ...] = ()
    parts: int = 0
    fault: str = ""


class Choice(Struct, frozen=True, kw_only=True):
    """The chosen level and uuids of GPUs, or `CPUS`. ``at``: the line of the cursor."""

    level: Level = Level.QUICK
    chosen: frozenset[str] = frozenset()
    at: int = 0

    def leveled(self, step: int) -> "Choice":
        """Return it with another level."""
        at = max(0, min(len(_LEVELS) - 1, _LEVELS.index(self.level) + step))
        return replace(self, level=_LEVELS[at])

    def moved(self, step: int, count: int) -> "Choice":
        """Return it with the cursor on another of ``count`` lines."""
        return replace(self, at=max(0, min(count - 1, self.at + step)))

    def toggled(self, uuid: str) -> "Choice":
        """Return it with a GPU added or removed; CPUs replace all GPUs."""
        if uuid == CPUS:
            return replace(self, chosen=frozenset() if CPUS in self.chosen else frozenset({CPUS}))
        return replace(self, chosen=(self.chosen - {CPUS}) ^ {uuid})

    def wish(self, held: tuple[Candidate, ...]) -> Wish:
        """Return it as a request to the prober."""
        if CPUS in self.chosen:
            return Wish(level=self.level, cpus=CPU_COUNT)
        gpus = tuple(one.uuid for one in held if one.uuid in self.chosen)
        return Wish(level=self.level, gpus=gpus, is_forced=bool(self.in_use(held)))

    def in_use(self, held: tuple[Candidate, ...]) -> tuple[Candidate, ...]:
        """Return the chosen GPUs that are in use."""
        return tuple(one for one in held if one.uuid in self.chosen and one.users)


def candidates(frame: Frame | None) -> tuple[Candidate, ...]:
    """Return the GPUs of a frame."""
    return tuple(_candidate(frame, gpu) for gpu in frame.gpus) if frame is not None else ()


def first_choice(frame: Frame | None) -> Choice:
    """Return the first choice: all idle GPUs; on a simulated box CPUs."""
    if frame is not None and frame.driver.simulated is not None:
        return Choice(chosen=frozenset({CPUS}), at=len(frame.gpus))
    return Choice(chosen=frozenset(one.uuid for one in candidates(frame) if not one.users and not one.fault))


def _candidate(frame: Frame, gpu: Gpu) -> Candidate:
    fault = "" if gpu.state is GpuState.OK else f"the GPU is {gpu.state.value}: gputop doctor says what to do"
    return Candidate(
        uuid=gpu.uuid, label=f"GPU {gpu.index}", name=gpu.name, users=_users(frame, gpu), fault=fault,
        parts=sum(len(one.compute_instances) for one in gpu.instances),
    )  # fmt: skip


def _users(frame: Frame, gpu: Gpu) -> tuple[str, ...]:
    """Return the users of a GPU; of a split GPU only if every part is in use."""
    parts = [one.id for one in gpu.instances if one.compute_instances]
    found = [users(frame, gpu, (), part) for part in parts] or [users(frame, gpu, ())]
    return tuple(dict.fromkeys(line for lines in found for line in lines)) if all(found) else ()
