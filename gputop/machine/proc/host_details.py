"""Network and disk rates, sensors, logged-in users and CPU frequency of the host, which psutil reads on request.

Counters cost 80 µs a sample. Sensors can take a second (a BMC, an NVMe disk), so that a thread reads them, with users
and frequency, at most every 10 s; its first task is the import of psutil (31 ms).
"""

import os
from collections.abc import Callable, Iterable
from typing import Any, Final

from msgspec import Struct

from gputop.core.model.metric import Missing
from gputop.core.model.sample import Fan, HostDetails, Reasons, Temperature
from gputop.core.text.text import clean
from gputop.machine.worker import Worker

_SLOW_EVERY_S: Final = 10.0
_HUNG_S: Final = 5.0
_GAP_S: Final = 60.0  # after a longer pause the mean is not current
_MOST: Final = 256  # sensors, users
_NETWORK: Final = ("network_received_bytes_per_s", "network_sent_bytes_per_s")
_DISKS: Final = ("disk_read_bytes_per_s", "disk_written_bytes_per_s")
_ERRORS: Final = (OSError, ValueError, RuntimeError, AttributeError)  # AttributeError: not on this kind of machine
_SLOW: Final = ("temperatures", "fans", "users", "cpu_hertz")


class _Slow(Struct, frozen=True):
    """The results of the thread."""

    psutil: Any
    values: dict[str, Any]
    missing: Reasons


class HostDetailsReader:
    """Reads the details of this host. ``patience_s``: the time limit for slow sensors."""

    def __init__(
        self,
        *,
        patience_s: float = 0.0,
        load: Callable[[], Any] | None = None,
        is_physical: Callable[[str, str], bool] | None = None,
    ) -> None:
        self._patience_s = patience_s
        self._load = load or _psutil
        self._is_physical = is_physical or _is_physical
        self._worker: Worker[_Slow] = Worker(self._read_slow)
        self._due = 0.0
        self._slow: _Slow | None = None
        self._rates = {"net_io_counters": _Rates(_NETWORK), "disk_io_counters": _Rates(_DISKS)}

    def read(self, now: float) -> HostDetails:
        """Return rates since the previous reading, and sensors that are at most some 10 s old. Never raises."""
        self._follow(now)
        slow = self._slow
        if slow is None:
            is_hung = now - (self._worker.busy_since or now) > _HUNG_S
            why = Missing.HUNG if is_hung else Missing.NOT_YET
            return HostDetails(missing=dict.fromkeys((*_NETWORK, *_DISKS, *_SLOW), why))
        missing = dict(slow.missing)
        rates: dict[str, Any] = {}
        for kind, folder, names in (
            ("net_io_counters", "net", ("bytes_recv", "bytes_sent")),
            ("disk_io_counters", "block", ("read_bytes", "write_bytes")),
        ):
            counters = self._counters(slow.psutil, kind, folder, names)
            rates |= self._rates[kind].read(counters, now, missing)
        return HostDetails(**rates, **slow.values, missing=missing)

    def _follow(self, now: float) -> None:
        if now >= self._due and self._worker.busy_since is None:
            self._due = now + _SLOW_EVERY_S
            self._worker.ask(now)
        is_new = self._worker.busy_since == now
        self._slow = self._worker.take(self._patience_s if is_new else 0) or self._slow

    def _counters(self, psutil: Any, kind: str, folder: str, names: tuple[str, str]) -> tuple[int, int] | None:
        """Return the sums over physical devices; over all but the loopback if none is physical (a container)."""
        try:
            devices = getattr(psutil, kind)(**{"pernic" if folder == "net" else "perdisk": True}, nowrap=False)
        except _ERRORS:
            return None
        physical = [name for name in devices if self._is_physical(folder, name)]
        counted = [devices[name] for name in physical or devices.keys() - {"lo"}]
        return (sum(getattr(one, names[0]) for one in counted), sum(getattr(one, names[1]) for one in counted))

    # --- runs in the worker's thread -------------------------------------------------------------------------------
    def _read_slow(self, _: float) -> _Slow:
        psutil = self._load()
        read: dict[str, Callable[[], Any]] = {
            "temperatures": lambda: tuple(_temperatures(psutil.sensors_temperatures())),
            "fans": lambda: tuple(_fans(psutil.sensors_fans())),
            "users": lambda: tuple(sorted({clean(user.name) for user in psutil.users()}))[:_MOST],
            "cpu_hertz": lambda: psutil.cpu_freq().current * 1e6,
        }
        values = {name: value for name, ask in read.items() if (value := _or_none(ask)) is not None}
        missing = {name: Missing.UNSUPPORTED for name in read if name not in values}
        missing |= {name: Missing.UNSUPPORTED for name in ("temperatures", "fans") if not values.get(name)}
        return _Slow(psutil, values, missing)


class _Rates:
    """Two counters as rates. ``keys``: the names of the rates."""

    def __init__(self, keys: tuple[str, str]) -> None:
        self._keys = keys
        self._before: tuple[int, int] | None = None
        self._before_s = 0.0

    def read(self, counters: tuple[int, int] | None, now: float, missing: Reasons) -> dict[str, float]:
        """Return the rates since the previous reading; none once after a counter went back (a device left)."""
        before, seconds = self._before, now - self._before_s
        self._before, self._before_s = counters, now
        if counters is None:
            missing |= dict.fromkeys(self._keys, Missing.UNSUPPORTED)
            return {}
        spent = tuple(new - old for new, old in zip(counters, before, strict=True)) if before else (-1,)
        if not 0 < seconds < _GAP_S or min(spent) < 0:
            missing |= dict.fromkeys(self._keys, Missing.NOT_YET)
            return {}
        return dict(zip(self._keys, (bytes_ / seconds for bytes_ in spent), strict=True))


def _or_none(ask: Callable[[], Any]) -> Any:
    try:
        return ask()
    except _ERRORS:
        return None


def _psutil() -> Any:
    import psutil  # noqa: PLC0415 - in the thread, once the details are requested

    return psutil


def _is_physical(folder: str, name: str) -> bool:
    """Return whether a device is hardware: not a bridge, a container's interface, a RAID or a partition."""
    return os.path.exists(f"/sys/class/{folder}/{name}/device")


def _temperatures(chips: dict[str, list[Any]]) -> Iterable[Temperature]:
    for chip, label, one in _flat(chips):
        yield Temperature(chip=chip, label=label, celsius=one.current, high_celsius=one.high)


def _fans(chips: dict[str, list[Any]]) -> Iterable[Fan]:
    for chip, label, one in _flat(chips):
        yield Fan(chip=chip, label=label, rpm=one.current)


def _flat(chips: dict[str, list[Any]]) -> list[tuple[str, str, Any]]:
    found = [(clean(chip), clean(one.label), one) for chip, sensors in chips.items() for one in sensors]
    return found[:_MOST]
