"""A kubelet's list of pod resources: a real gRPC server on a unix socket, and its messages."""

from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

METHOD = "/v1.PodResourcesLister/List"
Devices = Mapping[str, Sequence[str]]


def field(number: int, content: bytes | str) -> bytes:
    """Return a field with a length."""
    data = content.encode() if isinstance(content, str) else content
    return varint(number << 3 | 2) + varint(len(data)) + data


def varint(value: int) -> bytes:
    """Return a number as Protocol Buffers write it."""
    parts = bytearray()
    while value > 0x7F:
        parts.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes((*parts, value))


def pod(name: str, namespace: str, containers: Mapping[str, Devices]) -> bytes:
    """Return a pod of the response. ``containers``: device ids by resource, by name."""
    parts = field(1, name) + field(2, namespace)
    for container, devices in containers.items():
        held = b"".join(
            field(2, field(1, resource) + b"".join(field(2, id_) for id_ in ids) + field(3, b"\x0a\x00"))
            for resource, ids in devices.items()
        )
        parts += field(3, field(1, container) + held + varint(3 << 3) + varint(7))  # cpu_ids, not packed
    return field(1, parts + varint(4 << 3) + varint(1))


class Kubelet:
    """A running kubelet. ``response``: what it lists."""

    def __init__(self, socket: str) -> None:
        self.socket = socket
        self.response = b""
        self.method = METHOD


@contextmanager
def kubelet(folder: Path) -> Iterator[Kubelet]:
    """Serve until the end of the block; skip without grpcio."""
    grpc = pytest.importorskip("grpc", reason="grpcio is not installed")
    running = Kubelet(str(folder / "kubelet.sock"))

    class Handler(grpc.GenericRpcHandler):  # type: ignore[misc, name-defined] # grpcio ships no types
        def service(self, details: Any) -> Any:
            if details.method != running.method:
                return None
            return grpc.unary_unary_rpc_method_handler(lambda _request, _context: running.response)

    server = grpc.server(ThreadPoolExecutor(2), options=[("grpc.max_send_message_length", -1)])
    server.add_generic_rpc_handlers((Handler(),))
    assert server.add_insecure_port(f"unix:{running.socket}")
    server.start()
    try:
        yield running
    finally:
        server.stop(None).wait(30)
