"""The ranks of a job, which are the GPUs that it holds on all of its hosts, and those that are unlike the others."""

from collections.abc import Callable, Mapping, Sequence
from statistics import mean, median
from typing import Final, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from gputop.core.fleet.build import natural
from gputop.core.fleet.model import FleetGpu, FleetHost
from gputop.core.fleet.outlier import LEAST_MEMBERS, outliers

K = TypeVar("K")


class Rank(Struct, frozen=True, kw_only=True, gc=False):
    """A GPU that a job holds. ``model``: of the GPUs of its host.

    ``odd``: in which values it is unlike the other ranks; empty if in none.
    """

    host: str
    server: str
    model: str
    gpu: FleetGpu
    odd: str = ""

    @property
    def name(self) -> str:
        """Return the rank in words."""
        return f"{self.host} GPU {self.gpu.index}"


class _Measure(Struct, frozen=True):
    """A value by which ranks are compared. ``least``: the difference that matters, given the usual value.

    ``is_of_model``: only GPUs of the same model can be compared by it.
    """

    name: str
    of: Callable[[FleetGpu], float | None]
    least: Callable[[float], float]
    unit: str = "%"
    is_of_model: bool = False


_LOAD: Final = (
    _Measure("utilization", lambda gpu: gpu.utilization_percent, lambda _: 15.0),
    _Measure("tensor activity", lambda gpu: gpu.tensor_percent, lambda _: 10.0),
    _Measure("power", lambda gpu: gpu.power_w, lambda usual: max(50.0, 0.15 * usual), " W", is_of_model=True),
)
_ALL: Final = (*_LOAD, _Measure("memory", lambda gpu: gpu.memory_percent, lambda _: 15.0))


def ranks_of(parts: Sequence[tuple[FleetHost, Sequence[FleetGpu]]]) -> tuple[Rank, ...]:
    """Return the ranks on some hosts, by host and GPU, each with the values in which it is unlike the others."""
    found = {
        (host.server, host.name, gpu.index): Rank(
            host=host.name, server=host.server, model=",".join(host.models), gpu=gpu
        )
        for host, gpus in parts
        for gpu in gpus
    }
    odd: dict[tuple[str, str, str], list[str]] = {}
    for measure in _comparable(tuple(found.values()), _ALL):
        for key, text in _unlike({key: [rank.gpu] for key, rank in found.items()}, measure).items():
            odd.setdefault(key, []).append(text)
    ranks = [replace(rank, odd="; ".join(odd[key])) if key in odd else rank for key, rank in found.items()]
    return tuple(sorted(ranks, key=lambda rank: (natural(rank.host), natural(rank.gpu.index))))


def has_comparable_load(ranks: Sequence[Rank]) -> bool:
    """Return whether enough ranks have a value of the same measure of load to find a straggler."""
    return any(
        sum(measure.of(rank.gpu) is not None for rank in ranks) >= LEAST_MEMBERS
        for measure in _comparable(ranks, _LOAD)
    )


def straggler(ranks: Sequence[Rank]) -> str:
    """Return the rank whose load is unlike that of the others, with both numbers; empty if there is none.

    A rank that does less is behind; a rank that does more works while the others wait for it.
    """
    return _first({rank.name: [rank.gpu] for rank in ranks}, _comparable(ranks, _LOAD))


def odd_host(ranks: Sequence[Rank]) -> str:
    """Return the host whose mean load or memory is unlike that of the others, with both numbers; empty if none is."""
    hosts: dict[str, list[FleetGpu]] = {}
    for rank in ranks:
        hosts.setdefault(rank.host, []).append(rank.gpu)
    return _first(hosts, _comparable(ranks, _ALL))


def _comparable(ranks: Sequence[Rank], measures: Sequence[_Measure]) -> Sequence[_Measure]:
    """Return the measures by which all of these ranks can be compared."""
    is_one_model = len({rank.model for rank in ranks}) <= 1
    return [measure for measure in measures if is_one_model or not measure.is_of_model]


def _first(members: Mapping[str, Sequence[FleetGpu]], measures: Sequence[_Measure]) -> str:
    """Return the member that is farthest from the others in the first of the measures that has one."""
    for measure in measures:
        far = _unlike(members, measure)
        if far:
            name, text = next(iter(far.items()))
            return f"{name}{f' (+{len(far) - 1})' if len(far) > 1 else ''}: {text}"
    return ""


def _unlike(members: Mapping[K, Sequence[FleetGpu]], measure: _Measure) -> dict[K, str]:
    """Return the members whose mean is far from that of the others, the farthest first."""
    known = {key: [value for gpu in gpus if (value := measure.of(gpu)) is not None] for key, gpus in members.items()}
    means = {key: mean(values) for key, values in known.items() if values}
    far = outliers(means, measure.least(median(means.values()))) if means else {}
    others = median(value for key, value in means.items() if key not in far) if far else 0.0
    return {
        key: f"{measure.name} {value:.0f}{measure.unit}, others {others:.0f}{measure.unit}"
        for key, value in far.items()
    }
