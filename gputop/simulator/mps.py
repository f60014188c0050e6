"""The MPS daemon of a simulated box: it answers the commands of nvidia-cuda-mps-control."""

from collections.abc import Iterator
from typing import Final

from gputop.machine.mps.daemon import MpsDaemon, MpsError
from gputop.simulator.plan import BoxPlan, ProcessPlan
from gputop.simulator.proc import SimulatedProc

_SERVER: Final = "nvidia-cuda-mps"
_CLIENT: Final = "M"
_HEADING: Final = "PID ID SERVER DEVICE NAMESPACE COMMAND"


class SimulatedMps:
    """One server with all clients of the box."""

    def __init__(self, plan: BoxPlan, proc: SimulatedProc) -> None:
        self._proc = proc
        self._server = next((each.pid for each in plan.processes if each.name.startswith(_SERVER)), None)
        self._clients = {each.pid: each for each in plan.processes if any(use.type == _CLIENT for use in each.uses)}

    def daemon(self) -> MpsDaemon | None:
        """Return the daemon; None without one."""
        return None if self._server is None else MpsDaemon(self._ask, self._proc)

    def _ask(self, command: str) -> str:
        match command.split():
            case ["get_server_list"]:
                return f"{self._server}\n"
            case ["get_server_status", _]:
                return "ACTIVE\n"
            case ["get_client_list", _]:
                return "".join(f"{client.pid}\n" for client in self._living())
            case ["ps"]:
                return "\n".join([_HEADING, *map(self._line, self._living())])
            case ["terminate_client", _, client]:
                self._clients.pop(int(client), None)
                return ""
        raise MpsError(f"Unknown command {command}")

    def _living(self) -> Iterator[ProcessPlan]:
        return (client for client in self._clients.values() if self._proc.process(client.pid) is not None)

    def _line(self, client: ProcessPlan) -> str:
        return f"{client.pid} 0 {self._server} GPU-{client.uses[0].gpu:08x} 4026531836 {' '.join(client.command)}"
