"""The reader of a process's owner: its cgroup, and its environment if that is readable."""

from collections.abc import Sequence
from functools import lru_cache
from typing import Final

from msgspec.structs import replace

from gputop.core.model.metric import Missing
from gputop.core.model.owner import Owner
from gputop.core.processes.attribution import Evidence, attribute
from gputop.core.processes.cgroup import Cgroup, parse_cgroup
from gputop.core.processes.environ import parse_environ
from gputop.core.text.text import decode
from gputop.machine.proc.procfs import Proc, read_memory, reason
from gputop.machine.proc.stat import parse_lengths, parse_terminal
from gputop.machine.processes.containers import Names

_MOST_REMEMBERED: Final = 4096  # cgroups: the processes of a container share one


class OwnerReader:
    """Reads owners. ``names``: of containers and pods; None to leave names out."""

    def __init__(self, proc: Proc, names: Names | None = None) -> None:
        self._proc = proc
        self._names = names

    def read(self, pid: int, stat: bytes, name: bytes, arguments: Sequence[str]) -> Owner:
        """Return the owner. Never raises. ``stat``: the process's stat line; ``name``: the process's name."""
        owner = attribute(
            Evidence(
                cgroup=self._cgroup(pid),
                variables=self._variables(pid, stat),
                arguments=arguments,
                name=decode(name),
                terminal=parse_terminal(stat),
            )
        )
        return self._named(owner) if self._names else owner

    def _cgroup(self, pid: int) -> Cgroup | Missing:
        try:
            raw = self._proc.read(f"{pid}/cgroup")
        except OSError as error:
            return reason(error)
        return _parsed(raw)

    def _variables(self, pid: int, stat: bytes) -> dict[str, str] | Missing:
        _, length = parse_lengths(stat)
        try:
            return parse_environ(read_memory(self._proc, f"{pid}/environ", length))
        except OSError as error:
            return reason(error)

    def _named(self, owner: Owner) -> Owner:
        """Add the names that the process itself does not contain."""
        names, container, pod = self._names, owner.container, owner.pod
        if names is None or container is None or container.id is None:
            return owner
        name = names.container(container.runtime, container.id)
        if name and not container.name:
            owner = replace(owner, container=replace(container, name=name))
        place = names.pod(pod.uid, container.id) if pod else None
        if pod and place:
            owner = replace(owner, pod=replace(pod, name=place.name, namespace=place.namespace))
        return owner


@lru_cache(_MOST_REMEMBERED)
def _parsed(raw: bytes) -> Cgroup:
    lines = raw.split(b"\n")  # before cleaning, which makes newlines visible
    return parse_cgroup("\n".join(decode(line) for line in lines))
