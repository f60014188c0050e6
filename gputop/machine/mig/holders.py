"""The processes that have a GPU's device file open, listed by the driver or not, and how to end each."""

from collections.abc import Callable
from typing import Final

from gputop.core.mig.model import Holders, User
from gputop.core.model.owner import Owner
from gputop.core.model.sample import HostProcess
from gputop.core.processes.ending import end_command
from gputop.core.processes.owner_command import owner_command, service_command
from gputop.machine.proc.procfs import Proc
from gputop.machine.proc.root import Files
from gputop.machine.proc.stat import parse_inner_pid, parse_uid
from gputop.machine.processes.identity import ProcessNames

_SERVICES: Final = {  # by the beginning of the process's name, which the kernel cuts to 15 signs
    "nv-hostengine": "sudo systemctl stop nvidia-dcgm",
    "dcgm-exporter": "sudo systemctl stop dcgm-exporter (or delete its pod)",
    "nvidia-cuda-mps": "echo quit | nvidia-cuda-mps-control",
    "nvsm": "sudo systemctl stop nvsm",
    "Xorg": "sudo systemctl isolate multi-user.target",
    "Xwayland": "sudo systemctl isolate multi-user.target",
    "gnome-shell": "sudo systemctl isolate multi-user.target",
    "nvidia-device-p": "kubectl: delete the device plugin's pod, or drain the node",
    "kubelet": "sudo systemctl stop kubelet",
    "slurmd": "scontrol update nodename=$(hostname) state=drain reason=mig",
}
_COOPERATE: Final = ("nvidia-persiste", "nv-fabricmanage")  # they let go when the driver asks


class HolderReader:
    """Searches /proc. ``owner``: returns the owner of a process, for the way to end it."""

    def __init__(self, proc: Proc, users: Callable[[int], str | None], owner: Callable[[int], Owner], own: int) -> None:
        self._proc = proc
        self._files = Files(proc)
        self._process_names = ProcessNames(proc, users)
        self._owner = owner
        self._own = own

    def named(self, pid: int) -> User:
        """Return a process with its user, its command, and how to end it."""
        name = self._name(pid)
        if not name:
            return User(pid=pid, command="not visible from here")
        return User(
            pid=pid,
            user=self._process_names.user(pid),
            command=self._process_names.command(pid, name.encode()),
            how=self._how(pid, name),
        )

    def of_gpu(self, minor: int) -> Holders:
        """Return the processes that have a GPU's device file open, except gputop and those that close it on request."""
        wanted = {f"/dev/nvidia{minor}"}
        found, unseen = [], 0
        for entry in self._proc.list("."):
            if not entry.isdecimal() or int(entry) == self._own:
                continue
            try:
                links = {
                    self._files.target(f"{entry}/fd/{descriptor}") for descriptor in self._proc.list(f"{entry}/fd")
                }
            except PermissionError:
                unseen += 1
                continue
            except OSError:
                continue
            if links & wanted and not self._name(int(entry)).startswith(_COOPERATE):
                found.append(self.named(int(entry)))
        return Holders(tuple(found), unseen)

    def _name(self, pid: int) -> str:
        return self._files.text(f"{pid}/comm") or ""

    def _how(self, pid: int, name: str) -> str:
        """Return the command that ends a process, to be copied.

        Any process can take the name of a service; it is believed of root outside of containers alone.
        """
        owner, status = self._owner(pid), self._files.raw(f"{pid}/status")
        if parse_uid(status) == 0 and owner.container is None:
            service = next((way for begin, way in _SERVICES.items() if name.startswith(begin)), "")
            if service:
                return service
        command = owner_command(owner) or service_command(owner)
        if command:
            return f"{command.text} ({command.ends})"
        return end_command(HostProcess(pid=pid, inner_pid=parse_inner_pid(status, pid)))
