"""A simulated GPU and its MIG devices: the readings of their sensors at an instant, all derived from the load."""

from collections.abc import Callable, Iterable
from zlib import crc32

from gputop.simulator.clock import BoxClock
from gputop.simulator.curve import Curve
from gputop.simulator.load import Activity, together
from gputop.simulator.mig import PROFILES, Profile, compute_slices
from gputop.simulator.partition import Partition
from gputop.simulator.plan import GpuPlan, InstancePlan, ProcessPlan, Use

MIB = 1024**2
_DRIVER_BYTES = 14 * MIB  # allocated, but not by any process
_PAGE = 2 * MIB
_CHIP_LAG_S, _MEMORY_LAG_S = 21.0, 48.0
_POWER_WINDOW_S = 1.0
_SM_CLOCK_STEP = 15
_AMPERE = 7


class SimulatedGpu:
    """One GPU. Methods take seconds since the boot of the box."""

    def __init__(self, plan: GpuPlan, index: int, processes: Iterable[ProcessPlan], box: str, clock: BoxClock) -> None:
        self.plan = plan
        self.board = plan.board
        self.index = index
        self.clock = clock
        self.uuid = "GPU-" + _uuid(f"{box} {index}")
        self.bus_id = f"00000000:{plan.bus:02X}:00.0"
        self.limit_w = plan.limit_w or plan.board.default_w
        self.uses = [(p, use) for p in processes for use in p.uses if use.gpu == index]
        self.past: list[Use] = []  # of processes that have exited: their past work stays in the counters
        self._busy_w = self.limit_w - plan.board.idle_w - (plan.board.context_w if self.has_context else 0.0)
        self._context = Curve(plan.board.context_w if self.has_context else 0.0)
        self._box = box
        self.partition = Partition(
            self,
            PROFILES.get(plan.board.name, {}) if plan.board.mig_devices else {},
            plan.instances,
            needs_reset=plan.board.architecture <= _AMPERE,
            is_busy=self._is_busy,
        )
        self.follow()
        self._shares = {use.gpu_instance: self._share(use) for _, use in self.uses}
        self._load()
        self._capped_share = 0.45 if self.power.level > 0.9 * self.limit_w else 0.0
        self._hot_share = 0.6 if self._chip_c(self.power.level) >= plan.board.thresholds_c[3] else 0.0

    @property
    def capped(self) -> Curve:
        """Return the share of time in which the power limit reduces the clocks."""
        return self.activity.power * self._capped_share

    @property
    def overheated(self) -> Curve:
        """Return the share of time in which heat reduces the clocks."""
        return self.activity.power * self._hot_share

    def change(self, pid: int, follow: Callable[[Use], Use], *, has_ended: bool) -> None:
        """Change the work of a process from now on; a process that has exited leaves only its past work."""
        changed = [(process, follow(use) if process.pid == pid else use) for process, use in self.uses]
        if has_ended:
            self.past += [use for process, use in changed if process.pid == pid]
            changed = [(process, use) for process, use in changed if process.pid != pid]
        had_context, self.uses = self.has_context, changed
        if had_context and not self.has_context:
            self._context = self._context.until(self.clock.now())
        self._load()
        for device in self.mig_devices.values():
            device.load()

    @property
    def is_split(self) -> bool:
        """Return whether MIG is enabled."""
        return self.partition.is_on

    def follow(self) -> None:
        """Rebuild the MIG devices after a change of the partition."""
        self.mig_devices = {plan.slot: MigDevice(self, plan, self._box) for plan in self.partition.plans()}

    @property
    def has_context(self) -> bool:
        """Return whether a CUDA context keeps the GPU awake."""
        return any("C" in use.type for _, use in self.uses)

    def memory_used(self, time_s: float) -> int:
        """Return the allocated bytes."""
        unowned = round(self.plan.unowned.at(time_s))
        return _DRIVER_BYTES + unowned + sum(used_bytes(use, time_s) for _, use in self.uses)

    def power_w(self, time_s: float) -> float:
        """Return the power draw of the last second."""
        return self.power.mean(time_s - _POWER_WINDOW_S, time_s)

    def chip_c(self, time_s: float) -> int:
        """Return the temperature of the chip."""
        return round(self._chip_c(self.power.lagged(time_s, _CHIP_LAG_S)))

    def memory_c(self, time_s: float) -> int:
        """Return the temperature of the memory: it follows the chip's, and is a little higher under load."""
        return round(self._chip_c(self.power.lagged(time_s, _MEMORY_LAG_S) * 1.12))

    def fan(self, time_s: float) -> int:
        """Return the fan speed in percent: 0 below 45 °C, then up to 100 at 90 °C."""
        warm = self.chip_c(time_s) - 45
        return 0 if warm < 0 else min(100, 30 + round(warm * 1.55))

    def sm_clock(self, time_s: float) -> int:
        """Return the SM clock in MHz: full with a context, lower at the power or heat limit."""
        board = self.board
        if not self.has_context and self.activity.gpu.mean(time_s - 1, time_s) < 5:
            return board.idle_mhz
        strain = max(0.0, self.power_w(time_s) / self.limit_w - 0.82) / 0.18
        cool = 0.88 if self.reasons(time_s) & 0x20 else 0.985
        return round(board.sm_mhz * cool * (1 - 0.2 * strain) / _SM_CLOCK_STEP) * _SM_CLOCK_STEP

    def reasons(self, time_s: float) -> int:
        """Return the clocks event reasons, a bit mask."""
        idle = 0x1 if self.activity.gpu.mean(time_s - 1, time_s) < 0.5 else 0
        power_cap = 0x4 if self.power_w(time_s) > 0.94 * self.limit_w else 0
        too_hot = self._hot_share > 0 and self.chip_c(time_s) >= self.board.thresholds_c[3] - 1
        return idle | power_cap | (0x20 if too_hot else 0)

    def performance_state(self, time_s: float) -> int:
        """Return the P-state: P2 with a CUDA context on a consumer board, where P0 is only for games."""
        if not self.board.is_consumer:
            return 0
        if self.has_context:
            return 2
        return 0 if self.activity.gpu.mean(time_s - 1, time_s) > 20 else 8

    def _is_busy(self, gpu_instance: int | None, compute_instance: int | None) -> bool:
        return any(
            (gpu_instance is None or use.gpu_instance == gpu_instance)
            and (compute_instance is None or (use.compute_instance or 0) == compute_instance)
            for _, use in self.uses
        )

    def _load(self) -> None:
        """Derive the load and the power draw from the processes' work, past and present."""
        done = [use for _, use in self.uses] + self.past
        self.activity = together(Activity(), *(use.activity.scaled(self._shares[use.gpu_instance]) for use in done))
        self.power = Curve(self.board.idle_w) + self._context + self.activity.power * self._busy_w

    def _chip_c(self, power_w: float) -> float:
        return self.board.inlet_c + self.plan.warmer_c + self.board.heating * power_w

    def _share(self, use: Use) -> float:
        """Return the part of the GPU that a use is relative to: its GPU instance's, or all."""
        if not self.plan.instances:
            return 1.0
        instance = next(d for d in self.mig_devices.values() if d.plan.gpu_instance == use.gpu_instance)
        return instance.profile.multiprocessors / self.board.multiprocessors


class MigDevice:
    """A MIG device: a compute instance inside a GPU instance, whose memory it shares."""

    def __init__(self, gpu: SimulatedGpu, plan: InstancePlan, box: str) -> None:
        self.gpu = gpu
        self.plan = plan
        self.profile: Profile = PROFILES[gpu.board.name][plan.profile]
        self.uuid = "MIG-" + _uuid(f"{box} {gpu.index} {plan.gpu_instance} {plan.compute_instance}")
        self.name = f"{gpu.board.name} MIG {plan.compute_profile or plan.profile}"
        self.slices = compute_slices(plan.compute_profile, self.profile)
        self.multiprocessors = self.profile.multiprocessors * self.slices // self.profile.slices
        self.load()

    def load(self) -> None:
        """Derive the load from the work of its processes, past and present."""
        gpu, plan = self.gpu, self.plan
        self._of_instance = [use for _, use in gpu.uses if use.gpu_instance == plan.gpu_instance]
        past = [use for use in gpu.past if use.gpu_instance == plan.gpu_instance]
        self.uses = [
            (p, use)
            for p, use in gpu.uses
            if use.gpu_instance == plan.gpu_instance and (use.compute_instance or 0) == plan.compute_instance
        ]
        self.activity = together(Activity(), *(use.activity for use in (*self._of_instance, *past)))

    def memory_used(self, time_s: float) -> int:
        """Return the allocated bytes of the GPU instance."""
        return _DRIVER_BYTES + sum(used_bytes(use, time_s) for use in self._of_instance)


def used_bytes(use: Use, time_s: float) -> int:
    """Return the memory of a process on a GPU; the driver allocates it in pages of 2 MiB."""
    return max(1, round(use.memory.at(time_s) / _PAGE)) * _PAGE


def percent(curve: Curve, time_s: float, window_s: float = 1.0) -> int:
    """Return the mean of the last second, rounded to the driver's whole percent."""
    return min(100, max(0, round(curve.mean(time_s - window_s, time_s))))


def _uuid(seed: str) -> str:
    digits = "".join(f"{crc32(f'{seed} {n}'.encode()):08x}" for n in range(4))
    return f"{digits[:8]}-{digits[8:12]}-{digits[12:16]}-{digits[16:20]}-{digits[20:]}"
