"""The driver's plain functions without nvidia-ml-py, whose import takes a tenth of a snapshot's time.

Each returns the same as nvidia-ml-py's function of that name (a test compares them on a driver). Other functions are
nvidia-ml-py's own, or made by hand in `binding.py`, which joins them all.
"""

import ctypes
from collections.abc import Callable
from ctypes import Structure, byref, c_char, c_int, c_uint, c_ulonglong, c_void_p, create_string_buffer
from typing import Any, Final, TypeAlias

from gputop.machine.nvml import codes
from gputop.machine.nvml.codes import NVMLError, check

Function: TypeAlias = Callable[..., Any]

_LIBRARY: Final = "libnvidia-ml.so.1"


class Library:
    """libnvidia-ml, as the loader finds it; raises `NVMLError` if there is none."""

    def __init__(self) -> None:
        try:
            self._library = ctypes.CDLL(_LIBRARY)
        except OSError:
            raise NVMLError(codes.LIBRARY_NOT_FOUND) from None

    def symbol(self, name: str) -> Function:
        """Return a C function. Raises `NVMLError` if this driver lacks it."""
        try:
            found: Function = self._library[name]
        except AttributeError:
            raise NVMLError(codes.FUNCTION_NOT_FOUND) from None
        return found

    def plain(self, name: str) -> Function | None:
        """Return the function of this name if it is plain: it takes what C takes and returns what C fills in.

        Raises `NVMLError` if this driver lacks it.
        """
        if name in _TEXTS:
            return _text(self.symbol(name), _TEXTS[name])
        kinds = _FILLED.get(name)
        return _filled(self.symbol(_SYMBOLS.get(name, name)), kinds) if kinds else None


def _text(function: Function, length: int) -> Function:
    def call(*given: Any) -> str:
        held = create_string_buffer(length)
        check(function(*given, held, length))
        return held.value.decode()

    return call


def _filled(function: Function, kinds: tuple[Any, ...]) -> Function:
    """Return a function that returns a number, a handle or a structure, or several of them as a tuple."""
    if len(kinds) == 1:
        (kind,) = kinds
        is_number = kind not in _WHOLE

        def one(*given: Any) -> Any:
            held = kind()
            check(function(*given, byref(held)))
            return held.value if is_number else held

        return one

    def several(*given: Any) -> Any:
        held = [kind() for kind in kinds]
        check(function(*given, *[byref(each) for each in held]))
        return tuple([each.value for each in held])

    return several


class Rates(Structure):
    """nvmlUtilization_t."""

    _fields_ = (("gpu", c_uint), ("memory", c_uint))


class Bar1(Structure):
    """nvmlBAR1Memory_t."""

    _fields_ = (("bar1Total", c_ulonglong), ("bar1Free", c_ulonglong), ("bar1Used", c_ulonglong))


class Pci(Structure):
    """nvmlPciInfo_t."""

    _fields_ = (
        ("busIdLegacy", c_char * 16),
        ("domain", c_uint),
        ("bus", c_uint),
        ("device", c_uint),
        ("pciDeviceId", c_uint),
        ("pciSubSystemId", c_uint),
        ("busId", c_char * 32),
    )


_WHOLE: Final = {c_void_p, Rates, Bar1, Pci}  # returned unchanged
_SYMBOLS: Final = {  # the newest of several versions
    "nvmlDeviceGetCount": "nvmlDeviceGetCount_v2",
    "nvmlDeviceGetHandleByIndex": "nvmlDeviceGetHandleByIndex_v2",
    "nvmlDeviceGetPciInfo": "nvmlDeviceGetPciInfo_v3",
}
_TEXTS: Final = {  # by the length of the buffer
    "nvmlSystemGetDriverVersion": 80,
    "nvmlSystemGetNVMLVersion": 80,
    "nvmlDeviceGetUUID": 96,
    "nvmlDeviceGetName": 96,
    "nvmlDeviceGetSerial": 30,
    "nvmlDeviceGetVbiosVersion": 32,
}
_NUMBERS: Final = (
    "nvmlDeviceGetCount", "nvmlDeviceGetArchitecture", "nvmlDeviceGetNumGpuCores", "nvmlDeviceGetMinorNumber",
    "nvmlDeviceGetTemperature", "nvmlDeviceGetTemperatureThreshold", "nvmlDeviceGetFanSpeed",
    "nvmlDeviceGetPowerUsage", "nvmlDeviceGetEnforcedPowerLimit", "nvmlDeviceGetPowerManagementDefaultLimit",
    "nvmlDeviceGetClockInfo", "nvmlDeviceGetMaxClockInfo", "nvmlDeviceGetPerformanceState",
    "nvmlDeviceGetCurrPcieLinkGeneration", "nvmlDeviceGetCurrPcieLinkWidth", "nvmlDeviceGetMaxPcieLinkGeneration",
    "nvmlDeviceGetMaxPcieLinkWidth", "nvmlDeviceGetNvLinkState", "nvmlDeviceGetPersistenceMode",
    "nvmlDeviceGetComputeMode", "nvmlDeviceGetMaxMigDeviceCount", "nvmlDeviceGetGpuInstanceId",
    "nvmlDeviceGetComputeInstanceId", "nvmlDeviceGetVirtualizationMode",
)  # fmt: skip
_LONG_NUMBERS: Final = (
    "nvmlDeviceGetTotalEnergyConsumption", "nvmlDeviceGetTotalEccErrors", "nvmlDeviceGetSupportedEventTypes",
    "nvmlDeviceGetCurrentClocksEventReasons", "nvmlDeviceGetCurrentClocksThrottleReasons",
)  # fmt: skip
_PAIRS: Final = (
    "nvmlDeviceGetEncoderUtilization", "nvmlDeviceGetDecoderUtilization", "nvmlDeviceGetJpgUtilization",
    "nvmlDeviceGetOfaUtilization", "nvmlDeviceGetPowerManagementLimitConstraints", "nvmlDeviceGetEccMode",
    "nvmlDeviceGetMigMode",
)  # fmt: skip
_FILLED: Final[dict[str, tuple[Any, ...]]] = {
    "nvmlSystemGetCudaDriverVersion_v2": (c_int,),
    "nvmlDeviceGetHandleByIndex": (c_void_p,),
    "nvmlDeviceGetMigDeviceHandleByIndex": (c_void_p,),
    "nvmlEventSetCreate": (c_void_p,),
    "nvmlGpmSampleAlloc": (c_void_p,),
    "nvmlDeviceGetUtilizationRates": (Rates,),
    "nvmlDeviceGetBAR1MemoryInfo": (Bar1,),
    "nvmlDeviceGetPciInfo": (Pci,),
    "nvmlDeviceGetCudaComputeCapability": (c_int, c_int),
    "nvmlDeviceGetRemappedRows": (c_uint, c_uint, c_uint, c_uint),
    "nvmlDeviceGetEncoderStats": (c_uint, c_uint, c_uint),
    **dict.fromkeys(_NUMBERS, (c_uint,)),
    **dict.fromkeys(_LONG_NUMBERS, (c_ulonglong,)),
    **dict.fromkeys(_PAIRS, (c_uint, c_uint)),
}
PLAIN: Final = frozenset({*_TEXTS, *_FILLED})
