"""THE FIELD VALUES: a row per field id that the simulated driver knows."""

from collections.abc import Callable
from typing import Final

from gputop.machine.nvml import codes
from gputop.simulator.curve import Curve
from gputop.simulator.gpu import SimulatedGpu

Value = int | float | None  # None: not supported by this board

ALL_LINKS: Final = 0xFFFFFFFF
MODULE: Final = 1
_POWER_FIELDS: Final = (185, 186)
_RAW_OVERHEAD: Final = 1.08
_REMAPPED_ID: Final = 142  # the first of four: remapped rows correctable, uncorrectable, pending, failed


def read_field(gpu: SimulatedGpu, field: int, scope: int, time_s: float) -> tuple[int, int | float]:
    """Return the return code and the value."""
    if field in gpu.board.fields or (field in _POWER_FIELDS and scope == MODULE):
        return codes.NOT_SUPPORTED, 0
    if field in _LINK_FIELDS:
        return _link_field(gpu, _LINK_FIELDS[field](gpu), scope, time_s)
    row = _FIELDS.get(field)
    value = row(gpu, time_s) if row else None
    return (codes.NOT_SUPPORTED, 0) if value is None else (0, value)


def _link_field(gpu: SimulatedGpu, rate: Curve, scope: int, time_s: float) -> tuple[int, int | float]:
    links = gpu.board.nvlinks
    if not links:
        return codes.NOT_SUPPORTED, 0
    if scope == ALL_LINKS:
        return 0, int(rate.integral(time_s) / 1024)
    return (0, int(rate.integral(time_s) / 1024 / links)) if scope < links else (codes.INVALID_ARGUMENT, 0)


def _nanoseconds(curve: Curve, time_s: float) -> int:
    return int(curve.integral(time_s) * 1e9)


def _if_ecc(gpu: SimulatedGpu, error: int, counter: int) -> Value:
    return gpu.plan.health.ecc.get((error, counter), 0) if gpu.board.has_ecc else None


def _remapped(n: int) -> Callable[[SimulatedGpu, float], Value]:
    return lambda gpu, _: gpu.plan.health.remapped[n] if gpu.board.has_ecc else None


_LINK_FIELDS: Final[dict[int, Callable[[SimulatedGpu], Curve]]] = {  # KiB, per link or over all of them
    138: lambda gpu: gpu.activity.nvlink_tx,
    139: lambda gpu: gpu.activity.nvlink_rx,
    140: lambda gpu: gpu.activity.nvlink_tx * _RAW_OVERHEAD,
    141: lambda gpu: gpu.activity.nvlink_rx * _RAW_OVERHEAD,
}
_FIELDS: Final[dict[int, Callable[[SimulatedGpu, float], Value]]] = {
    3: lambda gpu, _: _if_ecc(gpu, 0, 0),
    4: lambda gpu, _: _if_ecc(gpu, 1, 0),
    5: lambda gpu, _: _if_ecc(gpu, 0, 1),
    6: lambda gpu, _: _if_ecc(gpu, 1, 1),
    74: lambda gpu, t: _nanoseconds(gpu.capped, t),
    75: lambda gpu, t: _nanoseconds(gpu.overheated, t),
    76: lambda _, __: 0,
    82: lambda gpu, t: gpu.memory_c(t) if gpu.board.has_memory_sensor else None,
    83: lambda gpu, t: int(gpu.power.integral(t) * 1000),
    91: lambda gpu, _: gpu.board.nvlinks or None,
    94: lambda gpu, _: gpu.plan.health.pcie_replays,
    161: lambda gpu, _: gpu.plan.health.nvlink_replays if gpu.board.nvlinks else None,
    162: lambda gpu, _: 0 if gpu.board.nvlinks else None,
    163: lambda gpu, _: 0 if gpu.board.nvlinks else None,
    **{id_: lambda _, __: 0 for id_ in range(173, 184)},  # PCIe errors
    185: lambda gpu, t: round(gpu.power_w(t) * 1000),
    186: lambda gpu, t: round(gpu.power.at(t) * 1000),
    189: lambda gpu, _: round(gpu.board.default_w * 1000),
    190: lambda gpu, _: round(gpu.limit_w * 1000),
    197: lambda gpu, t: int(gpu.activity.pcie_tx.integral(t)),
    198: lambda gpu, t: int(gpu.activity.pcie_rx.integral(t)),
    230: lambda gpu, _: gpu.plan.health.recovery_action,
    269: lambda gpu, t: _nanoseconds(gpu.overheated, t),
    270: lambda _, __: 0,
    271: lambda _, __: 0,
    **{_REMAPPED_ID + n: _remapped(n) for n in range(4)},
}
