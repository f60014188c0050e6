"""The special readings that a catalogue row names: a value that takes several calls, or a check of the answer."""

from collections.abc import Callable
from typing import Any, Final

from gputop.core.model.metric import Missing

Ask = Callable[..., Any]  # driver call by name: its answer or a Missing, the same throughout a reading

_MEMORY_V2: Final = 0x02000028  # sizeof(nvmlMemory_v2_t) | 2 << 24
# CUDA programming guide, arithmetic throughput: fp32 results a clock and SM
_OF_64: Final = ((7, 0), (7, 2), (7, 5), (8, 0))
_OF_128: Final = ((8, 6), (8, 7), (8, 9), (9, 0), (10, 0), (10, 1), (10, 3), (11, 0), (12, 0), (12, 1))
_CORES_PER_SM: Final = dict.fromkeys(_OF_64, 64) | dict.fromkeys(_OF_128, 128)


def multiprocessors(ask: Ask) -> Any:
    """Return the number of SMs; the driver reports only the number of cores."""
    cores = ask("nvmlDeviceGetNumGpuCores")
    capability = ask("nvmlDeviceGetCudaComputeCapability")
    if isinstance(cores, Missing):
        return cores
    if isinstance(capability, Missing):
        return capability
    per_sm = _CORES_PER_SM.get(tuple(capability))
    return cores // per_sm if per_sm else Missing.UNSUPPORTED


def memory_total(ask: Ask) -> Any:
    """Return the size of the frame buffer; a board that shares the host's memory has none."""
    info = _memory(ask)
    return info if isinstance(info, Missing) else info.total or Missing.UNSUPPORTED


def memory_used(ask: Ask) -> Any:
    """Return the allocated memory, without the driver's reservation.

    nvml.h contradicts itself on whether ``used`` of version 2 contains ``reserved``, so the sum decides.
    """
    info = _memory(ask)
    if isinstance(info, Missing):
        return info
    reserved = getattr(info, "reserved", 0)
    includes_reserved = reserved and abs(info.used + info.free - info.total) < reserved / 2
    return info.used - reserved if includes_reserved else info.used


def memory_reserved(ask: Ask) -> Any:
    """Return the memory that driver and firmware reserve; only version 2 of the call reports it."""
    info = _memory(ask)
    return info if isinstance(info, Missing) else getattr(info, "reserved", Missing.OUTDATED)


def memory_free(ask: Ask) -> Any:
    """Return the memory that can still be allocated."""
    info = _memory(ask)
    return info if isinstance(info, Missing) else info.free


def nvlink_links_down(ask: Ask) -> Any:
    """Count the links that are not active."""
    down = 0
    for link in range(18):
        state = ask("nvmlDeviceGetNvLinkState", link)
        if isinstance(state, Missing):
            return down if link else state  # the first link number that the GPU does not have
        down += not state
    return down


def _memory(ask: Ask) -> Any:
    info = ask("nvmlDeviceGetMemoryInfo", _MEMORY_V2)
    return ask("nvmlDeviceGetMemoryInfo") if info is Missing.OUTDATED else info
