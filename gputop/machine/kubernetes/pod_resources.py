"""The pod resources of the kubelet: which containers hold which GPUs and MIG devices.

https://kubernetes.io/docs/concepts/extend-kubernetes/compute-storage-net/device-plugins/#monitoring-device-plugin-resources
"""

import os
import stat
from collections.abc import Iterator
from typing import Final

from gputop.core.usage.holders import Container
from gputop.machine.kubernetes.protobuf import MalformedError, fields

_LIST: Final = "/v1.PodResourcesLister/List"
_PATIENCE_S: Final = 5.0
_MOST_BYTES: Final = 4 << 20
_MOST_DEVICES: Final = 4096
_RESOURCES: Final = b"nvidia.com/"  # gpu, gpu.shared, mig-1g.10gb, and names that the cluster gave
_OPTIONS: Final = (
    ("grpc.max_receive_message_length", _MOST_BYTES),
    ("grpc.default_authority", "localhost"),  # the path of the socket is not an authority, and some servers refuse it
    ("grpc.enable_http_proxy", 0),
    ("grpc.use_local_subchannel_pool", 1),  # the channel ends with its call
)

Allocated = tuple[Container, str]


class UnreadError(Exception):
    """The list could not be read. ``word``: why, in a word."""

    def __init__(self, word: str) -> None:
        super().__init__(word)
        self.word = word


def allocated(socket: str, patience_s: float = _PATIENCE_S) -> list[Allocated]:
    """Return the containers with the id of each NVIDIA device. Raises UnreadError."""
    _check(socket)
    try:
        found: list[Allocated] = []
        for each in _decoded(_listed(socket, patience_s)):
            found.append(each)
            if len(found) > _MOST_DEVICES:
                raise UnreadError("too_large")
    except MalformedError:
        raise UnreadError("malformed") from None
    return found


def _check(socket: str) -> None:
    """Raise UnreadError for what gRPC would report as unavailable."""
    try:
        mode = os.stat(socket).st_mode
    except PermissionError:
        raise UnreadError("forbidden") from None
    except OSError:
        raise UnreadError("absent") from None
    if not stat.S_ISSOCK(mode):
        raise UnreadError("malformed")
    if not os.access(socket, os.W_OK):
        raise UnreadError("forbidden")


def _listed(socket: str, patience_s: float) -> bytes:
    os.environ.setdefault("GRPC_VERBOSITY", "NONE")  # its library writes to stderr
    import grpc  # noqa: PLC0415 - an extra, and slow to import

    try:
        with grpc.insecure_channel(f"unix:{socket}", options=_OPTIONS) as channel:
            call = channel.unary_unary(_LIST)
            answer: bytes = call(b"", timeout=patience_s)
            return answer
    except grpc.RpcError as error:
        raise UnreadError(error.code().name.lower()) from None


def _decoded(response: bytes) -> Iterator[Allocated]:
    """Yield the devices of ListPodResourcesResponse, in k8s.io/kubelet/pkg/apis/podresources/v1/api.proto."""
    for number, pod in fields(response):
        if number != 1:
            continue
        parts = list(fields(pod))
        name, namespace = _text(parts, 1), _text(parts, 2)
        for container in _all(parts, 3):
            of_container = list(fields(container))
            holder = Container(name, namespace, _text(of_container, 1))
            for devices in _all(of_container, 2):
                of_devices = list(fields(devices))
                if any(resource.startswith(_RESOURCES) for resource in _all(of_devices, 1)):
                    yield from ((holder, id_.decode(errors="replace")) for id_ in _all(of_devices, 2))


def _all(parts: list[tuple[int, bytes]], number: int) -> Iterator[bytes]:
    return (content for each, content in parts if each == number)


def _text(parts: list[tuple[int, bytes]], number: int) -> str:
    return next(_all(parts, number), b"").decode(errors="replace")
