"""The sources of holders: the job mapping of a cluster, and the kubelet."""

from collections.abc import Mapping
from importlib.util import find_spec
from typing import Generic, TypeVar

from msgspec import Struct

from gputop.app.errors import BadRequestError
from gputop.app.exporting.hpc_jobs import EVERY_S, Jobs, jobs_in, why_not
from gputop.app.exporting.polled import Polled
from gputop.core.text.text import excerpt
from gputop.core.usage.holders import Container, Holders, containers_by_device
from gputop.machine.files.walk import danger
from gputop.machine.kubernetes.pod_resources import UnreadError, allocated

_KUBELET_S = 5.0
_LATE = "hung"

V = TypeVar("V")
Containers = Mapping[str, tuple[Container, ...]]


class Kubelet(Struct, frozen=True):
    """The kubelet's socket. ``is_sharing``: a GPU can have several containers, which each repeat its series."""

    socket: str
    is_sharing: bool = False


class _Found(Struct, Generic[V], frozen=True):
    """What a source said; ``why``: in a word, why it could not be read."""

    holders: V
    why: str = ""


class HolderSources:
    """The sources that the user wants. ``jobs``: a folder. Raises BadRequestError."""

    def __init__(self, jobs: str | None, kubelet: Kubelet | None) -> None:
        self._jobs: Polled[_Found[Jobs]] | None = None
        self._containers: Polled[_Found[Containers]] | None = None
        if jobs:
            _check_jobs(jobs)
            self._jobs = Polled(lambda: _jobs(jobs), _Found({}, _LATE), EVERY_S)
        if kubelet:
            _check_kubelet(kubelet.socket)
            self._containers = Polled(lambda: _containers(kubelet), _Found({}, _LATE), _KUBELET_S)

    def latest(self) -> Holders:
        """Return the holders, and begin to read them again. This hardly waits."""
        jobs = self._jobs.latest() if self._jobs else None
        containers = self._containers.latest() if self._containers else None
        unread = {"hpc_jobs": jobs.why if jobs else "", "kubernetes": containers.why if containers else ""}
        return Holders(
            jobs.holders if jobs else {},
            containers.holders if containers else {},
            {source: why for source, why in unread.items() if why},
        )


def _check_jobs(folder: str) -> None:
    why = why_not(folder)
    if why:
        raise BadRequestError(f"cannot read jobs from {excerpt(folder)}: {why}")


def _check_kubelet(socket: str) -> None:
    """Refuse what will never work; the kubelet itself may start later."""
    if not find_spec("grpc"):
        raise BadRequestError("--kubernetes needs the package grpcio: pip install 'gputop-tui[kubernetes]'")
    why = danger(socket)
    if why:
        raise BadRequestError(f"cannot use {excerpt(socket)}: {why}")


def _jobs(folder: str) -> _Found[Jobs]:
    try:
        return _Found(jobs_in(folder))
    except FileNotFoundError:
        return _Found({}, "absent")
    except PermissionError:
        return _Found({}, "forbidden")
    except OSError:
        return _Found({}, "fault")


def _containers(kubelet: Kubelet) -> _Found[Containers]:
    try:
        return _Found(containers_by_device(allocated(kubelet.socket), is_sharing=kubelet.is_sharing))
    except UnreadError as error:
        return _Found({}, error.word)
