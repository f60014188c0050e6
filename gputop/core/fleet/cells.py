"""GPUs of a host as a row of cells: one character each."""

from typing import Final

from gputop.core.fleet.model import FleetGpu, FleetHost

_BARS: Final = "▁▂▃▄▅▆▇█"
_SIGNS: Final = {"free": "·", "idle": "o", "lost": "x", "unknown": "?"}
LEGEND: Final = "▁ to █ busy · o idle, memory held · · free · x lost · ? unknown"


def cells(host: FleetHost) -> str:
    """Return the cells of all GPUs of a host."""
    return "".join(map(cell, host.gpus))


def cell(gpu: FleetGpu) -> str:
    """Return the cell of a GPU: a bar of its utilization while it is busy, else a sign for its use."""
    if gpu.use != "busy" or gpu.utilization_percent is None:
        return _SIGNS.get(gpu.use, "?")
    return _BARS[min(len(_BARS) - 1, int(gpu.utilization_percent * len(_BARS) / 100))]
