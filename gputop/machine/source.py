"""The machine as a `Source`: worker threads read the GPUs, so that a hanging GPU does not delay the others."""

import time
from collections.abc import Callable, Iterator, Sequence
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from gputop.core.model.metric import Missing
from gputop.core.model.process_id import pids_text
from gputop.core.model.sample import DriverInfo, Gpu, GpuProcess, GpuState, HostProcess, Reasons, Sample
from gputop.core.model.units import duration_text
from gputop.core.query.selection import Selection
from gputop.core.text.text import excerpt
from gputop.machine.gpu.device import DeviceReader, DeviceReading
from gputop.machine.gpu.discovery import Discovery, Identity, Inventory
from gputop.machine.gpu.events import EventWatcher
from gputop.machine.gpu.slot import Slot, unread
from gputop.machine.nvml.driver import Driver, Handle, NoDriverError, reason
from gputop.machine.proc.host import HostReader
from gputop.machine.processes.reader import ProcessReader
from gputop.machine.worker import Worker

_COUNT_EVERY_S: Final = 30.0
_LOST_RETRY_S: Final = 5.0
_REST_S: Final = 1.0  # for the driver calls of a discovery beside those that hang


class Limits(Struct, frozen=True):
    """Time limits. ``patience_s``: the wait for slow GPUs in a sample; ``hung_s``: then a GPU counts as hung."""

    patience_s: float = 0.5
    hung_s: float = 3.0


def limits(*, is_once: bool) -> Limits:
    """Return how long to wait for slow GPUs: longer if the user waits for a single sample."""
    return Limits(patience_s=3.0 if is_once else 0.4)


class Listed(Struct, frozen=True):
    """The processes on the GPUs, and their relatives that use no GPU."""

    processes: tuple[HostProcess, ...]
    relatives: tuple[HostProcess, ...]
    left_out: tuple[str, ...] = ()


class MachineSource:
    """Samples of this machine. ``driver`` and ``proc`` may be simulated; `simulated` then names the box."""

    def __init__(
        self,
        driver: Driver,
        host: HostReader,
        processes: ProcessReader,
        *,
        selection: Selection = Selection(),  # noqa: B008 - immutable
        interval_s: float = 1.0,
        limits: Limits = Limits(),  # noqa: B008
        simulated: str | None = None,
        watches_events: bool = True,
        clock: Callable[[], float] = time.monotonic,
        wall: Callable[[], float] = time.time,
    ) -> None:
        self.interval_s = interval_s
        self.limits = limits
        self.driver = driver
        self._host = host
        self._processes = processes
        self._selection = selection
        self._simulated = simulated
        self._clock = clock
        self._wall = wall
        self._discovery = Discovery(driver, simulated, limits.hung_s)
        self._inventory_worker: Worker[Inventory | NoDriverError] = Worker(self._discover)
        self._inventory: Inventory | None = None
        self._discovery_due = 0.0
        self._is_started = False
        self._events = EventWatcher(driver, self.refresh_layout, wall)
        self._watches_events = watches_events
        self._slots: dict[str, Slot] = {}
        self._process_worker = Worker(self._read_processes)
        self._uses: dict[int, tuple[GpuProcess, ...]] = {}
        self._ticks = 0
        self._listed = Listed((), ())

    def refresh_layout(self, uuid: str) -> None:
        """Read the MIG layout of a GPU again in the next reading, because it was changed."""
        slot = self._slots.get(uuid)
        if slot:
            slot.reader.is_split_anew = True

    def want_details(self, for_s: float) -> None:
        """Also read the details of the host, for this long."""
        self._host.want_details(self._clock() + for_s)

    def open(self) -> None:
        """Find the GPUs; wait little longer than the time after which a GPU counts as hung.

        Raises `NoDriverError` with what is missing and what to do, and ValueError if a selected GPU does not exist.
        """
        self._inventory_worker.ask(self._clock())
        self._settle(self._inventory_worker.take(self.limits.hung_s + _REST_S))
        self._check_selection()

    def read(self) -> Sample:
        """Take a sample. A GPU that does not answer in time keeps its last values, and later counts as hung."""
        now, wall_s, ticks = self._clock(), self._wall(), self._processes.ticks()
        self._follow_inventory(now)
        if self._watches_events:
            self._events.collect(now)
        for slot in self._slots.values():
            slot.start(now)
        host = self._host.read(now)
        readings = self._finish(now)
        listed, problems = self._list(readings, ticks)
        if self._process_worker.busy_since is not None:
            host = replace(host, missing=host.missing | {"processes": Missing.BLOCKED})
        return Sample(
            time_s=wall_s,
            interval_s=self.interval_s,
            driver=self._driver_info(),
            host=host,
            gpus=tuple(sorted([*map(self._with_xids, [one.gpu for one in readings]), *self._silent()], key=_index)),
            processes=listed.processes,
            relatives=listed.relatives,
            problems=(*self._refusals(), *problems),
            left_out=listed.left_out,
        )

    def _refusals(self) -> tuple[str, ...]:
        why = self._inventory.refusal if self._inventory else None
        return (f"the driver does not list its GPUs: {why.text}",) if why else ()

    def _check_selection(self) -> None:
        if self._inventory is None:
            return
        present = self._present()
        unknown = self._selection.unknown(present)
        if unknown and (not self._inventory.silent or all(name.isdecimal() for name in unknown)):
            is_index = all(name.isdecimal() for name in unknown)
            held = ", ".join(
                str(gpu.index) if is_index else f"{gpu.index} ({gpu.uuid}, {gpu.bus_id})" for gpu in present
            )
            raise ValueError(f"no such GPU: {excerpt(', '.join(unknown))}. Available: {held or 'none'}")

    def _present(self) -> list[Gpu]:
        """Return all GPUs that the driver lists."""
        held = self._inventory or Inventory(self._driver_info())
        named = [Gpu(index=index, uuid=who[0], name=who[1], bus_id=who[2]) for index, _, who in held.named]
        return named + [_unidentified(index, why) for index, why in held.silent.items()]

    # --- GPUs ----------------------------------------------------------------------------------------------------
    def _finish(self, now: float) -> list[DeviceReading]:
        deadline = self._clock() + self.limits.patience_s
        return [
            slot.finish(deadline - self._clock() if self._may_wait(slot, now) else 0, self._clock(), self.limits.hung_s)
            for slot in sorted(self._slots.values(), key=lambda slot: slot.reader.index)
        ]

    def _may_wait(self, slot: Slot, now: float) -> bool:
        """Return whether to wait for a GPU: only if its reading was just started. A late one is taken later."""
        return slot.worker.busy_since == now

    def _with_xids(self, gpu: Gpu) -> Gpu:
        xids = self._events.xids(gpu.uuid)
        return replace(gpu, xids=xids) if xids else gpu

    def _silent(self) -> tuple[Gpu, ...]:
        """Return the GPUs that do not report their UUID."""
        silent = self._inventory.silent if self._inventory else {}
        if not silent:
            return ()
        known = {slot.reader.index for slot in self._slots.values()}
        any_may_be = bool(self._selection.unknown(self._present()))  # the UUID of one of them may be selected
        return tuple(
            unread(_unidentified(index, why), why)
            for index, why in silent.items()
            if index not in known and (any_may_be or self._selection.wants_gpu(index, "", ""))
        )

    # --- processes -----------------------------------------------------------------------------------------------
    def _list(self, readings: list[DeviceReading], ticks: int) -> tuple[Listed, tuple[str, ...]]:
        """Return the processes; the previous list, marked as stale, while /proc does not answer.

        ``ticks``: the clock tick before the driver was asked.
        """
        worker, now = self._process_worker, self._clock()  # a slow GPU must not make the CPU seem busy
        if worker.busy_since is None:
            self._uses, self._ticks = _by_pid(readings), ticks
            worker.ask(now)
        listed = worker.take(self.limits.hung_s if worker.busy_since == now else 0)
        if listed is not None:
            self._listed = listed
            return listed, tuple(_blocked((*listed.processes, *listed.relatives)))
        late_s = duration_text(now - (worker.busy_since or now))
        return self._listed, (f"/proc has not answered for {late_s}: processes are shown as they were",)

    def _read_processes(self, now: float) -> Listed:
        listed = self._processes.read(self._uses, now, self._is_translated(), self._ticks)
        processes = self._selection.processes(listed)
        if renewed := self._processes.renewed():
            for slot in tuple(self._slots.values()):
                slot.reader.renewed |= renewed
        relatives = self._processes.relatives(processes, now)
        return Listed(processes, relatives, (*self._selection.undecided(listed), *self._processes.left_out))

    # --- the host: runs in the inventory worker ------------------------------------------------------------------
    def _discover(self, _: float) -> Inventory | NoDriverError:
        if not self._is_started:
            try:
                self.driver.start()
            except NoDriverError as error:
                return (
                    error if self._inventory is None else Inventory(self._inventory.driver, refusal=reason(error.code))
                )
        found = self._discovery.read()
        self._is_started = found.refusal is None  # a reloaded driver must be started again
        return found

    # --- the host: runs in the thread of read() ------------------------------------------------------------------
    def _follow_inventory(self, now: float) -> None:
        self._settle(self._inventory_worker.take(0))
        if now >= self._discovery_due:
            self._discovery_due = now + _COUNT_EVERY_S
            self._inventory_worker.ask(now)

    def _settle(self, found: Inventory | NoDriverError | None) -> None:
        if isinstance(found, NoDriverError):
            raise found
        if found is None:
            return
        if found.refusal and self._inventory:
            found = replace(
                found, gpus=self._inventory.gpus
            )  # a driver that does not answer does not mean that they exited
        self._inventory = found
        self._discovery_due = self._clock() + (_LOST_RETRY_S if found.silent or found.refusal else _COUNT_EVERY_S)
        present = {identity[0] for _, _, identity in found.named} | {
            slot.reader.uuid for slot in self._slots.values() if slot.reader.index in found.silent
        }
        for uuid in self._slots.keys() - present:
            del self._slots[uuid]
        for index, handle, identity in found.named:
            self._meet(index, handle, identity)

    def _meet(self, index: int, handle: Handle, identity: Identity) -> None:
        uuid, _, bus_id = identity
        if uuid in self._slots:
            self._slots[uuid].reader.index = index
        elif self._selection.wants_gpu(index, uuid, bus_id):
            self._slots[uuid] = Slot(DeviceReader(self.driver, handle, index, identity), self._wall)
            self._events.watch(uuid, handle)

    def _driver_info(self) -> DriverInfo:
        if self._inventory:
            return self._inventory.driver
        unknown: Reasons = dict.fromkeys(("version", "cuda_version", "nvml_version"), Missing.HUNG)
        return DriverInfo(simulated=self._simulated, missing=unknown)

    def _is_translated(self) -> bool:
        """Return whether the driver reports pids of our PID namespace: it does since 535.113.01."""
        version = self._driver_info().version
        return version is None or _numbers(version) >= (535, 113, 1)


def _unidentified(index: int, why: Missing) -> Gpu:
    """Return a GPU of which only its bus address is known."""
    missing = dict.fromkeys(("uuid", "name", "bus_id"), why)
    state = GpuState.HUNG if why is Missing.HUNG else GpuState.LOST
    return Gpu(index=index, uuid=f"unknown-{index}", name="", bus_id="", state=state, missing=missing)


def _index(gpu: Gpu) -> int:
    return gpu.index


def _blocked(processes: Sequence[HostProcess]) -> Iterator[str]:
    """Return a sentence about the processes that block their readers, if there are any."""
    lacking = [one for one in processes if one.missing or one.owner.missing]
    pids = [
        one.pid
        for one in lacking
        if Missing.BLOCKED in one.missing.values() or Missing.BLOCKED in one.owner.missing.values()
    ]
    if pids:
        lines, of = ("command line", "process") if len(pids) == 1 else ("command lines", "processes")
        yield f"cannot read the {lines} of {of} {pids_text(pids)}: {Missing.BLOCKED.text}"
    unread = sum(one.missing.get("command") is Missing.NOT_YET and one.user is not None for one in lacking)
    if unread:
        yield f"the command lines of {unread} other processes are not read: too many block, or no thread can be started"


def _by_pid(readings: list[DeviceReading]) -> dict[int, tuple[GpuProcess, ...]]:
    """Return all uses of each process."""
    uses: dict[int, tuple[GpuProcess, ...]] = {}
    for reading in readings:
        for pid, held in reading.uses.items():
            uses[pid] = uses[pid] + held if pid in uses else held
    return uses


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split(".") if part.isdecimal())
