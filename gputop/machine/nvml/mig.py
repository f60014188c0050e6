"""The MIG functions of nvidia-ml-py with usable types: placements and lists as plain values.

pynvml passes placements through where C wants a pointer, and leaves the allocation of lists to the caller.
"""

from ctypes import byref, c_uint
from typing import Any, Final

from gputop.machine.nvml import codes

ProfileEntry = tuple[int, int, int, int, int, str]  # id, compute slices, most, SMs, MiB, name without MIG in front
PlacedEntry = tuple[int, int, int, int]  # id, profile id, start, size

_SHARED_ENGINES: Final = 0  # NVML_COMPUTE_INSTANCE_ENGINE_PROFILE_SHARED
_MOST_COMPUTES: Final = 8


class MigFunctions:
    """A mixin of the binding, which provides pynvml."""

    _pynvml: Any

    def nvmlDeviceGetGpuInstanceProfileInfo(self, handle: Any, kind: int) -> ProfileEntry:
        """Return a profile by the number of its kind, which is not its id. An old driver reports no name."""
        info = self._newest(self._pynvml.nvmlDeviceGetGpuInstanceProfileInfo, handle, kind)
        most, multiprocessors = info.instanceCount, info.multiprocessorCount
        return info.id, info.sliceCount, most, multiprocessors, info.memorySizeMB, _name(info)

    def nvmlDeviceGetGpuInstancePossiblePlacements(self, handle: Any, profile_id: int) -> list[tuple[int, int]]:
        """Return (start, size) of all placements, free or not."""
        ask, count = self._pynvml.nvmlDeviceGetGpuInstancePossiblePlacements, c_uint(0)
        ask(handle, profile_id, None, byref(count))
        held = (self._pynvml.c_nvmlGpuInstancePlacement_t * max(1, count.value))()
        ask(handle, profile_id, held, byref(count))
        return [(held[n].start, held[n].size) for n in range(count.value)]

    def nvmlDeviceGetGpuInstances(self, handle: Any, profile_id: int, most: int) -> list[Any]:
        """Return the GPU instances of a profile."""
        held, count = (self._pynvml.c_nvmlGpuInstance_t * max(1, most))(), c_uint(0)
        self._pynvml.nvmlDeviceGetGpuInstances(handle, profile_id, held, byref(count))
        return [held[n] for n in range(count.value)]

    def nvmlGpuInstanceGetInfo(self, instance: Any) -> PlacedEntry:
        """Return the profile and placement of a GPU instance."""
        info = self._pynvml.nvmlGpuInstanceGetInfo(instance)
        return info.id, info.profileId, info.placement.start, info.placement.size

    def nvmlDeviceCreateGpuInstanceWithPlacement(self, handle: Any, profile_id: int, start: int, size: int) -> Any:
        """Create a GPU instance at a placement."""
        place = self._pynvml.c_nvmlGpuInstancePlacement_t(start, size)
        return self._pynvml.nvmlDeviceCreateGpuInstanceWithPlacement(handle, profile_id, byref(place))

    def nvmlGpuInstanceGetComputeInstanceProfileInfo(self, instance: Any, kind: int) -> tuple[int, int]:
        """Return id and slices of a compute instance profile, by the number of its kind."""
        ask = self._pynvml.nvmlGpuInstanceGetComputeInstanceProfileInfo
        info = self._newest(ask, instance, kind, _SHARED_ENGINES)
        return info.id, info.sliceCount

    def nvmlGpuInstanceGetComputeInstances(self, instance: Any, profile_id: int) -> list[Any]:
        """Return the compute instances of a profile in a GPU instance."""
        held, count = (self._pynvml.c_nvmlComputeInstance_t * _MOST_COMPUTES)(), c_uint(0)
        self._pynvml.nvmlGpuInstanceGetComputeInstances(instance, profile_id, held, byref(count))
        return [held[n] for n in range(count.value)]

    def nvmlComputeInstanceGetInfo(self, compute: Any) -> PlacedEntry:
        """Return the profile of a compute instance and its placement in the GPU instance."""
        info = self._pynvml.nvmlComputeInstanceGetInfo_v2(compute)
        return info.id, info.profileId, info.placement.start, info.placement.size

    def nvmlGpuInstanceCreateComputeInstanceWithPlacement(
        self, instance: Any, profile_id: int, start: int, size: int
    ) -> Any:
        """Create a compute instance at a placement."""
        place = self._pynvml.c_nvmlComputeInstancePlacement_t(start, size)
        return self._pynvml.nvmlGpuInstanceCreateComputeInstanceWithPlacement(instance, profile_id, byref(place))

    def _newest(self, ask: Any, *args: Any) -> Any:
        """Return the newest structure that the driver knows."""
        try:
            return ask(*args)
        except self._pynvml.NVMLError as error:
            if error.value not in (codes.FUNCTION_NOT_FOUND, codes.VERSION_MISMATCH):
                raise
            return ask(*args, version=1)


def _name(info: Any) -> str:
    raw = getattr(info, "name", b"")
    text = raw.decode("ascii", "replace") if isinstance(raw, bytes) else str(raw)
    return text.removeprefix("MIG ").strip()
