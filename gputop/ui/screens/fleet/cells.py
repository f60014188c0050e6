"""GPUs and hosts of the fleet in one coloured character each."""

from collections.abc import Sequence
from typing import Final

from gputop.core.fleet.cells import cell
from gputop.core.fleet.model import FleetGpu, FleetHost
from gputop.ui.panels.values import utilization_ink
from gputop.ui.render.line import Span

USE_INKS: Final = {"free": "free", "idle": "warm", "lost": "hot", "unknown": "muted"}


def gpu_cell(gpu: FleetGpu) -> Span:
    """Return a GPU in one character."""
    return cell(gpu), USE_INKS.get(gpu.use) or utilization_ink(gpu.utilization_percent)


def host_cell(host: FleetHost) -> Span:
    """Return a host in one character: a bar of its mean utilization, or the sign of what all of its GPUs are."""
    if host.problem or not host.gpus:
        return "!", "hot"
    if host.count("lost"):
        return "x", "hot"
    uses = {gpu.use for gpu in host.gpus}
    if len(uses) == 1 and "busy" not in uses:
        return gpu_cell(host.gpus[0])
    load = host.utilization_percent
    return gpu_cell(FleetGpu(index="", utilization_percent=load, use="unknown" if load is None else "busy"))


def merged(spans: Sequence[Span]) -> list[Span]:
    """Join neighbours of one ink."""
    found: list[Span] = []
    for text, ink in spans:
        if found and found[-1][1] == ink:
            found[-1] = (found[-1][0] + text, ink)
        else:
            found.append((text, ink))
    return found
