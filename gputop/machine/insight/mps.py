"""The source ``mps``: the MPS servers whose clients are asked about, with their states and all of their clients."""

import os
import time
from collections.abc import Callable, Iterable, Sequence
from typing import Final

from gputop.core.insight.explanation import ClaimKind, InsightClaim, SourceReport, SourceState
from gputop.core.insight.member import Member
from gputop.core.insight.mps import MpsServer, MpsServers
from gputop.core.insight.source import as_root
from gputop.machine.mps.daemon import MpsDaemon, MpsError, daemon_of, directory_of, server_runs
from gputop.machine.proc.patient import proc_of_this_machine

NAME: Final = "mps"
TITLE: Final = "CUDA MPS"
_LIMIT_S: Final = 8.0

Opened = Callable[[int], MpsDaemon | None]
"""Returns the daemon that the process of a pid uses. Raises MpsError."""


def applies_to(members: Sequence[Member]) -> bool:
    """Say whether an MPS server runs that a process may use."""
    proc = proc_of_this_machine()
    return any(directory_of(proc, member.pid) for member in members) and server_runs(proc)


def ask(members: Sequence[Member], native: bool = False) -> SourceReport:  # noqa: FBT001, FBT002 - the form of a source
    """Return the servers of processes of this machine."""
    del native
    proc, until_s = proc_of_this_machine(), time.monotonic() + _LIMIT_S
    by_directory = {directory_of(proc, member.pid): member.pid for member in members}
    users = [pid for directory, pid in by_directory.items() if directory is not None]
    return report_of(members, lambda pid: daemon_of(proc, pid, until_s), users)


def report_of(members: Sequence[Member], opened: Opened, users: Iterable[int]) -> SourceReport:
    """Return the servers of the daemons. ``users``: a process of each daemon."""
    pids = {member.pid for member in members}
    servers: list[MpsServer] = []
    problems: list[str] = []
    for pid in users:
        try:
            daemon = opened(pid)
            found = daemon.servers() if daemon else ()
        except MpsError as error:
            problems.append(str(error))
            continue
        servers += [one for one in found if one.pid in pids or not pids.isdisjoint(each.pid for each in one.clients)]
    if servers:
        return SourceReport(
            name=NAME, title=TITLE, state=SourceState.ANSWERED, note="; ".join(problems),
            claims=tuple(_claims(servers, pids)), details=MpsServers(tuple(servers)),
        )  # fmt: skip
    note = "; ".join(problems) or "none of these processes is a client of its daemon"
    remedy = as_root(sorted(pids)) if problems and os.geteuid() else ""
    return SourceReport(name=NAME, title=TITLE, state=SourceState.UNAVAILABLE, note=note, remedy=remedy)


def _claims(servers: Iterable[MpsServer], pids: set[int]) -> Iterable[InsightClaim]:
    for server in servers:
        if server.has_fault:
            own = tuple(each.pid for each in server.clients if each.pid in pids)
            yield InsightClaim(kind=ClaimKind.FAILED, pids=own, operation=f"MPS server {server.pid} has a fault")
