"""The driver's functions under nvidia-ml-py's names. The only importer of pynvml, which is loaded late.

Functions that every reading calls are plain (`library.py`) or made here, better than pynvml's: a list costs one driver
call instead of two, an empty list is not an error, and the field-value array has the spare entry that the driver may
touch.
"""

import _thread
import ctypes
from collections.abc import Iterator, Sequence
from ctypes import byref, c_int, c_uint, c_ulonglong, c_void_p
from struct import Struct
from typing import Any, Final

from gputop.lazy_imports import lean
from gputop.machine.nvml import codes
from gputop.machine.nvml.codes import NVMLError, check
from gputop.machine.nvml.health import HealthFunctions
from gputop.machine.nvml.library import Library
from gputop.machine.nvml.mig import MigFunctions

ProcessEntry = tuple[int, int | None, int | None, int | None]  # pid, bytes, GPU instance, compute instance
UtilizationEntry = tuple[int, int, int, int, int, int]  # pid, µs, SM, memory, encoder, decoder

_NO_INSTANCE: Final = 0xFFFFFFFF
_NO_MEMORY_VALUE: Final = 2**64 - 1
_FIRST_ROOM: Final = 128
_MOST_ROOM: Final = 2**16  # processes on a GPU: a driver that needs more room is broken
# The driver's structures, unpacked in one call: ctypes takes five times as long, pynvml's own classes twenty times.
_PROCESS: Final = Struct("=I4xQII")  # nvmlProcessInfo_t of the _v2 and _v3 functions
_PROTECTED_PROCESS: Final = Struct("=I4xQII8x")  # with a field that early R535 drivers had and later ones dropped
_FIRST_PROCESS: Final = Struct("=I4xQ")  # of the functions without a version suffix
_UTILIZATION: Final = Struct("=QIIIII8x4x")  # nvmlProcessUtilizationInfo_v1_t
_FIRST_UTILIZATION: Final = Struct("=I4xQIIII")  # nvmlProcessUtilizationSample_t
_FIELD_QUESTION: Final = Struct("=II32x")
_FIELD_VALUE: Final = Struct("=8xq8xII8s")  # nvmlFieldValue_t
_GPM_HEAD: Final = Struct("=IIQQ")  # of nvmlGpmMetricsGet_t; the metrics follow
_GPM_QUESTION: Final = Struct("=I36x")  # nvmlGpmMetric_t
_GPM_ANSWER: Final = Struct("=4xId24x")
_GPM_ROOM: Final = 512  # the driver may expect the whole structure, with its 477 metrics
_VALUES: Final = tuple(Struct("=" + kind) for kind in "dIQQqiH")  # by nvmlValueType_t


class _Memory(ctypes.Structure):
    """nvmlMemory_t."""

    _fields_ = (("total", c_ulonglong), ("free", c_ulonglong), ("used", c_ulonglong))


class _MemoryV2(ctypes.Structure):
    """nvmlMemory_v2_t."""

    _fields_ = (
        ("version", c_uint),
        ("total", c_ulonglong),
        ("reserved", c_ulonglong),
        ("free", c_ulonglong),
        ("used", c_ulonglong),
    )


class _Event(ctypes.Structure):
    """nvmlEventData_t."""

    _fields_ = (
        ("device", c_void_p),
        ("kind", c_ulonglong),
        ("data", c_ulonglong),
        ("gpu_instance", c_uint),
        ("compute_instance", c_uint),
    )


class _UtilizationRequest(ctypes.Structure):
    """nvmlProcessesUtilizationInfo_v1_t."""

    _fields_ = (("version", c_uint), ("count", c_uint), ("since_us", c_ulonglong), ("entries", c_void_p))


_UTILIZATION_INFO_V1: Final = 0x01000018
_TEMPERATURE_V1: Final = 0x0100000C  # nvmlTemperature_v1_t: version, sensor, °C
_MARGIN_V1: Final = 0x01000008  # nvmlMarginTemperature_v1_t: version, °C
_GPM_V1: Final = 1


class Binding(HealthFunctions, MigFunctions):
    """Functions under pynvml's names; a handle is a C pointer."""

    def __init__(self) -> None:
        self._library: Any = None
        self._loaded: Any = None
        self._loading = _thread.allocate_lock()
        self._field_questions: dict[tuple[tuple[int, int], ...], bytes] = {}
        self._functions: dict[str, Any] = {}
        self._listers: dict[str, tuple[Any, Struct]] = {}

    def __getattr__(self, name: str) -> Any:
        """Return a plain function, or else pynvml's own; keep it, so that it is looked up once."""
        if name.startswith("_") or self._library is None:
            raise AttributeError(name)
        try:
            value = self._library.plain(name) or getattr(self._pynvml, name)
        except NVMLError as error:
            if error.value != codes.FUNCTION_NOT_FOUND:
                return _raising(error.value)  # it may be there the next time
            value = _raising(error.value)
        setattr(self, name, value)
        return value

    @property
    def NVMLError(self) -> tuple[type[Exception], ...]:
        """Return the exception that the functions raise."""
        return (NVMLError,) if self._loaded is None else (NVMLError, self._loaded.NVMLError)

    @property
    def _pynvml(self) -> Any:
        with self._loading:  # the threads of all GPUs may come here at once
            if self._loaded is None:
                self._loaded = _started_pynvml()
        return self._loaded

    def nvmlInit(self) -> None:
        """Load the library and initialise it."""
        self._library = Library()
        check(self._library.symbol("nvmlInitWithFlags")(0))

    def nvmlDeviceGetHandleByUUID(self, uuid: str) -> Any:
        """Return the handle of a GPU."""
        handle = c_void_p()
        check(self._function("nvmlDeviceGetHandleByUUID")(uuid.encode(), byref(handle)))
        return handle

    def nvmlDeviceGetMemoryInfo(self, handle: Any, version: int = 0) -> Any:
        """Return total, free and used bytes; reserved ones too if a version is given."""
        memory = _MemoryV2(version=version) if version else _Memory()
        check(self._function("nvmlDeviceGetMemoryInfo" + ("_v2" if version else ""))(handle, byref(memory)))
        return memory

    def nvmlDeviceGetTemperatureV(self, handle: Any, sensor: int) -> int:
        """Return °C."""
        held = (c_int * 3)(_TEMPERATURE_V1, sensor)
        check(self._function("nvmlDeviceGetTemperatureV")(handle, held))
        return held[2]

    def nvmlDeviceGetMarginTemperature(self, handle: Any) -> int:
        """Return °C below the temperature at which the board slows down."""
        held = (c_int * 2)(_MARGIN_V1)
        check(self._function("nvmlDeviceGetMarginTemperature")(handle, held))
        return held[1]

    def nvmlDeviceGetComputeRunningProcesses(self, handle: Any) -> list[ProcessEntry]:
        """Return the compute processes of a GPU or MIG device."""
        return self._processes("nvmlDeviceGetComputeRunningProcesses", handle)

    def nvmlDeviceGetGraphicsRunningProcesses(self, handle: Any) -> list[ProcessEntry]:
        """Return the graphics processes of a GPU or MIG device."""
        return self._processes("nvmlDeviceGetGraphicsRunningProcesses", handle)

    def nvmlDeviceGetMPSComputeRunningProcesses(self, handle: Any) -> list[ProcessEntry]:
        """Return the MPS clients on a GPU or MIG device."""
        return self._processes("nvmlDeviceGetMPSComputeRunningProcesses", handle)

    def nvmlDeviceGetFieldValues(
        self, handle: Any, ids: tuple[tuple[int, int], ...]
    ) -> list[tuple[int, int | float, int]]:
        """Return (return code, value, timestamp in µs) for each (field, scope) in one driver call."""
        packed = self._field_questions.get(ids)
        if packed is None:
            packed = self._field_questions[ids] = b"".join([_FIELD_QUESTION.pack(*one) for one in (*ids, (0, 0))])
        values = ctypes.create_string_buffer(packed, len(packed))
        check(self._function("nvmlDeviceGetFieldValues")(handle, len(ids), byref(values)))
        return [_field_value(*value) for value in _unpacked(_FIELD_VALUE, values, len(ids))]

    def nvmlDeviceGetProcessUtilization(self, handle: Any, since_us: int) -> list[UtilizationEntry]:
        """Return the utilization of processes since a timestamp of the driver; empty if none was active."""
        try:
            function = self._function("nvmlDeviceGetProcessesUtilizationInfo")
        except NVMLError:
            return self._older_utilization(handle, since_us)
        room = _FIRST_ROOM
        while True:
            entries = _room(_UTILIZATION, room)
            info = _UtilizationRequest(_UTILIZATION_INFO_V1, room, since_us, ctypes.addressof(entries))
            code = function(handle, byref(info))
            count = info.count
            if code == codes.NOT_FOUND:
                return []
            if code == codes.VERSION_MISMATCH:
                return self._older_utilization(handle, since_us)
            if code != codes.INSUFFICIENT_SIZE:
                check(code)
                used = _unpacked(_UTILIZATION, entries, min(count, room))
                return [(pid, time_us, sm, memory, enc, dec) for time_us, pid, sm, memory, enc, dec in used]
            room = _more_room(room, count)

    def nvmlGpmQueryDeviceSupport(self, handle: Any) -> bool:
        """Return whether the GPU has profiling metrics."""
        answer = (c_uint * 2)(_GPM_V1)
        check(self._function("nvmlGpmQueryDeviceSupport")(handle, answer))
        return bool(answer[1])

    def nvmlGpmSampleGet(self, handle: Any, sample: Any) -> None:
        """Take a sample of a GPU."""
        check(self._function("nvmlGpmSampleGet")(handle, sample))

    def nvmlGpmMigSampleGet(self, handle: Any, instance: int, sample: Any) -> None:
        """Take a sample of a GPU instance."""
        check(self._function("nvmlGpmMigSampleGet")(handle, instance, sample))

    def nvmlGpmMetricsGet(self, older: Any, newer: Any, ids: Sequence[int]) -> list[tuple[int, float]]:
        """Return (return code, value) for each metric between two samples."""
        packed = [_GPM_QUESTION.pack(each) for each in ids]
        head = _GPM_HEAD.pack(_GPM_V1, len(ids), older.value, newer.value)
        request = ctypes.create_string_buffer(
            b"".join([head, *packed]), _GPM_HEAD.size + _GPM_QUESTION.size * _GPM_ROOM
        )
        check(self._function("nvmlGpmMetricsGet")(request))
        return list(_unpacked(_GPM_ANSWER, request[_GPM_HEAD.size :], len(ids)))

    def nvmlDeviceRegisterEvents(self, handle: Any, kinds: int, event_set: Any) -> None:
        """Register for the events of a GPU."""
        check(self._function("nvmlDeviceRegisterEvents")(handle, c_ulonglong(kinds), event_set))

    def nvmlEventSetWait(self, event_set: Any, timeout_ms: int) -> tuple[str, int, int]:
        """Wait for an event: (UUID of the GPU, type, data). Raises NVMLError 10 if there was none."""
        event = _Event()
        check(self._function("nvmlEventSetWait_v2")(event_set, byref(event), timeout_ms))
        return self.nvmlDeviceGetUUID(c_void_p(event.device)), event.kind, event.data

    # --- helpers -------------------------------------------------------------------------------------------------
    def _function(self, name: str) -> Any:
        function = self._functions.get(name)
        if function is None:
            function = self._functions[name] = self._library.symbol(name)
        return function

    def _has(self, name: str) -> bool:
        try:
            self._function(name)
        except NVMLError:
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
            if code != codes.INSUFFICIENT_SIZE:
                check(code)
                return [_process_entry(*entry) for entry in _unpacked(layout, entries, min(count.value, room))]
            count.value = _more_room(room, count.value)

    def _older_utilization(self, handle: Any, since_us: int) -> list[UtilizationEntry]:
        function = self._function("nvmlDeviceGetProcessUtilization")
        count = c_uint(_FIRST_ROOM)
        while True:
            room = count.value
            entries = _room(_FIRST_UTILIZATION, room)
            code = function(handle, entries, byref(count), c_ulonglong(since_us))
            if code == codes.NOT_FOUND:
                return []
            if code != codes.INSUFFICIENT_SIZE:
                check(code)
                return list(_unpacked(_FIRST_UTILIZATION, entries, min(count.value, room)))
            count.value = _more_room(room, count.value)


def _started_pynvml() -> Any:
    """Return nvidia-ml-py, initialised. Raises `NVMLError`, also if another package has taken its name."""
    try:
        pynvml: Any = lean("pynvml")
        started = pynvml.nvmlInit
    except (ImportError, AttributeError):
        raise NVMLError(codes.FUNCTION_NOT_FOUND) from None
    try:
        started()
    except pynvml.NVMLError as error:
        raise NVMLError(error.value) from None
    return pynvml


def _raising(code: int) -> Any:
    """Return a function that raises this error, in place of one that the driver lacks."""

    def call(*_: object) -> None:
        raise NVMLError(code)

    return call


def _more_room(room: int, wanted: int) -> int:
    """Return room for an answer that did not fit. Raises `NVMLError` if no room is ever enough."""
    if room >= _MOST_ROOM:
        raise NVMLError(codes.INSUFFICIENT_SIZE)
    return min(max(room, wanted) * 2 + 5, _MOST_ROOM)


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
    if code != codes.SUCCESS:
        return code, 0, 0
    if kind >= len(_VALUES):
        return codes.FUNCTION_NOT_FOUND, 0, 0  # a type that is newer than we are
    return codes.SUCCESS, _VALUES[kind].unpack_from(raw)[0], time_us
