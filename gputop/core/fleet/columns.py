"""The columns of the table of hosts, one row each."""

from collections.abc import Callable
from typing import Final

from gputop.core.fleet.build import natural
from gputop.core.fleet.model import Fleet, FleetHost
from gputop.core.model.field import Field, SortValue
from gputop.core.model.metric import Unit
from gputop.core.model.units import NOTHING, bytes_text, duration_text, percent_text, share
from gputop.core.query.vocabulary import Test, Vocabulary, words_of


class HostColumn(Field[FleetHost], frozen=True, kw_only=True):
    """A column of the table of hosts. ``is_left``: aligned to the left."""

    help: str
    is_left: bool = False


_FEW: Final = 2


def _count(use: str) -> Callable[[FleetHost], SortValue]:
    return lambda host: host.count(use) if host.gpus else None


def _number(key: str, use: str, what: str) -> HostColumn:
    value = _count(use)
    return HostColumn(
        key=key, title=key.upper(), text=lambda host: _whole(value(host)), sort=value, help=f"number of {what} GPUs"
    )


def _whole(value: SortValue) -> str:
    return NOTHING if value is None else str(value)


def _memory(host: FleetHost) -> float | None:
    return share(host.memory_used_bytes, host.memory_total_bytes)


def _names(names: tuple[str, ...] | None) -> str:
    """Return the first names, and how many more there are."""
    if names is None:
        return NOTHING
    return ",".join(names[:_FEW]) + (f" +{len(names) - _FEW}" if len(names) > _FEW else "")


def _labels(host: FleetHost) -> str:
    return ",".join(host.labels.values())


HOST_COLUMNS: Final = (
    HostColumn(
        key="host", title="HOST", is_text=True, is_left=True, words=("name",), help="name of the host",
        text=lambda host: host.name, sort=lambda host: host.name,
    ),
    HostColumn(
        key="server", title="SERVER", is_text=True, is_left=True, help="the Prometheus server that knows the host",
        text=lambda host: host.server, sort=lambda host: host.server,
    ),
    HostColumn(
        key="label", title="LABELS", is_text=True, is_left=True, words=("labels",), help="labels named with --label",
        text=_labels, sort=_labels, value=lambda host: tuple(host.labels.values()),
    ),
    HostColumn(
        key="model", title="MODEL", is_text=True, is_left=True, words=("gpu",), help="models of its GPUs",
        text=lambda host: ",".join(host.models), sort=lambda host: ",".join(host.models),
        value=lambda host: (*host.models, *(word for model in host.models for word in model.replace("-", " ").split())),
    ),
    HostColumn(
        key="gpus", title="GPUS", help="number of GPUs",
        text=lambda host: str(len(host.gpus)) if host.gpus else NOTHING,
        sort=lambda host: len(host.gpus) if host.gpus else None,
    ),
    _number("busy", "busy", "busy"),
    _number("idle", "idle", "idle"),
    _number("free", "free", "free"),
    _number("lost", "lost", "lost"),
    HostColumn(
        key="util", title="UTIL", unit=Unit.PERCENT, words=("utilization", "sm"), help="mean utilization of its GPUs",
        text=lambda host: percent_text(host.utilization_percent), sort=lambda host: host.utilization_percent,
    ),
    HostColumn(
        key="tensor", title="TENSOR", unit=Unit.PERCENT, help="mean activity of its tensor cores",
        text=lambda host: percent_text(host.tensor_percent), sort=lambda host: host.tensor_percent,
    ),
    HostColumn(
        key="mem", title="MEM%", unit=Unit.PERCENT, words=("memory",), help="used share of its GPU memory",
        text=lambda host: percent_text(_memory(host)), sort=_memory,
    ),
    HostColumn(
        key="used", title="USED", unit=Unit.BYTES, help="used GPU memory",
        text=lambda host: bytes_text(host.memory_used_bytes), sort=lambda host: host.memory_used_bytes,
    ),
    HostColumn(
        key="power", title="POWER", unit=Unit.WATTS, help="power of its GPUs",
        text=lambda host: NOTHING if host.power_w is None else f"{host.power_w:,.0f}W", sort=lambda host: host.power_w,
    ),
    HostColumn(
        key="temp", title="TEMP", unit=Unit.CELSIUS, words=("temperature",), help="temperature of its hottest GPU",
        text=lambda host: NOTHING if host.temperature_c is None else f"{host.temperature_c:.0f}°C",
        sort=lambda host: host.temperature_c,
    ),
    HostColumn(
        key="jobs", title="JOBS", is_text=True, is_left=True, words=("job",), help="jobs on it",
        text=lambda host: _names(host.jobs), sort=lambda host: _names(host.jobs), value=lambda host: host.jobs,
    ),
    HostColumn(
        key="users", title="USERS", is_text=True, is_left=True, words=("user",), help="users of its GPUs",
        text=lambda host: _names(host.users), sort=lambda host: _names(host.users), value=lambda host: host.users,
    ),
    HostColumn(
        key="findings", title="FINDINGS", is_text=True, is_left=True, words=("finding",), help="problems found on it",
        text=lambda host: _names(host.findings), sort=lambda host: _names(host.findings),
        value=lambda host: host.findings,
    ),
    HostColumn(
        key="age", title="AGE", unit=Unit.SECONDS, help="age of its values",
        text=lambda host: duration_text(host.age_s), sort=lambda host: host.age_s,
    ),
    HostColumn(
        key="problem", title="PROBLEM", is_text=True, is_left=True, words=("state",),
        help="why values are missing or old",
        text=lambda host: host.problem, sort=lambda host: host.problem, value=lambda host: host.problem,
    ),
)  # fmt: skip


def _search(text: str) -> Test[FleetHost]:
    """Return the test whether the name or a model of a host contains a text."""
    return lambda host: text in host.name.lower() or any(text in model.lower() for model in host.models)


HOST_COLUMN_BY_WORD: Final = words_of(HOST_COLUMNS)
HOSTS: Final = Vocabulary(HOST_COLUMN_BY_WORD, _search)


_USUAL: Final = (
    "host", "server", "label", "gpus", "util", "tensor", "mem", "power", "temp", "jobs", "users", "findings", "age",
    "problem",
)  # fmt: skip
_IF_USED: Final = frozenset({"server", "label", "jobs", "users", "findings", "problem"})
_BY_KEY: Final = {column.key: column for column in HOST_COLUMNS}


def shown_columns(fleet: Fleet) -> list[HostColumn]:
    """Return the columns that say something of the hosts of a fleet."""
    used = {key for key in _IF_USED if any(_BY_KEY[key].sort(host) not in {None, "", NOTHING} for host in fleet.hosts)}
    used -= set() if len(fleet.servers) > 1 else {"server"}
    return [_BY_KEY[key] for key in _USUAL if key not in _IF_USED or key in used]


def sorted_hosts(hosts: tuple[FleetHost, ...], column: HostColumn, *, is_reversed: bool = False) -> list[FleetHost]:
    """Return hosts in the order of a column: numbers from the largest, names from the first, absent values last."""
    known = [host for host in hosts if column.sort(host) is not None]
    rest = [host for host in hosts if column.sort(host) is None]
    if column.is_text:
        known.sort(key=lambda host: natural(str(column.sort(host))), reverse=is_reversed)
    else:
        known.sort(key=lambda host: float(column.sort(host) or 0), reverse=not is_reversed)
    return known + rest
