"""The plan of a MIG change: the layout before and after, and the steps between."""

from enum import Enum

from msgspec import Struct

from gputop.core.mig.model import Layout


class StepKind(str, Enum):
    """The kinds of steps, in the order in which they run."""

    DESTROY_COMPUTE = "destroy_compute"
    DESTROY_INSTANCE = "destroy_instance"
    DISABLE = "disable"
    ENABLE = "enable"
    CREATE_INSTANCE = "create_instance"
    CREATE_COMPUTE = "create_compute"


class Step(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One driver call. Profile and ``start`` identify a GPU instance, because its id may not exist yet.

    ``slices`` and ``compute_start``: of the compute instance. ``instance_id``, ``compute_id``: of what it destroys.
    """

    kind: StepKind
    profile: str = ""
    start: int = 0
    size: int = 0
    slices: int = 0
    compute_start: int = 0
    instance_id: int | None = None
    compute_id: int | None = None

    @property
    def text(self) -> str:
        """Return ``create 3g.40gb@4``."""
        match self.kind:
            case StepKind.ENABLE | StepKind.DISABLE:
                return f"{self.kind.value} MIG mode"
            case StepKind.DESTROY_INSTANCE | StepKind.CREATE_INSTANCE:
                return f"{self._verb} {self.profile}@{self.start}"
            case StepKind.DESTROY_COMPUTE | StepKind.CREATE_COMPUTE:
                return (
                    f"{self._verb} compute instance {self.slices}c@{self.compute_start} in {self.profile}@{self.start}"
                )

    @property
    def _verb(self) -> str:
        return self.kind.value.partition("_")[0]


class Plan(Struct, frozen=True, kw_only=True):
    """A change of one GPU. It starts only from the layout ``before``; at its end the driver must report ``after``."""

    gpu: str
    index: int
    was_on: bool
    is_on: bool
    before: Layout
    after: Layout
    steps: tuple[Step, ...]

    @property
    def kept(self) -> Layout:
        """Return the GPU instances that stay, in their final state."""
        old = {(target.profile, target.start) for target in self.before}
        return tuple(target for target in self.after if (target.profile, target.start) in old)

    @property
    def destroyed(self) -> Layout:
        """Return the GPU instances that the plan destroys."""
        new = {(target.profile, target.start) for target in self.after}
        return tuple(target for target in self.before if (target.profile, target.start) not in new)

    @property
    def created(self) -> Layout:
        """Return the GPU instances that the plan creates."""
        old = {(target.profile, target.start) for target in self.before}
        return tuple(target for target in self.after if (target.profile, target.start) not in old)

    @property
    def changes_mode(self) -> bool:
        """Say whether the plan turns MIG on or off."""
        return self.was_on != self.is_on
