"""NVML's health structures that pynvml leaves to the caller, as plain values."""

import ctypes
from collections.abc import Callable
from ctypes import byref, c_uint, c_ulonglong
from typing import Any, Final

from gputop.machine.nvml import codes
from gputop.machine.nvml.codes import NVMLError, check

_FABRIC_INFO_V2, _FABRIC_INFO_V3 = 0x02000024, 0x03000028
_SRAM_ERRORS_V1: Final = 0x01000068


class _FabricInfo(ctypes.Structure):
    """nvmlGpuFabricInfo_v3_t; the second version is the same without ``health``."""

    _fields_ = (
        ("version", c_uint),
        ("cluster", ctypes.c_ubyte * 16),
        ("status", c_uint),
        ("clique", c_uint),
        ("state", ctypes.c_ubyte),
        ("health_mask", c_uint),
        ("health", ctypes.c_ubyte),
    )


class _SramErrors(ctypes.Structure):
    """nvmlEccSramErrorStatus_v1_t."""

    _fields_ = (("version", c_uint), ("counts", c_ulonglong * 11), ("is_exceeded", c_uint))


class HealthFunctions:
    """A mixin of the binding, which finds the functions."""

    _function: Callable[[str], Any]

    def nvmlDeviceGetGpuFabricInfoV(self, handle: Any) -> tuple[int, int, int | None]:
        """Return state, status and health of the NVLink fabric; an older driver does not report the health."""
        function = self._function("nvmlDeviceGetGpuFabricInfoV")
        info = _FabricInfo(version=_FABRIC_INFO_V3)
        code = function(handle, byref(info))
        if code == codes.SUCCESS:
            return info.state, info.status, info.health
        if code != codes.VERSION_MISMATCH:
            raise NVMLError(code)
        info = _FabricInfo(version=_FABRIC_INFO_V2)
        check(function(handle, byref(info)))
        return info.state, info.status, None

    def nvmlDeviceGetSramEccErrorStatus(self, handle: Any) -> bool:
        """Return whether the error count of the on-chip memory is above the board's limit."""
        status = _SramErrors(version=_SRAM_ERRORS_V1)
        check(self._function("nvmlDeviceGetSramEccErrorStatus")(handle, byref(status)))
        return bool(status.is_exceeded)
