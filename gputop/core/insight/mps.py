"""Servers and clients of CUDA MPS, and the answers of its control program, nvidia-cuda-mps-control."""

from typing import Final

from msgspec import Struct

from gputop.core.text.text import excerpt

_MOST_PIDS: Final = 4096
_LONGEST_PID: Final = 10
_LONGEST: Final = 60
_PID: Final = "PID"
_DEVICE: Final = "DEVICE"
_FAULT: Final = "FAULT"


class MpsClient(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A client. ``device``: the beginning of the UUID of its GPU, empty if it is not known."""

    pid: int
    device: str = ""


class MpsServer(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A server. ``state``: INITIALIZING, ACTIVE or FAULT, as MPS reports it."""

    pid: int
    state: str = ""
    clients: tuple[MpsClient, ...] = ()

    @property
    def has_fault(self) -> bool:
        """Whether a fault has ended the GPU work of all clients."""
        return self.state.upper().startswith(_FAULT)


class MpsServers(Struct, frozen=True, tag_field="details", tag="mps"):
    """The servers whose clients are asked about."""

    servers: tuple[MpsServer, ...]


def pids_in(answer: str) -> tuple[int, ...]:
    """Return the pids of an answer that has one on each line; other lines do not count."""
    lines = (line.strip() for line in answer.splitlines())
    pids = (int(line) for line in lines if line.isascii() and line.isdigit() and len(line) <= _LONGEST_PID)
    return tuple(dict.fromkeys(pid for pid in pids if pid > 1))[:_MOST_PIDS]


def state_in(answer: str) -> str:
    """Return the state of a server: the first word of the answer to ``get_server_status``."""
    return excerpt((answer.split() or [""])[0], _LONGEST)


def devices_in(answer: str) -> dict[int, str]:
    """Return the devices by the pid of a client, from the table of ``ps``; its heading names the columns."""
    heading, *lines = answer.splitlines() or [""]
    columns = heading.split()
    if _PID not in columns or _DEVICE not in columns:
        return {}
    pid_at, device_at = columns.index(_PID), columns.index(_DEVICE)
    found: dict[int, str] = {}
    for line in lines[:_MOST_PIDS]:
        words = line.split()
        if len(words) > max(pid_at, device_at):
            found |= {pid: excerpt(words[device_at], _LONGEST) for pid in pids_in(words[pid_at])}
    return found
