"""Reader of the MIG state of a GPU: profiles, placements, instances, and the processes on them.

Reading placements needs root or the MIG configuration capability. Without them the reader finds only instances that
have a MIG device, without their placement, and ``missing`` gives the reason.
"""

from collections.abc import Callable, Iterable
from itertools import chain
from typing import Any, Final

from gputop.core.mig.model import Geometry, MigGpu, PlacedCompute, PlacedInstance, Profile, User
from gputop.core.model.metric import Missing
from gputop.core.text.text import clean
from gputop.machine.gpu.instances import InstanceReader, MigDevice
from gputop.machine.gpu.process_list import ProcessLister
from gputop.machine.mig.instance_holders import Place
from gputop.machine.nvml.driver import Driver, Handle, text_of

_KINDS: Final = range(0x18)  # of GPU instance profiles; 0x12 were known when this was written
COMPUTE_KINDS: Final = range(0x10)
_ATTRIBUTES: Final = {
    0x7: "+me", 0x8: "+me", 0xA: "+gfx", 0xB: "+gfx", 0xC: "+gfx", 0x11: "+gfx", 0xD: "-me", 0xE: "-me",
    0xF: "+me.all", 0x10: "+me.all",
}  # fmt: skip
_AMPERE: Final = 7
_RESETLESS: Final = ((184, 0),)  # NVML_FI_DEV_IS_RESETLESS_MIG_SUPPORTED
_MIB: Final = 1024**2
_EIGHTHS: Final = 8
_GIB: Final = 1024**3

Named = Callable[[int], User]
_Users = dict[tuple[int | None, int | None], tuple[User, ...]]


class LayoutReader:
    """Reads the MIG state of GPUs. ``named``: describes a pid; ``holders``: the pids that have instance files open."""

    def __init__(
        self, driver: Driver, named: Named, holders: Callable[[], dict[Place, tuple[int, ...]]] = dict
    ) -> None:
        self._driver = driver
        self._named = named
        self._holders = holders

    def all(self) -> tuple[MigGpu, ...]:
        """Return all GPUs that the driver lists and that have a handle."""
        count = self._driver.ask("nvmlDeviceGetCount")
        indices = range(count if isinstance(count, int) else 0)
        handles = ((index, self._driver.ask("nvmlDeviceGetHandleByIndex", index)) for index in indices)
        return tuple(self.read(index, handle) for index, handle in handles if not isinstance(handle, Missing))

    def read(self, index: int, handle: Handle) -> MigGpu:
        """Return the current MIG state of a GPU."""
        ask = self._driver.ask
        mode = ask("nvmlDeviceGetMigMode", handle)
        uuid, name, pci = (ask(f"nvmlDeviceGet{what}", handle) for what in ("UUID", "Name", "PciInfo"))
        known: dict[str, Any] = {"index": index, "uuid": text_of(uuid), "name": text_of(name)}
        if not isinstance(pci, Missing):
            known |= {
                "bus_id": text_of(pci.busId),
                "device": f"0x{pci.pciDeviceId:08X}",
                "subsystem": f"0x{pci.pciSubSystemId:08X}",
            }
        if isinstance(mode, Missing):
            why = (
                "this GPU does not support MIG"
                if mode is Missing.UNSUPPORTED
                else f"cannot read the MIG mode: {mode.text}"
            )
            return MigGpu(**known, why=why)
        known |= {"is_on": bool(mode[0]), "is_on_next": bool(mode[1])}
        missing: dict[str, Missing] = {}
        geometry = self._geometry(handle, missing)
        devices = self._devices(handle) if mode[0] else ()
        users = self._users([device.handle for device in devices] if mode[0] else [], handle)
        instances = self._instances(handle, geometry, devices, users, missing) if mode[0] else ()
        return MigGpu(
            **known,
            **self._generation(handle),
            geometry=geometry,
            instances=instances,
            remaining=self._remaining(handle, geometry) if mode[0] else {},
            users=users.get((None, None), ()),
            missing=missing,
        )

    def _generation(self, handle: Handle) -> dict[str, Any]:
        """Return how the GPU changes and keeps its MIG mode; NVIDIA changed this with Hopper."""
        architecture = self._driver.ask("nvmlDeviceGetArchitecture", handle)
        fields = self._driver.ask("nvmlDeviceGetFieldValues", handle, _RESETLESS)
        persistence = self._driver.ask("nvmlDeviceGetPersistenceMode", handle)
        is_early = None if isinstance(architecture, Missing) else architecture <= _AMPERE
        needs_reset = is_early
        if not isinstance(fields, Missing) and fields[0][0] == 0:
            needs_reset = not fields[0][1]
        return {
            "needs_reset": needs_reset,
            "keeps_mode": is_early,
            "is_persistent": None if isinstance(persistence, Missing) else bool(persistence),
        }

    def _geometry(self, handle: Handle, missing: dict[str, Missing]) -> Geometry:
        profiles = []
        for kind in _KINDS:
            entry = self._driver.ask("nvmlDeviceGetGpuInstanceProfileInfo", handle, kind)
            if isinstance(entry, Missing):
                continue  # a hole: this board lacks the kind
            placements = self._driver.ask("nvmlDeviceGetGpuInstancePossiblePlacements", handle, entry[0])
            if isinstance(placements, Missing):
                missing["placements"] = placements
                placements = []
            profiles.append(self._profile(handle, kind, entry, placements))
        profiles.sort(key=lambda profile: (-profile.slices, -profile.memory_bytes, profile.name))
        return Geometry(tuple(profiles))

    def _profile(self, handle: Handle, kind: int, entry: Any, placements: list[tuple[int, int]]) -> Profile:
        number, slices, most, multiprocessors, mib, name = entry
        return Profile(
            id=number,
            name=clean(name).lower() or self._composed_name(handle, kind, slices, mib),
            slices=slices,
            size=placements[0][1] if placements else 0,
            starts=tuple(sorted(start for start, _ in placements)),
            most=most,
            multiprocessors=multiprocessors,
            memory_bytes=mib * _MIB,
        )

    def _composed_name(self, handle: Handle, kind: int, slices: int, mib: int) -> str:
        """Return the name that NVIDIA's tools compose if the driver has none: memory in eighths of the board's."""
        info = self._driver.ask("nvmlDeviceGetMemoryInfo", handle)
        total = mib * _MIB if isinstance(info, Missing) else info.total
        eighths = -(-mib * _MIB * _EIGHTHS // total) / _EIGHTHS
        return f"{slices}g.{round(eighths * -(-total // _GIB))}gb{_ATTRIBUTES.get(kind, '')}"

    def _remaining(self, handle: Handle, geometry: Geometry) -> dict[str, int]:
        ask = self._driver.ask
        found = {p.name: ask("nvmlDeviceGetGpuInstanceRemainingCapacity", handle, p.id) for p in geometry.profiles}
        return {name: answer for name, answer in found.items() if not isinstance(answer, Missing)}

    def _users(self, devices: list[Handle], handle: Handle) -> _Users:
        """Return the processes by GPU instance and compute instance; the key (None, None) has those on none."""
        places = [*ProcessLister(self._driver).read(devices), *ProcessLister(self._driver).read([handle])]
        if devices:
            minor = self._driver.ask("nvmlDeviceGetMinorNumber", handle)
            places += [(pid, gi, ci) for (gpu, gi, ci), pids in self._holders().items() if gpu == minor for pid in pids]
        placed = {pid for pid, gpu_instance, _ in places if gpu_instance is not None}
        found: _Users = {}
        for pid, gpu_instance, compute_instance in dict.fromkeys(places):
            if gpu_instance is not None or pid not in placed:
                key = (gpu_instance, compute_instance)
                found[key] = (*found.get(key, ()), self._named(pid))
        return found

    def _devices(self, handle: Handle) -> tuple[MigDevice, ...]:
        reader = InstanceReader(self._driver, handle)
        reader.enumerate()
        return reader.devices

    def _instances(
        self,
        handle: Handle,
        geometry: Geometry,
        devices: tuple[MigDevice, ...],
        users: _Users,
        missing: dict[str, Missing],
    ) -> tuple[PlacedInstance, ...]:
        uuids = {(device.gpu_instance, device.compute.id): device.compute.uuid for device in devices}
        found: list[PlacedInstance] = []
        for profile in geometry.profiles:
            handles = self._driver.ask("nvmlDeviceGetGpuInstances", handle, profile.id, profile.most)
            if isinstance(handles, Missing):
                missing["instances"] = handles
                return _unplaced(devices, users)
            placed = (self._instance(each, profile.name, uuids, users, missing) for each in handles)
            found += [instance for instance in placed if instance is not None]
        return tuple(sorted(found, key=lambda one: (one.start or 0, one.id)))

    def _instance(
        self,
        instance: Handle,
        profile: str,
        uuids: dict[tuple[int, int], str],
        users: _Users,
        missing: dict[str, Missing],
    ) -> PlacedInstance | None:
        info = self._driver.ask("nvmlGpuInstanceGetInfo", instance)
        if isinstance(info, Missing):
            return None  # destroyed between the two questions
        number, _, start, size = info
        computes = []
        for each in computes_of(self._driver, instance):
            if isinstance(each, Missing):
                missing["instances"] = each
                continue
            compute, _, first, slices = each
            computes.append(
                PlacedCompute(
                    id=compute,
                    slices=slices,
                    start=first,
                    uuid=uuids.get((number, compute), ""),
                    users=users.get((number, compute), ()),
                )
            )
        return PlacedInstance(
            id=number,
            profile=profile,
            start=start,
            size=size,
            computes=tuple(sorted(computes, key=lambda one: (one.start or 0, one.id))),
            users=users.get((number, None), ()),
        )


def compute_profiles(driver: Driver, instance: Handle) -> dict[int, list[int]]:
    """Return the ids of the compute instance profiles of a GPU instance, by their slices; first the usual one."""
    found: dict[int, list[int]] = {}
    for kind in COMPUTE_KINDS:
        entry = driver.ask("nvmlGpuInstanceGetComputeInstanceProfileInfo", instance, kind)
        if not isinstance(entry, Missing):
            found.setdefault(entry[1], []).append(entry[0])
    return found


def computes_of(driver: Driver, instance: Handle) -> Iterable[Any]:
    """Yield id, profile id, start and slices of each compute instance; a `Missing` if they are not readable."""
    for profile_id in chain.from_iterable(compute_profiles(driver, instance).values()):
        handles = driver.ask("nvmlGpuInstanceGetComputeInstances", instance, profile_id)
        if isinstance(handles, Missing):
            yield handles
            return
        for compute in handles:
            yield driver.ask("nvmlComputeInstanceGetInfo", compute)


def _unplaced(devices: Iterable[MigDevice], users: _Users) -> tuple[PlacedInstance, ...]:
    """Return the instances that are known without rights: those with a MIG device, without their placement."""
    by_instance: dict[int, list[MigDevice]] = {}
    for device in devices:
        by_instance.setdefault(device.gpu_instance, []).append(device)
    return tuple(
        PlacedInstance(
            id=number,
            profile=found[0].profile,
            computes=tuple(
                PlacedCompute(
                    id=device.compute.id,
                    slices=_slices(device),
                    uuid=device.compute.uuid,
                    users=users.get((number, device.compute.id), ()),
                )
                for device in found
            ),
            users=users.get((number, None), ()),
        )
        for number, found in sorted(by_instance.items())
    )


def _slices(device: MigDevice) -> int:
    """Return the compute slices of a MIG device from its name: ``1c.3g.40gb`` or ``3g.40gb``; 0 if unknown."""
    digits = device.compute.name[:1]
    return int(digits) if digits.isdigit() else 0
