"""The parts of an inspection that psutil reads: Internet sockets, and the memory of a process alone (USS, PSS, swap).

They cost 20 to 100 ms, and longer for a process with hundreds of GiB, which waits while the kernel walks its page
tables. The parts of a process are therefore kept for `_KEPT_S`, or for 50 times as long as the reading took.
"""

import os
import time
from collections.abc import Callable
from ipaddress import ip_address
from typing import Any, Final

from msgspec import Struct

from gputop.core.inspection.inspection import MemoryShares, Socket
from gputop.core.model.metric import Missing
from gputop.core.model.sample import Reasons
from gputop.machine.proc.procfs import reason
from gputop.machine.timed_calls import TimedCalls

_KEPT_S: Final = 10.0
_KEPT_TIMES: Final = 50
_PATIENCE_S: Final = 3.0  # for the memory, whose reader waits for the lock of the process's memory map
_MOST_SOCKETS: Final = 256


class CostlyParts(Struct, frozen=True, kw_only=True):
    """Parts of an `Inspection`, under the same names."""

    sockets: tuple[Socket, ...] = ()
    shares: MemoryShares | None = None
    missing: Reasons = {}
    shortened: tuple[str, ...] = ()


class CostlyReader:
    """Reads sockets and memory of one process at a time. The first read imports psutil."""

    def __init__(
        self,
        clock: Callable[[], float] = time.monotonic,
        load: Callable[[], Any] | None = None,
        patience_s: float = _PATIENCE_S,
    ) -> None:
        self._clock = clock
        self._load = load or _psutil
        self._patience_s = patience_s
        self._calls = TimedCalls()
        self._of = (0, 0)
        self._due_s = 0.0
        self._kept = CostlyParts()

    def read(self, pid: int, start_ticks: int) -> CostlyParts:
        """Return the parts, at most a few seconds old. Never raises."""
        began_s = self._clock()
        if self._of != (pid, start_ticks) or began_s >= self._due_s:
            self._of = (pid, start_ticks)
            self._kept = self._read(pid, start_ticks)
            ended_s = self._clock()
            is_blocked = Missing.BLOCKED in self._kept.missing.values()
            self._due_s = ended_s + max(_KEPT_S, 0.0 if is_blocked else _KEPT_TIMES * (ended_s - began_s))
        return self._kept

    def _read(self, pid: int, start_ticks: int) -> CostlyParts:
        psutil = self._load()
        missing: Reasons = {}
        sockets = self._ask(psutil, lambda: _sockets(psutil, pid), "sockets", missing)
        try:
            shares = self._calls.make(
                (pid, start_ticks),
                lambda: self._ask(psutil, lambda: _shares(psutil, pid), "shares", missing),
                self._patience_s,
            )
        except OSError as error:
            shares, missing = None, missing | {"shares": reason(error)}
        held = sockets or ()
        shortened = ("sockets",) if len(held) > _MOST_SOCKETS else ()
        return CostlyParts(sockets=held[:_MOST_SOCKETS], shares=shares, missing=missing, shortened=shortened)

    @staticmethod
    def _ask(psutil: Any, read: Callable[[], Any], part: str, missing: Reasons) -> Any:
        try:
            return read()
        except (psutil.AccessDenied, PermissionError):
            missing[part] = Missing.FORBIDDEN
        except _HiddenError:
            missing[part] = Missing.HIDDEN
        except (psutil.Error, OSError, ValueError):
            missing[part] = Missing.UNSUPPORTED
        return None


class _HiddenError(Exception):
    """The process is in another network namespace, whose sockets are not listed here."""


def _psutil() -> Any:
    import psutil  # noqa: PLC0415 - 31 ms, only for an inspection

    return psutil


def _sockets(psutil: Any, pid: int) -> tuple[Socket, ...]:
    """Return TCP and UDP sockets: listening sockets first, then by address."""
    if os.readlink(f"/proc/{pid}/ns/net") != os.readlink("/proc/self/ns/net"):
        raise _HiddenError
    found = [
        Socket(
            protocol="tcp" if one.type == 1 else "udp",
            local=_address(one.laddr),
            remote=_address(one.raddr),
            state="" if one.status == "NONE" else one.status.lower(),
        )
        for one in psutil.Process(pid).net_connections(kind="inet")
    ]
    return tuple(sorted(found, key=lambda one: (one.state != "listen", one.protocol, one.local, one.remote)))


def _address(end: Any) -> str:
    """Return ``10.0.0.1:80`` or ``[::1]:80``; an empty text for an end that is not connected."""
    if not end:
        return ""
    host = ip_address(end.ip)
    return f"[{host}]:{end.port}" if host.version == 6 else f"{host}:{end.port}"


def _shares(psutil: Any, pid: int) -> MemoryShares:
    held = psutil.Process(pid).memory_full_info()
    return MemoryShares(uss_bytes=held.uss, pss_bytes=held.pss, swap_bytes=held.swap)
