"""The MIG state of a simulated GPU, which can be changed: the driver's rules and refusals."""

import threading
from collections.abc import Callable, Iterable
from typing import Final

from gputop.machine.nvml import codes
from gputop.machine.nvml.codes import NVMLError
from gputop.simulator.mig import COMPUTE_SLICES, Profile, compute_slices
from gputop.simulator.plan import InstancePlan

_FIRST_IDS: Final = {8: 0, 4: 1, 2: 3, 1: 7}  # of GPU instances, by their memory slots
_MOST_SLICES: Final = 7


class Compute:
    """A compute instance; the driver's handle points to it."""

    def __init__(self, instance: "Instance", number: int, start: int, slices: int, slot: int) -> None:
        self.instance = instance
        self.number = number
        self.start = start
        self.slices = slices
        self.slot = slot  # its index among the MIG devices of the GPU


class Instance:
    """A GPU instance; the driver's handle points to it."""

    def __init__(self, gpu: object, number: int, name: str, profile: Profile, start: int) -> None:
        self.gpu = gpu
        self.number = number
        self.name = name
        self.profile = profile
        self.start = start
        self.computes: dict[int, Compute] = {}

    def slots(self) -> set[int]:
        """Return the memory slots that it occupies."""
        return set(range(self.start, self.start + self.profile.shape.size))


class Partition:
    """The MIG layout of a GPU. ``is_busy``: whether processes are on (GPU instance, compute instance)."""

    def __init__(
        self,
        gpu: object,
        profiles: dict[str, Profile],
        plans: Iterable[InstancePlan],
        *,
        needs_reset: bool,
        is_busy: Callable[[int | None, int | None], bool],
    ) -> None:
        self._gpu = gpu
        self._needs_reset = needs_reset
        self._is_busy = is_busy
        self._gate = threading.Lock()
        self.profiles = profiles
        self.instances: dict[int, Instance] = {}
        self.changes = 0
        for plan in plans:
            profile = profiles[plan.profile]
            held = Instance(gpu, plan.gpu_instance, plan.profile, profile, plan.start)
            instance = self.instances.setdefault(plan.gpu_instance, held)
            start = sum(each.slices for each in instance.computes.values())
            slices = compute_slices(plan.compute_profile, profile)
            made = Compute(instance, plan.compute_instance, start, slices, plan.slot)
            instance.computes[plan.compute_instance] = made
        self.is_on = self.is_on_next = bool(self.instances)

    def set_mode(self, *, is_on: bool) -> int:
        """Set the pending mode; return 0 if it is in effect, or else the reason why it is not."""
        with self._gate:
            if not self.profiles:
                raise NVMLError(codes.NOT_SUPPORTED)
            if not is_on and self.is_on and self.instances:
                raise NVMLError(codes.IN_USE)
            self.is_on_next = is_on
            if self.is_on == is_on:
                return 0
            if self._is_busy(None, None):
                return codes.IN_USE
            if self._needs_reset:
                return codes.RESET_REQUIRED
            self.is_on = is_on
            self.changes += 1
            return 0

    def reset(self) -> None:
        """Apply a reset of the GPU: the pending mode takes effect, and no instance is left."""
        with self._gate:
            self.is_on = self.is_on_next
            self.instances = {}
            self.changes += 1

    def create(self, profile_id: int, start: int, size: int) -> Instance:
        """Create a GPU instance at a placement."""
        with self._gate:
            self.need_on()
            name, profile = self.by_id(profile_id)
            if start not in profile.shape.starts or size != profile.shape.size:
                raise NVMLError(codes.INVALID_ARGUMENT)
            made = Instance(self._gpu, self._free_id(size), name, profile, start)
            if not self._has_room(made):
                raise NVMLError(codes.INSUFFICIENT_RESOURCES)
            self.instances = self.instances | {made.number: made}
            self.changes += 1
            return made

    def destroy(self, instance: Instance) -> None:
        """Destroy a GPU instance without compute instances."""
        with self._gate:
            self._need(instance)
            if instance.computes or self._is_busy(instance.number, None):
                raise NVMLError(codes.IN_USE)
            self.instances = {number: one for number, one in self.instances.items() if one is not instance}
            self.changes += 1

    def create_compute(self, instance: Instance, profile_id: int, start: int, size: int) -> Compute:
        """Create a compute instance at a placement."""
        with self._gate:
            self._need(instance)
            slices = COMPUTE_SLICES.get(profile_id, 0)
            step = 1 if slices == 1 else 2 if slices == 2 else 4
            if not slices or size != slices or start % step or start + slices > instance.profile.slices:
                raise NVMLError(codes.INVALID_ARGUMENT)
            taken = {n for each in instance.computes.values() for n in range(each.start, each.start + each.slices)}
            if taken & set(range(start, start + slices)):
                raise NVMLError(codes.INSUFFICIENT_RESOURCES)
            number = next(n for n in range(_MOST_SLICES) if n not in instance.computes)
            made = Compute(instance, number, start, slices, self._free_slot())
            instance.computes = instance.computes | {number: made}
            self.changes += 1
            return made

    def destroy_compute(self, compute: Compute) -> None:
        """Destroy a compute instance on which no process runs."""
        instance = compute.instance
        with self._gate:
            self._need(instance)
            if instance.computes.get(compute.number) is not compute:
                raise NVMLError(codes.INVALID_ARGUMENT)
            if self._is_busy(instance.number, compute.number):
                raise NVMLError(codes.IN_USE)
            instance.computes = {number: one for number, one in instance.computes.items() if one is not compute}
            self.changes += 1

    def remaining(self, profile_id: int) -> int:
        """Return how many more instances of a profile fit."""
        self.need_on()
        name, profile = self.by_id(profile_id)
        count, held = 0, dict(self.instances)
        for start in profile.shape.starts:
            made = Instance(self._gpu, -1 - start, name, profile, start)
            if self._has_room(made, held):
                held[made.number] = made
                count += 1
        return count

    def by_id(self, profile_id: int) -> tuple[str, Profile]:
        """Return a profile and its name by the driver's id."""
        for name, profile in self.profiles.items():
            if profile.shape.id == profile_id:
                return name, profile
        raise NVMLError(codes.INVALID_ARGUMENT)

    def need_on(self) -> None:
        """Raise an error while MIG is disabled."""
        if not self.is_on:
            raise NVMLError(codes.NOT_SUPPORTED)

    def plans(self) -> list[InstancePlan]:
        """Return the current MIG devices."""
        return [
            InstancePlan(
                slot=compute.slot,
                gpu_instance=instance.number,
                profile=instance.name,
                start=instance.start,
                compute_instance=compute.number,
                compute_profile=""
                if compute.slices == instance.profile.slices
                else f"{compute.slices}c.{instance.name}",
            )
            for instance in self.instances.values()
            for compute in instance.computes.values()
        ]

    def _has_room(self, made: Instance, held: dict[int, Instance] | None = None) -> bool:
        others = list((self.instances if held is None else held).values())
        same = sum(one.name == made.name for one in others)
        slices = made.profile.slices + sum(one.profile.slices for one in others)
        is_free = all(not one.slots() & made.slots() for one in others)
        return is_free and same < made.profile.shape.most and slices <= _MOST_SLICES

    def _need(self, instance: Instance) -> None:
        if self.instances.get(instance.number) is not instance:
            raise NVMLError(codes.INVALID_ARGUMENT)

    def _free_id(self, size: int) -> int:
        return next(n for n in range(_FIRST_IDS[size], 64) if n not in self.instances)

    def _free_slot(self) -> int:
        taken = {compute.slot for instance in self.instances.values() for compute in instance.computes.values()}
        return next(n for n in range(64) if n not in taken)
