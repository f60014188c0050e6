"""The source ``kernel``: state, wait channel and system call of the main threads, from /proc."""

from collections.abc import Sequence
from typing import Final

from gputop.core.insight.explanation import ClaimKind, InsightClaim, SourceReport, SourceState
from gputop.core.insight.kernel import KernelPlace, KernelPlaces, place_text
from gputop.core.insight.member import Member
from gputop.core.insight.source import as_root
from gputop.core.text.text import decode
from gputop.machine.insight.identity import stat_of
from gputop.machine.insight.system_calls import system_call
from gputop.machine.proc.patient import proc_of_this_machine
from gputop.machine.proc.procfs import Reader

_STOPPED: Final = frozenset({"T", "t"})
_DENIED: Final = "to root alone"
_NAMES: Final = {"wchan": "wait channel", "syscall": "system call"}
_NONE: Final = frozenset({b"", b"0"})


def ask(members: Sequence[Member], native: bool = False) -> SourceReport:  # noqa: FBT001, FBT002 - the form of a source
    """Return where the main threads of processes of this machine are in the kernel."""
    del native
    return report_of(proc_of_this_machine(), members)


def report_of(proc: Reader, members: Sequence[Member]) -> SourceReport:
    """Return where the main threads are. Never raises."""
    places = tuple(_place(proc, member) for member in members)
    denied = [place.pid for place in places if place.reason.endswith(_DENIED)]
    return SourceReport(
        name="kernel",
        title="Kernel",
        state=SourceState.ANSWERED,
        remedy=as_root(denied),
        claims=_claims(places),
        details=KernelPlaces(places),
    )


def _claims(places: Sequence[KernelPlace]) -> tuple[InsightClaim, ...]:
    stopped = tuple(place.pid for place in places if place.state in _STOPPED)
    by_text: dict[str, list[int]] = {}
    for place in places:
        if place.state not in _STOPPED and (text := place_text(place)):
            by_text.setdefault(text, []).append(place.pid)
    claims = [InsightClaim(kind=ClaimKind.AT, pids=tuple(pids), place=text) for text, pids in by_text.items()]
    return (*((InsightClaim(kind=ClaimKind.STOPPED, pids=stopped),) if stopped else ()), *claims)


def _place(proc: Reader, member: Member) -> KernelPlace:
    pid = member.pid
    try:
        stat = stat_of(proc, member)
    except OSError as error:
        return KernelPlace(pid=pid, state="", reason=error.strerror or str(error))
    if stat is None:
        return KernelPlace(pid=pid, state="", reason="ended")
    channel, no_channel = _read(proc, f"{pid}/wchan")
    call, no_call = _read(proc, f"{pid}/syscall")
    return KernelPlace(
        pid=pid,
        state=stat.state,
        wait_channel=None if channel is None else "" if channel.strip() in _NONE else decode(channel.strip())[:80],
        system_call=None if call is None else system_call(call),
        reason=no_call or no_channel,
    )


def _read(proc: Reader, path: str) -> tuple[bytes | None, str]:
    """Return the content of a file, or why it cannot be read."""
    try:
        return proc.read(path), ""
    except PermissionError:
        return None, f"the kernel shows the {_NAMES[path.rpartition('/')[2]]} {_DENIED}"
    except OSError as error:
        return None, error.strerror or str(error)
