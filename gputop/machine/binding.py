"""nvidia-ml-py, with those functions replaced that it makes badly. The only importer of pynvml.

The replaced ones keep their names and answer plain tuples: a list costs one driver call instead of two, an empty list
is not an error, and the field-value array has the spare entry that the driver may touch.
"""

import ctypes
from collections.abc import Iterator, Sequence
from ctypes import byref, c_uint, c_ulonglong, c_void_p
from struct import Struct
from typing import Any, Final

from gputop.lean import lean
from gputop.machine.binding_health import HealthFunctions
from gputop.machine.binding_mig import MigFunctions

ProcessEntry = tuple[int, int | None, int | None, int | None]  # pid, bytes, GPU instance, compute instance
UtilizationEntry = tuple[int, int, int, int, int, int]  # pid, µs, SM, memory, encoder, decoder

_SUCCESS: Final = 0
_NOT_FOUND: Final = 6
_INSUFFICIENT_SIZE: Final = 7
_FUNCTION_NOT_FOUND: Final = 13
_NO_INSTANCE: Final = 0xFFFFFFFF
_NO_MEMORY_VALUE: Final = 2**64 - 1
_FIRST_ROOM: Final = 128
# The driver's structures, unpacked at one go: ctypes takes five times as long, pynvml's own classes twenty times.
_PROCESS: Final = Struct("=I4xQII")  # nvmlProcessInfo_t of the _v2 and _v3 functions
_PROTECTED_PROCESS: Final = Struct("=I4xQII8x")  # with a field that early R535 drivers had and that was taken back
_FIRST_PROCESS: Final = Struct("=I4xQ")  # of the functions without a version
_UTILIZATION: Final = Struct("=QIIIII8x4x")  # nvmlProcessUtilizationInfo_v1_t
_FIRST_UTILIZATION: Final = Struct("=I4xQIIII")  # nvmlProcessUtilizationSample_t
_FIELD_QUESTION: Final = Struct("=II32x")
_FIELD_VALUE: Final = Struct("=8xq8xII8s")  # nvmlFieldValue_t
_VALUES: Final = tuple(Struct("=" + kind) for kind in "dIQQqiH")  # by nvmlValueType_t


class _UtilizationRequest(ctypes.Structure):
    """nvmlProcessesUtilizationInfo_v1_t."""

    _fields_ = (("version", c_uint), ("count", c_uint), ("since_us", c_ulonglong), ("entries", c_void_p))


_UTILIZATION_INFO_V1: Final = 0x01000018


class Binding(HealthFunctions, MigFunctions):
    """pynvml's functions, some of them better."""

    def __init__(self) -> None:
        self._pynvml: Any = lean("pynvml")
        self.NVMLError: type[Exception] = self._pynvml.NVMLError
        self._field_questions: dict[tuple[tuple[int, int], ...], bytes] = {}
        self._listers: dict[str, tuple[Any, Struct]] = {}

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
        asked = self._field_questions.get(ids)
        if asked is None:
            asked = self._field_questions[ids] = b"".join([_FIELD_QUESTION.pack(*one) for one in (*ids, (0, 0))])
        values = ctypes.create_string_buffer(asked, len(asked))
        self._check(self._function("nvmlDeviceGetFieldValues")(handle, len(ids), byref(values)))
        return [_field_value(*value) for value in _unpacked(_FIELD_VALUE, values, len(ids))]

    def nvmlDeviceGetProcessUtilization(self, handle: Any, since_us: int) -> list[UtilizationEntry]:
        """Return what processes did since a timestamp of the driver; empty when none did anything."""
        try:
            function = self._function("nvmlDeviceGetProcessesUtilizationInfo")
        except self.NVMLError:
            return self._older_utilization(handle, since_us)
        room = _FIRST_ROOM
        while True:
            entries = _room(_UTILIZATION, room)
            info = _UtilizationRequest(_UTILIZATION_INFO_V1, room, since_us, ctypes.addressof(entries))
            code = function(handle, byref(info))
            count = info.count
            if code == _NOT_FOUND:
                return []
            if code != _INSUFFICIENT_SIZE:
                self._check(code)
                used = _unpacked(_UTILIZATION, entries, min(count, room))
                return [(pid, time_us, sm, memory, enc, dec) for time_us, pid, sm, memory, enc, dec in used]
            room = max(room, count) * 2

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

    def _lister(self, name: str) -> tuple[Any, Struct]:
        """Return the newest variant of a process list and the structure that it fills."""
        known = self._listers.get(name)
        if known is None:
            known = self._listers[name] = self._newest_lister(name)
        return known

    def _newest_lister(self, name: str) -> tuple[Any, Struct]:
        if self._has(name + "_v3"):
            is_early_r535 = self._has("nvmlDeviceGetConfComputeMemSizeInfo") and not self._has(
                "nvmlDeviceGetRunningProcessDetailList"
            )
            return self._function(name + "_v3"), _PROTECTED_PROCESS if is_early_r535 else _PROCESS
        if self._has(name + "_v2"):
            return self._function(name + "_v2"), _PROCESS
        return self._function(name), _FIRST_PROCESS

    def _processes(self, name: str, handle: Any) -> list[ProcessEntry]:
        function, layout = self._lister(name)
        count = c_uint(_FIRST_ROOM)
        while True:
            room = count.value
            entries = _room(layout, room)
            code = function(handle, byref(count), entries)
            if code != _INSUFFICIENT_SIZE:
                self._check(code)
                return [_process_entry(*entry) for entry in _unpacked(layout, entries, min(count.value, room))]
            count.value = max(room, count.value) * 2 + 5

    def _older_utilization(self, handle: Any, since_us: int) -> list[UtilizationEntry]:
        function = self._function("nvmlDeviceGetProcessUtilization")
        count = c_uint(_FIRST_ROOM)
        while True:
            room = count.value
            entries = _room(_FIRST_UTILIZATION, room)
            code = function(handle, entries, byref(count), c_ulonglong(since_us))
            if code == _NOT_FOUND:
                return []
            if code != _INSUFFICIENT_SIZE:
                self._check(code)
                return list(_unpacked(_FIRST_UTILIZATION, entries, min(count.value, room)))
            count.value = max(room, count.value) * 2


def _room(layout: Struct, count: int) -> Any:
    return (ctypes.c_char * (layout.size * count))()


def _unpacked(layout: Struct, entries: Any, count: int) -> Iterator[Any]:
    return layout.iter_unpack(bytes(entries)[: layout.size * count])


def _process_entry(
    pid: int, memory: int, gpu_instance: int = _NO_INSTANCE, compute_instance: int = _NO_INSTANCE
) -> ProcessEntry:
    known = None if memory == _NO_MEMORY_VALUE else memory
    if gpu_instance == _NO_INSTANCE:
        return pid, known, None, None
    return pid, known, gpu_instance, compute_instance


def _field_value(time_us: int, kind: int, code: int, raw: bytes) -> tuple[int, int | float, int]:
    if code != _SUCCESS:
        return code, 0, 0
    if kind >= len(_VALUES):
        return _FUNCTION_NOT_FOUND, 0, 0  # a type that is newer than we are
    return _SUCCESS, _VALUES[kind].unpack_from(raw)[0], time_us
