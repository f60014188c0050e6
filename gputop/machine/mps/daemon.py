"""The daemon of CUDA MPS, asked by nvidia-cuda-mps-control: its servers, their clients, the end of a client's work."""

import os
import stat
import time
from collections.abc import Callable, Mapping
from typing import Final, TypeAlias

from gputop.core.insight.mps import MpsClient, MpsServer, devices_in, pids_in, state_in
from gputop.core.text.text import decode, excerpt
from gputop.machine.files.walk import danger, is_root, program
from gputop.machine.proc.environment import variables
from gputop.machine.proc.procfs import Proc, Reader

PROGRAM: Final = "nvidia-cuda-mps-control"
_DIRECTORY: Final = "CUDA_MPS_PIPE_DIRECTORY"
_USUAL: Final = "/tmp/nvidia-mps"  # noqa: S108 - NVIDIA's own; its owner is checked
_PIPE: Final = "control"
_SERVER: Final = b"nvidia-cuda-mps"  # the name in /proc has at most 15 letters
_LIMIT_S: Final = 2.0
_MOST_BYTES: Final = 1 << 20
_MOST_SERVERS: Final = 16

Ask: TypeAlias = Callable[[str], str]
"""Sends a command to a daemon and returns its answer. Raises MpsError."""


class MpsError(Exception):
    """The reason why a daemon cannot be asked."""


class MpsDaemon:
    """A daemon. All methods raise MpsError."""

    def __init__(self, ask: Ask, proc: Reader) -> None:
        self._ask = ask
        self._proc = proc

    def servers(self) -> tuple[MpsServer, ...]:
        """Return the servers with their states and clients."""
        devices = devices_in(self._ask("ps"))
        return tuple(
            MpsServer(
                pid=pid,
                state=state_in(self._ask(f"get_server_status {pid}")),
                clients=tuple(MpsClient(pid=each, device=devices.get(each, "")) for each in self.clients(pid)),
            )
            for pid in self._pids()
        )

    def server_of(self, client: int) -> int | None:
        """Return the pid of the server of a client; None if the process is no client."""
        return next((pid for pid in self._pids() if client in self.clients(pid)), None)

    def clients(self, server: int) -> tuple[int, ...]:
        """Return the pids of the clients of a server."""
        return pids_in(self._ask(f"get_client_list {server}"))

    def end_work(self, server: int, client: int) -> None:
        """End the GPU work of a client. Its process continues, and its next calls of CUDA fail."""
        self._ask(f"terminate_client {server} {client}")

    def _pids(self) -> tuple[int, ...]:
        pids = pids_in(self._ask("get_server_list"))[:_MOST_SERVERS]
        if strangers := [pid for pid in pids if not _is_server(self._proc, pid)]:
            raise MpsError(f"its server {strangers[0]} is no process here: the daemon has other PIDs (container)")
        return pids


def daemon_of(proc: Reader, pid: int, until_s: float, environment: Mapping[str, str] = os.environ) -> MpsDaemon | None:
    """Return the daemon that a process would use; None if there is none.

    ``until_s``: a deadline, monotonic seconds; ``environment``: of gputop. Raises MpsError if the daemon must not be
    asked.
    """
    directory = directory_of(proc, pid)
    return None if directory is None else MpsDaemon(_asking(directory, until_s, environment), proc)


def server_runs(proc: Proc) -> bool:
    """Return whether a server of MPS runs; its directory can outlive it."""
    return any(name.isdigit() and _is_server(proc, int(name)) for name in proc.list("."))


def directory_of(proc: Reader, pid: int) -> str | None:
    """Return the directory with the pipes of the daemon that a process would use; None if there is none."""
    try:
        chosen = variables(proc, pid, {_DIRECTORY}).get(_DIRECTORY, "")
    except OSError:
        chosen = ""
    directory = os.path.normpath(chosen) if chosen.startswith("/") else _USUAL
    return directory if os.path.lexists(f"{directory}/{_PIPE}") else None


def _asking(directory: str, until_s: float, own: Mapping[str, str]) -> Ask:
    """Return a function that asks the daemon of a directory. Raises MpsError."""
    path = program(PROGRAM, own)
    if path is None:
        raise MpsError(f"{PROGRAM} is not on PATH, or as root not in a directory that root alone can write to")
    user = _user(directory)
    environment = {"PATH": own.get("PATH", os.defpath), _DIRECTORY: directory}

    def ask(command: str) -> str:
        from gputop.machine.bounded_run import run_bounded  # noqa: PLC0415 - subprocess is heavy, and MPS is seldom

        limit_s = min(_LIMIT_S, until_s - time.monotonic())
        if limit_s <= 0:
            raise MpsError("it took too long")
        with open(os.memfd_create("command"), "w+b", buffering=0) as stdin:
            stdin.write(f"{command}\n".encode())
            stdin.seek(0)
            try:
                ran = run_bounded([path], limit_s, _MOST_BYTES, environment, stdin=stdin.fileno(), user=user)
            except OSError as error:
                raise MpsError(f"{PROGRAM} cannot run: {error.strerror or error}") from None
        if ran.excess or ran.status != 0:
            raise MpsError((ran.excess and f"it {ran.excess}") or _words(ran.err or ran.out))
        return ran.out.decode("ascii", "replace")

    return ask


def _user(directory: str) -> int | None:
    """Return the user to become before asking: as root, the owner of the daemon; None to stay the same.

    Root opens no pipe that another user could replace. Raises MpsError.
    """
    if not is_root():
        return None
    try:
        found = os.lstat(directory)
    except OSError as error:
        raise MpsError(error.strerror or str(error)) from None
    if not stat.S_ISDIR(found.st_mode):
        raise MpsError("its directory is a link")
    if found.st_uid:
        return found.st_uid
    if reason := danger(f"{directory}/{_PIPE}"):
        raise MpsError(reason)
    return None


def _is_server(proc: Reader, pid: int) -> bool:
    try:
        return proc.read(f"{pid}/comm").startswith(_SERVER)
    except OSError:
        return False


def _words(raw: bytes) -> str:
    lines = [line for line in raw.splitlines() if line.strip()]
    return excerpt(decode(lines[-1])) if lines else "it failed and gave no reason"
