"""Sockets and memory of the processes of a simulated box, from its plan."""

from typing import Final

from gputop.core.inspection.inspection import MemoryShares, Socket
from gputop.core.model.metric import Missing
from gputop.machine.inspect.costly import CostlyParts
from gputop.simulator.clock import BoxClock
from gputop.simulator.plan import BoxPlan, ProcessPlan

_OWN: Final = 0.93  # of the resident memory: the rest is libraries that other processes share
_SHARED_BY: Final = 4
_ADDRESS: Final = "10.0.0.7"


class SimulatedCostly:
    """Replaces `machine.inspect.costly.CostlyReader`."""

    def __init__(self, plan: BoxPlan, clock: BoxClock) -> None:
        self._plan = plan
        self._clock = clock

    def read(self, pid: int, start_ticks: int) -> CostlyParts:  # noqa: ARG002 - a plan has no pid twice
        """Return the parts; only root and the owner may read them."""
        process = next((one for one in self._plan.processes if one.pid == pid), None)
        if process is None or self._plan.viewer not in {0, process.uid}:
            return CostlyParts(missing=dict.fromkeys(("sockets", "shares"), Missing.FORBIDDEN))
        resident = round(process.memory.at(self._clock.now()))
        own = round(resident * _OWN)
        shares = MemoryShares(uss_bytes=own, pss_bytes=own + (resident - own) // _SHARED_BY, swap_bytes=0)
        return CostlyParts(sockets=_sockets(process), shares=shares)


def _sockets(process: ProcessPlan) -> tuple[Socket, ...]:
    """Return the port of a server, or the connections of a rank to the others."""
    ports = [after for before, after in zip(process.command, process.command[1:], strict=False) if before == "--port"]
    ports += [word.removeprefix("--port=") for word in process.command if word.startswith("--port=")]
    served = [Socket(protocol="tcp", local=f"0.0.0.0:{port}", remote="", state="listen") for port in ports]
    meets = process.environ.get("MASTER_PORT")
    if meets:
        own = f"{_ADDRESS}:{40_000 + process.pid % 20_000}"
        served.append(Socket(protocol="tcp", local=own, remote=f"{_ADDRESS}:{meets}", state="established"))
    return tuple(served)
