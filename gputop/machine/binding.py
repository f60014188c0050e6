"""nvidia-ml-py, with those functions replaced that it makes badly. The only importer of pynvml.

The replaced ones keep their names and answer plain tuples: a list costs one driver call instead of two, an empty list
is not an error, and the field-value array has the spare entry that the driver may touch.
"""

import ctypes
from collections.abc import Sequence
from ctypes import byref, c_uint, c_ulonglong
from typing import Any, Final

from gputop.lean import lean

ProcessEntry = tuple[int, int | None, int | None, int | None]  # pid, bytes, GPU instance, compute instance
UtilizationEntry = tuple[int, int, int, int, int, int]  # pid, µs, SM, memory, encoder, decoder

_SUCCESS: Final = 0
_NOT_FOUND: Final = 6
_INSUFFICIENT_SIZE: Final = 7
_FUNCTION_NOT_FOUND: Final = 13
_NO_INSTANCE: Final = 0xFFFFFFFF
_NO_MEMORY_VALUE: Final = 2**64 - 1
_FIRST_ROOM: Final = 128
_VALUE_MEMBERS: Final = ("dVal", "uiVal", "ulVal", "ullVal", "sllVal", "siVal", "usVal")  # by nvmlValueType_t
_UTILIZATION_INFO_V1: Final = 0x01000018


class _ProcessInfo(ctypes.Structure):
    """nvmlProcessInfo_t of the _v2 and _v3 functions."""

    _fields_ = (
        ("pid", c_uint),
        ("memory", c_ulonglong),
        ("gpu_instance", c_uint),
        ("compute_instance", c_uint),
    )


class _ProtectedProcessInfo(ctypes.Structure):
    """The same with a field that early R535 drivers had and that was taken back."""

    _fields_ = (*_ProcessInfo._fields_, ("protected_memory", c_ulonglong))


class _FirstProcessInfo(ctypes.Structure):
    """nvmlProcessInfo_t of the functions without a version."""

    _fields_ = (("pid", c_uint), ("memory", c_ulonglong))


class Binding:
    """pynvml's functions, some of them better."""

    def __init__(self) -> None:
        self._pynvml: Any = lean("pynvml")
        self.NVMLError: type[Exception] = self._pynvml.NVMLError
        self._field_arrays: dict[tuple[tuple[int, int], ...], Any] = {}
        self._listers: dict[str, tuple[Any, type[ctypes.Structure]]] = {}

    def __getattr__(self, name: str) -> Any:
        """Return pynvml's own function; kept, so that it is looked up once."""
        value = getattr(self._pynvml, name)
        setattr(self, name, value)
        return value

    def nvmlDeviceGetComputeRunningProcesses(self, handle: Any) -> list[ProcessEntry]:
        """Return the compute processes of a GPU or MIG device."""
        return self._processes("nvmlDeviceGetComputeRunningProcesses", handle)

    def nvmlDeviceGetGraphicsRunningProcesses(self, handle: Any) -> list[ProcessEntry]:
        """Return the graphics processes of a GPU or MIG device."""
        return self._processes("nvmlDeviceGetGraphicsRunningProcesses", handle)

    def nvmlDeviceGetMPSComputeRunningProcesses(self, handle: Any) -> list[ProcessEntry]:
        """Return the clients of MPS on a GPU or MIG device."""
        return self._processes("nvmlDeviceGetMPSComputeRunningProcesses", handle)

    def nvmlDeviceGetFieldValues(
        self, handle: Any, ids: tuple[tuple[int, int], ...]
    ) -> list[tuple[int, int | float, int]]:
        """Return (return code, value, timestamp in µs) for each (field, scope) in one driver call."""
        template = self._field_arrays.get(ids)
        if template is None:
            template = self._field_arrays[ids] = self._field_array(ids)
        values = type(template).from_buffer_copy(template)  # GPUs are read from several threads
        self._check(self._function("nvmlDeviceGetFieldValues")(handle, len(ids), byref(values)))
        return [_field_value(values[n]) for n in range(len(ids))]

    def nvmlDeviceGetProcessUtilization(self, handle: Any, since_us: int) -> list[UtilizationEntry]:
        """Return what processes did since a timestamp of the driver; empty when none did anything."""
        try:
            function = self._function("nvmlDeviceGetProcessesUtilizationInfo")
        except self.NVMLError:
            return self._older_utilization(handle, since_us)
        room = _FIRST_ROOM
        while True:
            entries = (self._pynvml.c_nvmlProcessUtilizationInfo_v1_t * room)()
            info = self._pynvml.c_nvmlProcessesUtilizationInfo_v1_t(
                version=_UTILIZATION_INFO_V1, processSamplesCount=room, lastSeenTimeStamp=since_us
            )
            info.procUtilArray = entries
            code = function(handle, byref(info))
            if code != _INSUFFICIENT_SIZE:
                return self._utilization(code, entries, info.processSamplesCount)
            room = max(room, info.processSamplesCount) * 2

    def nvmlGpmQueryDeviceSupport(self, handle: Any) -> bool:
        """Say whether the GPU has profiling metrics."""
        return bool(self._pynvml.nvmlGpmQueryDeviceSupport(handle).isSupportedDevice)

    def nvmlGpmMetricsGet(self, older: Any, newer: Any, ids: Sequence[int]) -> list[tuple[int, float]]:
        """Return (return code, value) for each metric between two samples."""
        request = self._pynvml.c_nvmlGpmMetricsGet_t(version=1, numMetrics=len(ids), sample1=older, sample2=newer)
        metrics = request.metrics
        for n, metric_id in enumerate(ids):
            metrics[n].metricId = metric_id
        self._check(self._function("nvmlGpmMetricsGet")(byref(request)))
        return [(metrics[n].nvmlReturn, metrics[n].value) for n in range(len(ids))]

    def nvmlEventSetWait(self, event_set: Any, timeout_ms: int) -> tuple[str, int, int]:
        """Wait for an event: (uuid of the GPU, type, data). Raises NVMLError 10 when there was none."""
        event = self._pynvml.nvmlEventSetWait_v2(event_set, timeout_ms)
        return self._pynvml.nvmlDeviceGetUUID(event.device), event.eventType, event.eventData

    # --- helpers -------------------------------------------------------------------------------------------------
    def _function(self, name: str) -> Any:
        return self._pynvml._nvmlGetFunctionPointer(name)

    def _check(self, code: int) -> None:
        if code != _SUCCESS:
            raise self.NVMLError(code)

    def _has(self, name: str) -> bool:
        try:
            self._function(name)
        except self.NVMLError:
            return False
        return True

    def _lister(self, name: str) -> tuple[Any, type[ctypes.Structure]]:
        """Return the newest variant of a process list and the structure that it fills."""
        known = self._listers.get(name)
        if known is None:
            known = self._listers[name] = self._newest_lister(name)
        return known

    def _newest_lister(self, name: str) -> tuple[Any, type[ctypes.Structure]]:
        if self._has(name + "_v3"):
            is_early_r535 = self._has("nvmlDeviceGetConfComputeMemSizeInfo") and not self._has(
                "nvmlDeviceGetRunningProcessDetailList"
            )
            return self._function(name + "_v3"), _ProtectedProcessInfo if is_early_r535 else _ProcessInfo
        if self._has(name + "_v2"):
            return self._function(name + "_v2"), _ProcessInfo
        return self._function(name), _FirstProcessInfo

    def _processes(self, name: str, handle: Any) -> list[ProcessEntry]:
        function, structure = self._lister(name)
        count = c_uint(_FIRST_ROOM)
        while True:
            entries = (structure * count.value)()
            room = count.value
            code = function(handle, byref(count), entries)
            if code != _INSUFFICIENT_SIZE:
                self._check(code)
                return [_process_entry(entries[n]) for n in range(min(count.value, room))]
            count.value = max(room, count.value) * 2 + 5

    def _field_array(self, ids: tuple[tuple[int, int], ...]) -> Any:
        values = (self._pynvml.c_nvmlFieldValue_t * (len(ids) + 1))()
        for value, (field, scope) in zip(values, ids, strict=False):
            value.fieldId, value.scopeId = field, scope
        return values

    def _older_utilization(self, handle: Any, since_us: int) -> list[UtilizationEntry]:
        function = self._function("nvmlDeviceGetProcessUtilization")
        count = c_uint(_FIRST_ROOM)
        while True:
            entries = (self._pynvml.c_nvmlProcessUtilizationSample_t * count.value)()
            room = count.value
            code = function(handle, entries, byref(count), c_ulonglong(since_us))
            if code != _INSUFFICIENT_SIZE:
                return self._utilization(code, entries, min(count.value, room))
            count.value = max(room, count.value) * 2

    def _utilization(self, code: int, entries: Any, count: int) -> list[UtilizationEntry]:
        if code == _NOT_FOUND:
            return []
        self._check(code)
        used = (entries[n] for n in range(count))
        return [(e.pid, e.timeStamp, e.smUtil, e.memUtil, e.encUtil, e.decUtil) for e in used]


def _process_entry(entry: Any) -> ProcessEntry:
    memory = None if entry.memory == _NO_MEMORY_VALUE else entry.memory
    gpu_instance = getattr(entry, "gpu_instance", _NO_INSTANCE)
    if gpu_instance == _NO_INSTANCE:
        return entry.pid, memory, None, None
    return entry.pid, memory, gpu_instance, entry.compute_instance


def _field_value(entry: Any) -> tuple[int, int | float, int]:
    if entry.nvmlReturn != _SUCCESS:
        return entry.nvmlReturn, 0, 0
    kind = entry.valueType
    if kind >= len(_VALUE_MEMBERS):
        return _FUNCTION_NOT_FOUND, 0, 0  # a type that is newer than we are
    return _SUCCESS, getattr(entry.value, _VALUE_MEMBERS[kind]), entry.timestamp
