"""One reading of one GPU: its metrics, its instances, and the processes on it."""

from typing import Any, Final

from msgspec import Struct

from gputop.core.model.catalogue import MIG_MODE
from gputop.core.model.metric import Missing, Unit
from gputop.core.model.sample import Gpu, GpuProcess, GpuState, Readings, Reasons
from gputop.core.processes.accounting import Meter
from gputop.core.text.text import clean
from gputop.machine.gpu.instances import InstanceReader
from gputop.machine.gpu.metrics import GpuLostError, MetricReader
from gputop.machine.gpu.process_list import Place, ProcessLister
from gputop.machine.gpu.utilization import Shares, UtilizationReader
from gputop.machine.nvml.driver import LASTING, Driver, Handle

_LAYOUT_EVERY_S: Final = 30.0
_LOST_RETRY_S: Final = 5.0
_allows: Final = Unit.BYTES.allows


class DeviceReading(Struct, frozen=True):
    """A GPU, and the processes on it by pid."""

    gpu: Gpu
    uses: dict[int, tuple[GpuProcess, ...]]


class _Shares(Struct, frozen=True):
    """The utilization of each process, in percent; ``others`` is that of unlisted processes."""

    window_s: float | None
    by_pid: dict[int, Shares]
    others: Shares | tuple[None, None, None, None] = (0.0, 0.0, 0.0, 0.0)
    missing: Reasons = {}


class DeviceReader:
    """Reads one GPU. Lives in the GPU's own thread.

    Other threads may set `is_changed`: then the layout is read again; and `is_split_anew`: then the mode as well. They
    add pids to ``renewed`` that now belong to other processes.
    """

    def __init__(self, driver: Driver, handle: Handle, index: int, identity: tuple[str, str, str]) -> None:
        self.uuid, self._name, self._bus_id = identity
        self.index = index
        self.is_changed = True
        self.is_split_anew = False  # its MIG mode or layout was changed
        self.renewed: set[int] = set()
        self._driver = driver
        self._meter = Meter()
        self._retry_due: float | None = None
        self._no_name: Missing | None = None
        self._begin(handle)

    def read(self, now: float, wall_s: float) -> DeviceReading:
        """Read the metrics that are due. ``now`` is monotonic, ``wall_s`` since the epoch.

        If the driver lists no processes at all, ``gpu.missing["processes"]`` says why; if it does not list graphics or
        MPS processes, ``gpu.missing["other_processes"]`` does. For a GPU without a name, ``gpu.missing["name"]`` says
        why.
        """
        if self._retry_due is not None and not self._is_back(now):
            return self._lost()
        try:
            if self.is_split_anew:
                self.is_split_anew, self.is_changed = False, True
                self._metrics.hasten()
            metrics, missing = self._metrics.read(now)
            if not self._name:
                self._ask_name(missing)
            self._follow_layout(metrics.get(MIG_MODE.key) is True, now)
            instances = self._instances.read(now) if self._is_mig else ()
            uses = self._uses(Readings(metrics=metrics, missing=missing), now)
            if self._lister.refusal:
                missing["processes"] = self._lister.refusal
            if self._lister.gap:
                missing["other_processes"] = self._lister.gap
            gpu = Gpu(**self._identity(), read_s=wall_s, metrics=metrics, missing=missing, instances=instances)
            return DeviceReading(gpu, uses)
        except GpuLostError:
            self._retry_due = now + _LOST_RETRY_S
            return self._lost()

    def identified(self) -> Gpu:
        """Return the GPU as it is known before the first reading."""
        return Gpu(**self._identity())

    def _begin(self, handle: Handle) -> None:
        self._handle = handle
        self._metrics = MetricReader(self._driver, handle, self.index)
        self._instances = InstanceReader(self._driver, handle)
        self._utilization = UtilizationReader(self._driver, handle)
        self._lister = ProcessLister(self._driver)
        self._is_mig: bool | None = None
        self._layout_due = 0.0

    def _lost(self) -> DeviceReading:
        return DeviceReading(Gpu(**self._identity(), state=GpuState.LOST), {})

    def _is_back(self, now: float) -> bool:
        """Retry a lost GPU now and then, with a new handle: the old one must not be used any more."""
        if self._retry_due is not None and now < self._retry_due:
            return False
        self._retry_due = now + _LOST_RETRY_S
        handle = self._driver.ask("nvmlDeviceGetHandleByUUID", self.uuid)
        if isinstance(handle, Missing) or isinstance(self._driver.ask("nvmlDeviceGetUUID", handle), Missing):
            return False
        self._retry_due = None
        self._begin(handle)
        return True

    def _identity(self) -> dict[str, Any]:
        return {"index": self.index, "uuid": self.uuid, "name": self._name, "bus_id": self._bus_id}

    def _ask_name(self, missing: Reasons) -> None:
        """Read the name if the first attempt failed, until there is an answer or none can be expected."""
        if self._no_name not in LASTING:
            answer = self._metrics.ask("nvmlDeviceGetName")
            self._name, self._no_name = ("", answer) if isinstance(answer, Missing) else (clean(answer), None)
        if self._no_name is not None:
            missing["name"] = self._no_name

    def _follow_layout(self, is_mig: bool, now: float) -> None:  # noqa: FBT001
        if is_mig is not self._is_mig:
            if self._is_mig is not None:
                self._metrics.forget()
                self._utilization = UtilizationReader(self._driver, self._handle)
            self._is_mig, self.is_changed = is_mig, True
        if is_mig and (self.is_changed or now >= self._layout_due):
            self.is_changed, self._layout_due = False, now + _LAYOUT_EVERY_S
            self._instances.enumerate()

    def _uses(self, gpu: Readings, now: float) -> dict[int, tuple[GpuProcess, ...]]:
        handles = [device.handle for device in self._instances.devices] if self._is_mig else [self._handle]
        found = self._lister.read(handles)
        if Missing.LOST in (self._lister.refusal, self._lister.gap):
            raise GpuLostError
        if self._is_mig and self._lister.refusal is Missing.FAULT:
            self.is_changed = True  # an instance was destroyed: its handle is invalid
        shares = _unknown(Missing.UNSUPPORTED) if self._is_mig else self._shares({place[0] for place in found}, now)
        self._advance(gpu, now, sum([shares.by_pid.get(place[0], shares.others)[0] or 0.0 for place in found]))
        uses: dict[int, tuple[GpuProcess, ...]] = {}
        for place, (kind, memory) in found.items():
            pid, use = place[0], self._use(place, kind, memory, shares)
            uses[pid] = (*uses[pid], use) if pid in uses else (use,)
        return uses

    def _advance(self, gpu: Readings, now: float, sm_percent: float) -> None:
        renewed, self.renewed = self.renewed, set()
        if renewed:
            self._meter.forget(renewed)
        self._meter.advance(gpu, now, sm_percent)

    def _shares(self, pids: set[int], now: float) -> _Shares:
        answer = self._utilization.read(pids, now)
        if answer is Missing.LOST:
            raise GpuLostError
        return _unknown(answer) if isinstance(answer, Missing) else _Shares(*answer)

    def _use(self, place: Place, kind: str, memory: int | None, shares: _Shares) -> GpuProcess:
        pid, gpu_instance, compute_instance = place
        is_absent = memory is None
        if not is_absent and not _allows(memory):
            memory = None
        sm, controller, encoder, decoder = shares.by_pid.get(pid, shares.others)
        seconds, joules = self._meter.total(place, sm)
        missing = shares.missing
        if memory is None or seconds is None or joules is None:
            missing = missing | self._reasons(seconds, joules, missing.get("sm_percent"))
            if memory is None:
                missing["memory_bytes"] = Missing.UNSUPPORTED if is_absent else Missing.FAULT
        return GpuProcess(
            gpu=self.uuid,
            gpu_index=self.index,
            type=kind,
            memory_bytes=memory,
            gpu_instance=gpu_instance,
            compute_instance=compute_instance,
            sm_percent=sm,
            memory_utilization_percent=controller,
            encoder_percent=encoder,
            decoder_percent=decoder,
            window_s=shares.window_s,
            gpu_seconds=seconds,
            energy_j=joules,
            missing=missing,
        )

    def _reasons(self, seconds: float | None, joules: float | None, why: Missing | None) -> Reasons:
        """Return the reason of each missing value of a use. ``why``: the reason for its utilization."""
        missing: Reasons = {}
        if seconds is None:
            missing["gpu_seconds"] = why or Missing.NOT_YET
        if joules is None:
            of_energy = self._meter.joules
            missing["energy_j"] = why or (of_energy if isinstance(of_energy, Missing) else Missing.NOT_YET)
        return missing


def _unknown(why: Missing) -> _Shares:
    """Return that no value of any process is known."""
    names = ("sm_percent", "memory_utilization_percent", "encoder_percent", "decoder_percent")
    return _Shares(None, {}, (None, None, None, None), dict.fromkeys(names, why))
