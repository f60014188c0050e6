"""Hosts with free GPUs."""

import os
import sys
from typing import Final

from msgspec import Struct

from gputop.app.errors import UNKNOWN
from gputop.app.fleet.readers import reader_of
from gputop.app.fleet.request import FleetFreeRequest
from gputop.app.fleet.show import filters_of, status
from gputop.app.terminal import print_json, warn
from gputop.core.fleet.choice import chosen
from gputop.core.fleet.columns import HOST_COLUMN_BY_WORD
from gputop.core.fleet.model import FleetHost
from gputop.core.model.units import duration_text
from gputop.report.grid import Cell, Layout, draw, look

_FOUND: Final = 0
_NONE: Final = 1


class FreeHost(Struct, frozen=True, kw_only=True):
    """A host with free GPUs. ``gpus``: their indices; ``total``: the number of all of its GPUs."""

    host: str
    server: str
    models: tuple[str, ...]
    gpus: tuple[str, ...]
    total: int
    age_s: float | None


class FreeHosts(Struct, frozen=True, kw_only=True):
    """The hosts with enough free GPUs, those with the fewest first.

    ``over_s``: for so long their GPUs were free; 0: at one moment.
    """

    time_s: float
    count: int
    over_s: float
    hosts: tuple[FreeHost, ...]


def free_hosts(request: FleetFreeRequest) -> int:
    """Print the hosts with enough free GPUs, and return the exit status."""
    filters = filters_of(request.where)
    over_s = request.over_s if request.prometheus else 0.0
    fleet = chosen(reader_of(request, over_s=int(over_s)).read(), filters, HOST_COLUMN_BY_WORD["host"])
    hosts = [host for host in fleet.hosts if not host.problem and host.count("free") >= request.count]
    hosts.sort(key=lambda host: host.count("free"))  # the smallest sufficient gap first: large ones stay whole
    if request.format == "json":
        found = tuple(map(_free, hosts))
        print_json(FreeHosts(time_s=fleet.time_s, count=request.count, over_s=over_s, hosts=found))
    elif hosts:
        room, style = look(sys.stdout, os.environ)
        rows = [[Cell(text) for text in ("HOST", "FREE", "GPUS", "MODEL")], *map(_row, hosts)]
        print("\n".join(draw(rows, Layout(frozenset({1}), 3, room), style)))
    if status(fleet, is_table=False) == UNKNOWN:
        return UNKNOWN
    if not hosts:
        when = f" over the last {duration_text(over_s)}" if over_s else ""
        warn(f"no host has {request.count} free GPUs{when}: {fleet.totals.free} of {fleet.totals.gpus} are free in all")
    return _FOUND if hosts else _NONE


def _free(host: FleetHost) -> FreeHost:
    return FreeHost(
        host=host.name,
        server=host.server,
        models=host.models,
        gpus=tuple(gpu.index for gpu in host.gpus if gpu.use == "free"),
        total=len(host.gpus),
        age_s=host.age_s,
    )


def _row(host: FleetHost) -> list[Cell]:
    found = _free(host)
    return [
        Cell(host.name),
        Cell(f"{len(found.gpus)}/{found.total}"),
        Cell(",".join(found.gpus)),
        Cell(",".join(found.models)),
    ]
