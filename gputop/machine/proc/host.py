"""The host around the GPUs, from seven small files of /proc and a link."""

from collections.abc import Callable
from typing import Final, Protocol, TypeVar

from gputop.core.model.metric import Missing
from gputop.core.model.sample import Host, HostDetails, Pressure, Reasons
from gputop.core.text.text import clean
from gputop.machine.proc.cpu import CpuMeter
from gputop.machine.proc.procfs import Proc, reason
from gputop.machine.proc.visibility import NAMESPACE, is_initial

T = TypeVar("T")

_KIB: Final = 1024
_CPU_KEYS: Final = ("cpu_percent", "cores_percent")


class Details(Protocol):
    """Reads the details of a host."""

    def read(self, now: float) -> HostDetails:
        """Return the details. ``now``: monotonic seconds. Never raises."""
        ...


class HostReader:
    """Reads the host. CPU percentages are means since the previous reading, so the first one has none."""

    def __init__(self, proc: Proc, name: str, details: Callable[[], Details] | None = None) -> None:
        self._proc = proc
        self._name = clean(name)
        self._cpu = CpuMeter()
        self._make_details = details
        self._details: Details | None = None
        self._details_until = float("-inf")

    def want_details(self, until: float) -> None:
        """Read the details as well, until this monotonic time in seconds."""
        self._details_until = until

    def read(self, now_monotonic: float) -> Host:
        """Return the current values of /proc. Never raises: an unreadable value is missing with its reason."""
        missing: Reasons = {}
        cpu = self._ask("stat", lambda raw: self._cpu.read(raw, now_monotonic), _CPU_KEYS, missing)
        if cpu is not None:
            missing |= cpu.missing
        return Host(
            name=self._name,
            uptime_s=self._ask("uptime", _uptime, ("uptime_s",), missing),
            cpu_percent=cpu.percent if cpu else None,
            cores_percent=cpu.cores_percent if cpu else (),
            load=self._ask("loadavg", _load, ("load",), missing),
            pressure=self._pressure(missing),
            is_initial_pid_namespace=self._namespace(missing),
            details=self._read_details(now_monotonic),
            **self._memory(missing),
            missing=missing,
        )

    def _read_details(self, now: float) -> HostDetails | None:
        if self._make_details is None or now >= self._details_until:
            return None
        self._details = self._details or self._make_details()
        return self._details.read(now)

    def _ask(self, path: str, parse: Callable[[bytes], T], keys: tuple[str, ...], missing: Reasons) -> T | None:
        """Return the parsed content of a file; else None, and the reason under these keys."""
        try:
            return parse(self._proc.read(path))
        except OSError as error:
            missing |= dict.fromkeys(keys, reason(error))
        except (IndexError, ValueError):
            missing |= dict.fromkeys(keys, Missing.FAULT)
        return None

    def _memory(self, missing: Reasons) -> dict[str, int | None]:
        keys = ("memory_total_bytes", "memory_used_bytes", "swap_total_bytes", "swap_used_bytes")
        table = self._ask("meminfo", _table, keys, missing)
        if table is None:
            return dict.fromkeys(keys)
        total, swap = table.get(b"MemTotal"), table.get(b"SwapTotal")
        values = (total, _less(total, table.get(b"MemAvailable")), swap, _less(swap, table.get(b"SwapFree")))
        missing |= {key: Missing.UNSUPPORTED for key, value in zip(keys, values, strict=True) if value is None}
        return dict(zip(keys, values, strict=True))

    def _namespace(self, missing: Reasons) -> bool | None:
        try:
            return is_initial(self._proc.link(NAMESPACE))
        except OSError as error:
            missing["is_initial_pid_namespace"] = reason(error)
            return None

    def _pressure(self, missing: Reasons) -> Pressure:
        """Read pressure stall information; the kernel may lack it, or have it switched off (psi=0)."""

        def share(name: str) -> float | None:
            return self._ask(f"pressure/{name}", _some_avg10, (f"pressure.{name}_percent",), missing)

        return Pressure(cpu_percent=share("cpu"), memory_percent=share("memory"), io_percent=share("io"))


def _uptime(raw: bytes) -> float:
    return float(raw.split(None, 1)[0])


def _load(raw: bytes) -> tuple[float, float, float]:
    one, five, fifteen = raw.split(None, 3)[:3]
    return float(one), float(five), float(fifteen)


def _table(raw: bytes) -> dict[bytes, int]:
    """Return /proc/meminfo in bytes by name."""
    rows = (line.split() for line in raw.splitlines())
    return {row[0].rstrip(b":"): int(row[1]) * _KIB for row in rows if len(row) > 1}


def _some_avg10(raw: bytes) -> float:
    """Return 1.25 for ``some avg10=1.25 avg60=...``."""
    some = next(line for line in (*raw.splitlines(), b"") if line.startswith(b"some") or not line)
    return float(some.split()[1].removeprefix(b"avg10="))


def _less(total: int | None, free: int | None) -> int | None:
    return None if total is None or free is None else max(0, total - free)
