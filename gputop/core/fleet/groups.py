"""Hosts of a fleet by a common property, and the GPUs that each user or job holds."""

from collections.abc import Iterator, Sequence
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from gputop.core.fleet.holders import job_name
from gputop.core.fleet.model import FleetGpu, FleetHost, FleetServer, Totals, total, totals_of
from gputop.core.fleet.ranks import Rank, odd_host, ranks_of, straggler

USER: Final = "user"
JOB: Final = "job"
MODEL: Final = "model"
SERVER: Final = "server"
OF_HOLDERS: Final = (USER, JOB)
OF_HOSTS: Final = (MODEL, SERVER)
_NONE: Final = "(none)"
_UNKNOWN: Final = "(unknown)"


class Member(Struct, frozen=True, kw_only=True, gc=False):
    """The part of a host that belongs to a group. ``gpus``: indices of those of its GPUs that are known to."""

    host: str
    server: str
    gpus: tuple[str, ...]


class Group(Struct, frozen=True, kw_only=True):
    """Hosts with a common property, or the GPUs that a user or job holds on several hosts.

    Of a job only, ``ranks``: its GPUs; ``odd`` and ``straggler``: the host and the rank that are unlike the others.
    """

    name: str
    members: tuple[Member, ...]
    totals: Totals
    users: tuple[str, ...] | None
    jobs: tuple[str, ...] | None
    odd: str = ""
    straggler: str = ""
    ranks: tuple[Rank, ...] = ()


class FleetGroups(Struct, frozen=True, kw_only=True):
    """A fleet by groups. ``by``: the property."""

    time_s: float
    by: str
    servers: tuple[FleetServer, ...]
    groups: tuple[Group, ...]
    simulated: bool = False


class _Part(Struct, frozen=True):
    """What a host adds to a group. ``count``: of GPUs, of which ``gpus`` are known."""

    host: FleetHost
    gpus: Sequence[FleetGpu]
    count: int
    users: tuple[str, ...] | None
    jobs: tuple[str, ...] | None


def grouped(hosts: Sequence[FleetHost], by: str) -> tuple[Group, ...]:
    """Return the groups by user, job, model, server or the name of a label, those with most GPUs first."""
    found: dict[str, list[_Part]] = {}
    for host in hosts:
        for name, part in _holders(host, by) if by in OF_HOLDERS else _whole(host, by):
            found.setdefault(name, []).append(part)
    of_parts = _job if by == JOB else _group
    groups = [of_parts(name, parts) for name, parts in found.items()]
    return tuple(sorted(groups, key=lambda group: -group.totals.gpus))


def _whole(host: FleetHost, by: str) -> Iterator[tuple[str, _Part]]:
    name = ",".join(host.models) if by == MODEL else host.server if by == SERVER else host.labels.get(by, "")
    yield name or _NONE, _Part(host, host.gpus, len(host.gpus), host.users, host.jobs)


def _holders(host: FleetHost, by: str) -> Iterator[tuple[str, _Part]]:
    by_index = {gpu.index: gpu for gpu in host.gpus}
    for one in host.holdings:
        if bool(one.job) is (by == JOB):
            gpus = [by_index[index] for index in one.gpus if index in by_index]
            jobs = (one.job,) if one.job else tuple(other.job for other in host.holdings if other.user == one.user)
            name = job_name(one.job, host.name) if one.job else one.user or _UNKNOWN
            yield name, _Part(host, gpus, one.count, (one.user,) if one.user else None, tuple(filter(None, jobs)))


def _job(name: str, parts: Sequence[_Part]) -> Group:
    ranks = ranks_of([(part.host, part.gpus) for part in parts])
    return replace(_group(name, parts), odd=odd_host(ranks), straggler=straggler(ranks), ranks=ranks)


def _group(name: str, parts: Sequence[_Part]) -> Group:
    gpus = [gpu for part in parts for gpu in part.gpus]
    is_whole = all(len(part.gpus) == len(part.host.gpus) for part in parts)
    return Group(
        name=name,
        members=tuple(
            Member(host=part.host.name, server=part.host.server, gpus=tuple(gpu.index for gpu in part.gpus))
            for part in parts
        ),
        totals=totals_of(
            [part.host for part in parts],
            gpus,
            sum(part.count for part in parts),
            total(part.host.power_w for part in parts) if is_whole else None,
        ),
        users=_joined([part.users for part in parts]),
        jobs=_joined([part.jobs for part in parts]),
    )


def _joined(names: Sequence[tuple[str, ...] | None]) -> tuple[str, ...] | None:
    known = [some for some in names if some is not None]
    return tuple(sorted({name for some in known for name in some})) if known else None
