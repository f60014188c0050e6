"""GPM of the simulated driver: means of the load between two samples."""

from collections.abc import Sequence
from typing import Final

from gputop.machine.nvml import codes
from gputop.machine.nvml.codes import NVMLError
from gputop.simulator.curve import Curve
from gputop.simulator.load import IDLE, Activity

_PERCENTS: Final = {
    1: "gpu", 2: "sm", 3: "occupancy", 5: "tensor", 7: "tensor", 10: "dram", 11: "fp64", 12: "fp32", 13: "fp16",
}  # fmt: skip
_MIB_PER_S: Final = {20: "pcie_tx", 21: "pcie_rx", 60: "nvlink_rx", 61: "nvlink_tx"}


class GpmSample:
    """An instant, and the device of the sample: ``uuid`` of a GPU or MIG device."""

    def __init__(self) -> None:
        self.uuid = ""
        self.activity = IDLE
        self.time_s = 0.0

    def take(self, uuid: str, activity: Activity, time_s: float) -> None:
        """Fill the sample."""
        self.uuid = uuid
        self.activity = activity
        self.time_s = time_s


def metrics_between(older: GpmSample, newer: GpmSample, ids: Sequence[int]) -> list[tuple[int, float]]:
    """Return (return code, value) for each metric."""
    if not newer.uuid or older.uuid != newer.uuid:
        raise NVMLError(codes.INVALID_ARGUMENT)  # two samples of one device are needed
    return [_metric(newer.activity, metric_id, older.time_s, newer.time_s) for metric_id in ids]


def _metric(activity: Activity, metric_id: int, start_s: float, end_s: float) -> tuple[int, float]:
    if metric_id in _PERCENTS:
        curve: Curve = getattr(activity, _PERCENTS[metric_id])
        return 0, min(100.0, max(0.0, curve.mean(start_s, end_s)))
    if metric_id in _MIB_PER_S:
        curve = getattr(activity, _MIB_PER_S[metric_id])
        return 0, max(0.0, curve.mean(start_s, end_s)) / 1024**2
    return codes.NOT_SUPPORTED, 0.0
