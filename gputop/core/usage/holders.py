"""The holders of GPUs, as other systems know them: jobs of a cluster, and containers of Kubernetes."""

from collections.abc import Iterable, Mapping
from typing import Final

from msgspec import Struct

_REPLICAS: Final = ("/vgpu", "::")  # of the device plugin of GKE, and of NVIDIA's


class Container(Struct, frozen=True):
    """A container of a pod. ``replica``: of a GPU that several containers share; empty if it has the GPU alone."""

    pod: str
    namespace: str
    name: str
    replica: str = ""


class Holders(Struct, frozen=True):
    """The holders at one time. ``unread``: in a word, why a source could not be read.

    ``hpc_jobs``: job ids by GPU (0) or GPU instance (0.7). ``containers``: by UUID of a GPU or MIG device, or by the
    name of a GPU (nvidia0) or GPU instance (nvidia0/gi7).
    """

    hpc_jobs: Mapping[str, tuple[str, ...]] = {}
    containers: Mapping[str, tuple[Container, ...]] = {}
    unread: Mapping[str, str] = {}


def containers_by_device(
    allocated: Iterable[tuple[Container, str]], *, is_sharing: bool
) -> Mapping[str, tuple[Container, ...]]:
    """Return the containers of each device. ``allocated``: containers with the ids of their devices.

    Without ``is_sharing``, each device has the last of its containers alone, as in dcgm-exporter.
    """
    found: dict[str, tuple[Container, ...]] = {}
    for container, id_ in allocated:
        device, replica = _parts(id_)
        if is_sharing:
            one = Container(container.pod, container.namespace, container.name, replica)
            found[device] = tuple(dict.fromkeys((*found.get(device, ()), one)))
        else:
            found[device] = (container,)
    return found


def _parts(id_: str) -> tuple[str, str]:
    """Return the device and the replica of an id: ``GPU-1::3`` is the replica 3 of ``GPU-1``."""
    for separator in _REPLICAS:
        device, found, replica = id_.partition(separator)
        if found:
            return device, replica
    return id_, ""
