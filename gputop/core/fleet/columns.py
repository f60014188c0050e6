"""The columns of the table of hosts, one row each."""

from collections.abc import Callable, Sequence
from typing import Final, Generic, TypeAlias

from gputop.core.fleet.build import natural
from gputop.core.fleet.model import Fleet, FleetHost
from gputop.core.model.field import Field, R, SortValue
from gputop.core.model.metric import Unit
from gputop.core.model.units import NOTHING, bytes_text, duration_text, percent_text, share
from gputop.core.query.vocabulary import Test, Vocabulary, words_of


class FleetColumn(Field[R], Generic[R], frozen=True, kw_only=True):
    """A column of a table of the fleet. ``is_left``: aligned to the left."""

    help: str
    is_left: bool = False


HostColumn: TypeAlias = FleetColumn[FleetHost]


_FEW: Final = 2


def _count(use: str) -> Callable[[FleetHost], SortValue]:
    return lambda host: host.count(use) if host.gpus else None


def _number(key: str, use: str, what: str) -> HostColumn:
    value = _count(use)
    return FleetColumn(
        key=key, title=key.upper(), text=lambda host: whole_text(value(host)), sort=value, help=f"number of {what} GPUs"
    )


def whole_text(value: SortValue) -> str:
    """Return a count."""
    return NOTHING if value is None else str(value)


def _memory(host: FleetHost) -> float | None:
    return share(host.memory_used_bytes, host.memory_total_bytes)


def names_text(names: tuple[str, ...] | None) -> str:
    """Return the first names, and how many more there are."""
    if names is None:
        return NOTHING
    return ",".join(names[:_FEW]) + (f" +{len(names) - _FEW}" if len(names) > _FEW else "")


def _labels(host: FleetHost) -> str:
    return ",".join(host.labels.values())


HOST_COLUMNS: Final[tuple[HostColumn, ...]] = (
    FleetColumn(
        key="host", title="HOST", is_text=True, is_left=True, words=("name",), help="name of the host",
        text=lambda host: host.name, sort=lambda host: host.name,
    ),
    FleetColumn(
        key="server", title="SERVER", is_text=True, is_left=True, help="the Prometheus server that knows the host",
        text=lambda host: host.server, sort=lambda host: host.server,
    ),
    FleetColumn(
        key="label", title="LABELS", is_text=True, is_left=True, words=("labels",), help="labels named with --label",
        text=_labels, sort=_labels, value=lambda host: tuple(host.labels.values()),
    ),
    FleetColumn(
        key="model", title="MODEL", is_text=True, is_left=True, words=("gpu",), help="models of its GPUs",
        text=lambda host: ",".join(host.models), sort=lambda host: ",".join(host.models),
        value=lambda host: (*host.models, *(word for model in host.models for word in model.replace("-", " ").split())),
    ),
    FleetColumn(
        key="gpus", title="GPUS", help="number of GPUs",
        text=lambda host: str(len(host.gpus)) if host.gpus else NOTHING,
        sort=lambda host: len(host.gpus) if host.gpus else None,
    ),
    _number("busy", "busy", "busy"),
    _number("idle", "idle", "idle"),
    _number("free", "free", "free"),
    _number("lost", "lost", "lost"),
    FleetColumn(
        key="util", title="UTIL", unit=Unit.PERCENT, words=("utilization", "sm"), help="mean utilization of its GPUs",
        text=lambda host: percent_text(host.utilization_percent), sort=lambda host: host.utilization_percent,
    ),
    FleetColumn(
        key="tensor", title="TENSOR", unit=Unit.PERCENT, help="mean activity of its tensor cores",
        text=lambda host: percent_text(host.tensor_percent), sort=lambda host: host.tensor_percent,
    ),
    FleetColumn(
        key="mem", title="MEM%", unit=Unit.PERCENT, words=("memory",), help="used share of its GPU memory",
        text=lambda host: percent_text(_memory(host)), sort=_memory,
    ),
    FleetColumn(
        key="used", title="USED", unit=Unit.BYTES, help="used GPU memory",
        text=lambda host: bytes_text(host.memory_used_bytes), sort=lambda host: host.memory_used_bytes,
    ),
    FleetColumn(
        key="power", title="POWER", unit=Unit.WATTS, help="power of its GPUs",
        text=lambda host: NOTHING if host.power_w is None else f"{host.power_w:,.0f}W", sort=lambda host: host.power_w,
    ),
    FleetColumn(
        key="temp", title="TEMP", unit=Unit.CELSIUS, words=("temperature",), help="temperature of its hottest GPU",
        text=lambda host: NOTHING if host.temperature_c is None else f"{host.temperature_c:.0f}°C",
        sort=lambda host: host.temperature_c,
    ),
    FleetColumn(
        key="jobs", title="JOBS", is_text=True, is_left=True, words=("job",), help="jobs on it",
        text=lambda host: names_text(host.jobs), sort=lambda host: names_text(host.jobs), value=lambda host: host.jobs,
    ),
    FleetColumn(
        key="users", title="USERS", is_text=True, is_left=True, words=("user",), help="users of its GPUs",
        text=lambda host: names_text(host.users), sort=lambda host: names_text(host.users),
        value=lambda host: host.users,
    ),
    FleetColumn(
        key="findings", title="FINDINGS", is_text=True, is_left=True, words=("finding",), help="problems found on it",
        text=lambda host: names_text(host.findings), sort=lambda host: names_text(host.findings),
        value=lambda host: host.findings,
    ),
    FleetColumn(
        key="age", title="AGE", unit=Unit.SECONDS, help="age of its values",
        text=lambda host: duration_text(host.age_s), sort=lambda host: host.age_s,
    ),
    FleetColumn(
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


def sorted_by(rows: Sequence[R], column: FleetColumn[R], *, is_reversed: bool = False) -> list[R]:
    """Return rows in the order of a column: numbers from the largest, names from the first, absent values last."""
    known = [row for row in rows if column.sort(row) is not None]
    rest = [row for row in rows if column.sort(row) is None]
    if column.is_text:
        known.sort(key=lambda row: natural(str(column.sort(row))), reverse=is_reversed)
    else:
        known.sort(key=lambda row: float(column.sort(row) or 0), reverse=not is_reversed)
    return known + rest
