"""The source NCCL RAS: it finds the service of the job, asks it twice, and judges the answers."""

import time
from collections.abc import Callable, Iterator, Sequence
from typing import Final

from gputop.core.insight.explanation import SourceReport, SourceState
from gputop.core.insight.member import Member
from gputop.core.insight.nccl import judge_ras
from gputop.core.insight.ras_answer import RasAnswer, parse_ras
from gputop.core.insight.source import as_root
from gputop.core.text.text import decode
from gputop.machine.insight.identity import is_same
from gputop.machine.insight.listener import Listener, listeners
from gputop.machine.insight.ras_client import RasReply, ask_ras
from gputop.machine.proc.environment import variables
from gputop.machine.proc.patient import proc_of_this_machine
from gputop.machine.proc.procfs import Proc
from gputop.machine.proc.root import Files
from gputop.machine.proc.stat import parse_inner_pid, parse_uid

NAME: Final = "nccl"
TITLE: Final = "NCCL RAS"
PORT: Final = 28028
_ADDRESS: Final = "NCCL_RAS_ADDR"
_ENABLED: Final = "NCCL_RAS_ENABLE"
_TIMEOUT_S: Final = 12.0
_APART_S: Final = 5.0
_MOST_LINES: Final = 60
_LONGEST: Final = 400
_NO_SERVICE: Final = "no process listens for it: no NCCL, or NCCL before 2.24, or another job has the port"


class NcclRas:
    """Asks NCCL. ``pause`` waits between two questions; ``port``: the usual one of NCCL."""

    def __init__(
        self, proc: Proc | None = None, *, pause: Callable[[float], None] = time.sleep, port: int = PORT,
        timeout_s: float = _TIMEOUT_S,
    ) -> None:  # fmt: skip
        self._proc = proc or proc_of_this_machine()
        self._pause = pause
        self._port = port
        self._timeout_s = timeout_s

    def ask(self, members: Sequence[Member], native: bool) -> SourceReport:  # noqa: ARG002, FBT001 - as all sources
        """Return what NCCL knows about the members, and about their job on other hosts."""
        alive = [member for member in members if is_same(self._proc, member)]
        if not alive:
            return _unavailable("all processes have exited")
        inside = next((member for member in alive if self._is_elsewhere(member)), None)
        if inside:
            note = f"{inside.label} has a network namespace of its own, as in a container"
            return _unavailable(note, f"sudo nsenter -t {inside.pid} -n gputop explain {inside.pid}")
        found = next(self._services(alive), None)
        if found is None:
            return self._no_service(alive)
        try:
            return self._report((found.address, found.port), alive)
        except ValueError as error:
            return _unavailable(f"{found.address}:{found.port}: {error}")
        except OSError as error:
            reason = "its answer did not end in time" if isinstance(error, TimeoutError) else error.strerror
            return _unavailable(f"{found.address}:{found.port}: {reason}")

    def _report(self, address: tuple[str, int], members: Sequence[Member]) -> SourceReport:
        reply = ask_ras(address, self._timeout_s)
        if not reply.is_json:
            return _text_report(reply)
        first = _parsed(reply)
        self._pause(_APART_S)
        last = _parsed(ask_ras(address, self._timeout_s))
        judgement = judge_ras(first, last, self._inner_pids(members))
        if not judgement.is_of_members:
            return _unavailable(f"{address[0]}:{address[1]} answers for another job", f"set {_ADDRESS} for each job")
        return SourceReport(
            name=NAME, title=TITLE, state=SourceState.ANSWERED, claims=judgement.claims, details=judgement.collectives
        )

    def _inner_pids(self, members: Sequence[Member]) -> dict[int, int]:
        files = Files(self._proc)
        inner = {member.pid: parse_inner_pid(files.raw(f"{member.pid}/status"), member.pid) for member in members}
        return {known or pid: pid for pid, known in inner.items()}

    def _is_elsewhere(self, member: Member) -> bool:
        files = Files(self._proc)
        there = files.target(f"{member.pid}/ns/net")
        return bool(there) and there != files.target("self/ns/net")

    def _services(self, members: Sequence[Member]) -> Iterator[Listener]:
        """Return the sockets of the service that belong to a user of a member."""
        files = Files(self._proc)
        uids = {parse_uid(files.raw(f"{member.pid}/status")) for member in members}
        ports = {self._port} | {port for member in members if (port := self._chosen_port(member))}
        own = {port for port in ports if port != self._port}
        found = [each for each in listeners(self._proc, members[0].pid, ports) if each.uid in uids]
        yield from sorted(found, key=lambda each: each.port not in own)

    def _chosen_port(self, member: Member) -> int | None:
        port = self._setting(member, _ADDRESS).rpartition(":")[2]
        return int(port) if port.isascii() and port.isdigit() and len(port) < 6 else None

    def _setting(self, member: Member, name: str) -> str:
        try:
            return variables(self._proc, member.pid, {name}).get(name, "")
        except OSError:
            return ""

    def _no_service(self, members: Sequence[Member]) -> SourceReport:
        if any(self._setting(member, _ENABLED) == "0" for member in members):
            return _unavailable(f"the job was started with {_ENABLED}=0", f"start it without {_ENABLED}=0")
        hidden = [member.pid for member in members if not self._has_environment(member)]
        return _unavailable(_NO_SERVICE, as_root(hidden) or "start the job with NCCL 2.28.7 or later")

    def _has_environment(self, member: Member) -> bool:
        """Say whether the address that a member may have chosen can be read."""
        try:
            variables(self._proc, member.pid, ())
        except OSError:
            return False
        return True


def _parsed(reply: RasReply) -> RasAnswer:
    return parse_ras(reply.raw)


def _text_report(reply: RasReply) -> SourceReport:
    """Return the report of an older NCCL for people: its form changes with each release, so no claim is made of it."""
    lines = [decode(line[:_LONGEST]) for line in reply.raw.splitlines() if line.strip()]
    return SourceReport(
        name=NAME, title=TITLE, state=SourceState.ANSWERED, lines=tuple(lines[:_MOST_LINES]),
        note="only text: NCCL before 2.28.7 has no JSON, so gputop compares no counts",
        remedy="start the job with NCCL 2.28.7 or later",
    )  # fmt: skip


def _unavailable(note: str, remedy: str = "") -> SourceReport:
    return SourceReport(name=NAME, title=TITLE, state=SourceState.UNAVAILABLE, note=note, remedy=remedy)
