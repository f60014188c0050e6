"""A fake RAS service of NCCL, on a port of its own, and its answers."""

import json
import socket
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

Reply = Callable[[socket.socket], None]


def rank(number: int, pid: int, count: int, host: str = "10.0.0.1") -> dict[str, Any]:
    """Return a rank that has entered ``count`` all-reduces, as NCCL 2.29 prints it."""
    status = {"init_state": 0, "async_error": 0, "finalize_called": False, "destroy_flag": False, "abort_flag": False}
    counts = {"Broadcast": 2, "Reduce": 0, "AllGather": 0, "ReduceScatter": 0, "AllReduce": count, "Send": number}
    return {
        "rank": number, "host": host, "pid": pid, "cuda_dev": number, "nvml_dev": number, "status": status,
        "collective_counts": counts,
    }  # fmt: skip


def missing_rank(number: int, pid: int, host: str = "10.0.0.2") -> dict[str, Any]:
    """Return a rank that NCCL considers dead."""
    return {
        "rank": number, "host": host, "pid": pid, "cuda_dev": 0, "nvml_dev": 0,
        "status": {"unresponsive": True, "considered_dead": True},
    }  # fmt: skip


def communicator(
    ranks: Iterable[dict[str, Any]], missing: Iterable[dict[str, Any]] = (), name: str = "0xa1"
) -> dict[str, Any]:
    """Return a communicator."""
    present, absent = list(ranks), list(missing)
    return {
        "hash": name, "secondary_hash": "0xb2", "size": len(present) + len(absent), "ranks_count": len(present),
        "missing_ranks_count": len(absent), "ranks": present, "missing_ranks": absent,
    }  # fmt: skip


def answer(*communicators: dict[str, Any]) -> bytes:
    """Return the JSON of a report."""
    report = {
        "nccl_version": "2.29.1", "cuda_runtime_version": 13000, "cuda_driver_version": 13000,
        "timestamp": "2026-11-22 03:04:05", "communicators_count": len(communicators),
        "communicators": communicators, "ras": {"collection_time_sec": 0.2, "timeouts_count": 0},
    }  # fmt: skip
    return json.dumps(report, indent=2).encode()


class RasServer:
    """Speaks the protocol of RAS. ``reports``: one for each question, the last one again and again."""

    def __init__(self, reports: Iterable[bytes], *, has_json: bool = True) -> None:
        self._reports = list(reports)
        self._has_json = has_json
        self.commands: list[str] = []

    def __call__(self, connection: socket.socket) -> None:
        """Answer one connection."""
        for raw in connection.makefile("rb"):
            command = raw.decode().strip().upper()
            self.commands.append(command)
            if command.endswith("STATUS"):
                connection.sendall(self._reports.pop(0) if len(self._reports) > 1 else self._reports[0])
                return
            connection.sendall(self._line(command))

    def _line(self, command: str) -> bytes:
        if command.startswith("CLIENT PROTOCOL"):
            return b"SERVER PROTOCOL 2\n"
        if command.startswith("TIMEOUT") or (command.startswith("SET FORMAT") and self._has_json):
            return b"OK\n"
        return b"ERROR: Unknown command '%s'\n" % command.encode()


@contextmanager
def serving(reply: Reply, host: str = "127.0.0.1") -> Iterator[int]:
    """Serve connections, one at a time, in a thread; yield the port."""
    with socket.create_server((host, 0), family=socket.AF_INET6 if ":" in host else socket.AF_INET) as server:
        thread = threading.Thread(target=_serve, args=(server, reply), daemon=True)
        thread.start()
        try:
            yield server.getsockname()[1]
        finally:
            with suppress(OSError):
                server.shutdown(socket.SHUT_RDWR)
            thread.join(30)


def _serve(server: socket.socket, reply: Reply) -> None:
    while True:
        try:
            connection, _ = server.accept()
        except OSError:
            return
        with connection, suppress(OSError):
            reply(connection)
