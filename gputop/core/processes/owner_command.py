"""The command that ends a Slurm step, a pod or a container, to be copied by an administrator.

It contains nothing that a process says of itself. Its parts come from a trusted cgroup or from the kubelet, they fit
their grammar, they are quoted, and names come after ``--``.
"""

import re
from shlex import quote
from typing import Final

from msgspec import Struct

from gputop.core.model.owner import Container, Owner, Pod, SlurmStep

_SLURM: Final = re.compile(r"[0-9]{1,10}(\.[0-9]{1,10})?")
_LABEL: Final = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?")  # DNS, as Kubernetes names namespaces
_POD: Final = re.compile(r"[a-z0-9]([-.a-z0-9]{0,251}[a-z0-9])?")
_CONTAINER: Final = re.compile(r"[a-zA-Z0-9][a-zA-Z0-9_.-]{0,127}")
_UNIT: Final = re.compile(r"[a-zA-Z0-9][a-zA-Z0-9:_.@\\-]{0,246}\.service")
_RUNTIMES: Final = frozenset({"docker", "podman"})


class OwnerCommand(Struct, frozen=True):
    """A command. ``ends``: all that it ends: ``the whole container``."""

    text: str
    ends: str


def owner_command(owner: Owner) -> OwnerCommand | None:
    """Return the command of a Slurm step, a pod or a container; None without one that is safe to copy."""
    slurm, pod, container = owner.slurm, owner.pod, owner.container
    if slurm and "slurm" in owner.trusted:
        return _of_slurm(slurm)
    if pod and "pod" in owner.trusted:
        return _of_pod(pod)
    return _of_container(container) if container and "container" in owner.trusted else None


def service_command(owner: Owner) -> OwnerCommand | None:
    """Return the command that stops the systemd service of a process; None if it is in none."""
    unit = owner.unit or ""
    if "unit" not in owner.trusted or not _UNIT.fullmatch(unit) or unit.startswith("user@"):
        return None
    return OwnerCommand(f"sudo systemctl stop -- {quote(unit)}", "the whole service")


def _of_slurm(slurm: SlurmStep) -> OwnerCommand | None:
    if slurm.sluid:  # with a SLUID, only the environment has the number
        return None
    text = slurm.text if _SLURM.fullmatch(slurm.text) else slurm.job or ""  # of a batch step, all of the job
    if not _SLURM.fullmatch(text):
        return None
    return OwnerCommand(f"scancel {quote(text)}", "the whole Slurm step" if "." in text else "the whole Slurm job")


def _of_pod(pod: Pod) -> OwnerCommand | None:
    namespace, name = pod.namespace or "", pod.name or ""  # without a namespace, only the environment has the name
    if not _LABEL.fullmatch(namespace) or not _POD.fullmatch(name):
        return None
    return OwnerCommand(f"kubectl delete pod -n {quote(namespace)} -- {quote(name)}", "the whole pod")


def _of_container(container: Container) -> OwnerCommand | None:
    if container.runtime not in _RUNTIMES or not _CONTAINER.fullmatch(container.text):
        return None
    return OwnerCommand(f"{container.runtime} stop -- {quote(container.text)}", "the whole container")
