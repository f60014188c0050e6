"""A fleet: its hosts, their GPUs, and the servers that know them.

A value is None if no server knows it. ``age_s`` says how old the values of a host are.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TypeVar

from msgspec import Struct

from gputop.core.model.load import BUSY_PERCENT, is_held
from gputop.core.model.units import share

N = TypeVar("N", int, float)


class FleetGpu(Struct, frozen=True, gc=False):
    """A GPU of a host. ``index``: as DCGM counts. ``xid``: the last Xid error, None if no server has one.

    ``use``: busy; idle: memory is held, and utilization is at most 10 %; free; lost; unknown. ``tensor_percent`` and
    ``power_w``: only of hosts that are looked at in detail.
    """

    index: str
    utilization_percent: float | None = None
    memory_used_bytes: int | None = None
    memory_total_bytes: int | None = None
    xid: int | None = None
    use: str = "unknown"
    tensor_percent: float | None = None
    power_w: float | None = None

    @property
    def memory_percent(self) -> float | None:
        """Return the used share of its memory."""
        return share(self.memory_used_bytes, self.memory_total_bytes)


class Holding(Struct, frozen=True, kw_only=True, gc=False):
    """GPUs of a host that a job holds, or all that a user holds if ``job`` is empty. ``user``: empty if unknown.

    ``count``: how many; ``gpus``: those of them whose index is known.
    """

    user: str
    count: int
    job: str = ""
    gpus: tuple[str, ...] = ()


class FleetHost(Struct, frozen=True, kw_only=True, gc=False):
    """A host. ``instances``: the addresses from which a server scrapes it; ``server``: that server.

    ``labels``: those that the user asked for. ``problem``: why the values are missing or old.
    ``users`` and ``findings`` are known only where ``gputop export`` runs; ``jobs`` also where a label of dcgm-exporter
    names them.
    """

    name: str
    server: str
    instances: tuple[str, ...]
    models: tuple[str, ...] = ()
    labels: dict[str, str] = {}
    gpus: tuple[FleetGpu, ...] = ()
    tensor_percent: float | None = None
    power_w: float | None = None
    temperature_c: float | None = None
    jobs: tuple[str, ...] | None = None
    users: tuple[str, ...] | None = None
    findings: tuple[str, ...] | None = None
    holdings: tuple[Holding, ...] = ()
    age_s: float | None = None
    problem: str = ""

    @property
    def key(self) -> tuple[str, str]:
        """Return the identity, which stays the same from one reading to the next."""
        return self.server, self.name

    @property
    def utilization_percent(self) -> float | None:
        """Return the mean utilization of the GPUs that have one."""
        known = [gpu.utilization_percent for gpu in self.gpus if gpu.utilization_percent is not None]
        return sum(known) / len(known) if known else None

    @property
    def memory_used_bytes(self) -> int | None:
        """Return the used memory of all GPUs."""
        return total(gpu.memory_used_bytes for gpu in self.gpus)

    @property
    def memory_total_bytes(self) -> int | None:
        """Return the memory of all GPUs."""
        return total(gpu.memory_total_bytes for gpu in self.gpus)

    def count(self, use: str) -> int:
        """Return the number of GPUs in this use."""
        return sum(gpu.use == use for gpu in self.gpus)


class FleetServer(Struct, frozen=True, kw_only=True):
    """A server, or the exporters themselves. ``problems``: what could not be asked, and why."""

    name: str
    took_s: float
    problems: tuple[str, ...] = ()


class FleetAlert(Struct, frozen=True, kw_only=True):
    """An alert that fires. ``host``: empty if it names none."""

    name: str
    severity: str
    host: str
    summary: str
    server: str


class Totals(Struct, frozen=True, kw_only=True):
    """Sums over hosts, or over the GPUs of them that a user or job holds.

    ``down``: hosts without values of GPUs. ``unknown``: GPUs whose use is unknown, or that are held without it being
    known which they are. ``power_w``: None for parts of hosts.
    """

    hosts: int
    down: int
    gpus: int
    busy: int
    idle: int
    free: int
    lost: int
    unknown: int
    utilization_percent: float | None
    memory_used_bytes: int | None
    memory_total_bytes: int | None
    power_w: float | None

    def count(self, use: str) -> int:
        """Return the number of GPUs in this use."""
        return int(getattr(self, use))


class Fleet(Struct, frozen=True, kw_only=True):
    """All hosts at one moment. ``alerts``: those that fire; None if no server has rules to ask for."""

    time_s: float
    totals: Totals
    servers: tuple[FleetServer, ...] = ()
    hosts: tuple[FleetHost, ...] = ()
    alerts: tuple[FleetAlert, ...] | None = None
    simulated: bool = False


def totals(hosts: Sequence[FleetHost]) -> Totals:
    """Return the sums over hosts."""
    gpus = [gpu for host in hosts for gpu in host.gpus]
    return totals_of(hosts, gpus, len(gpus), total(host.power_w for host in hosts))


def totals_of(hosts: Sequence[FleetHost], gpus: Sequence[FleetGpu], count: int, power_w: float | None) -> Totals:
    """Return the sums over GPUs of some hosts. ``count``: of GPUs, also of those that are not known."""
    uses = Counter([gpu.use for gpu in gpus])
    known = [gpu.utilization_percent for gpu in gpus if gpu.utilization_percent is not None]
    return Totals(
        hosts=len(hosts),
        down=sum(not host.gpus for host in hosts),
        gpus=count,
        busy=uses["busy"],
        idle=uses["idle"],
        free=uses["free"],
        lost=uses["lost"],
        unknown=count - uses["busy"] - uses["idle"] - uses["free"] - uses["lost"],
        utilization_percent=sum(known) / len(known) if known else None,
        memory_used_bytes=total([gpu.memory_used_bytes for gpu in gpus]),
        memory_total_bytes=total([gpu.memory_total_bytes for gpu in gpus]),
        power_w=power_w,
    )


def use_of(utilization_percent: float | None, used: float | None, whole: float | None) -> str:
    """Return how a GPU is used. Without a utilization or its used memory that is unknown."""
    if utilization_percent is not None and utilization_percent > BUSY_PERCENT:
        return "busy"
    if utilization_percent is None or used is None:
        return "unknown"
    return "idle" if is_held(used, whole) else "free"


def total(values: Iterable[N | None]) -> N | None:
    """Return the sum of the known values; None if there is none."""
    known = [value for value in values if value is not None]
    return sum(known) if known else None
