"""The part of a fleet that the user wants to see."""

from collections.abc import Sequence
from typing import Protocol

from msgspec.structs import replace

from gputop.core.fleet.columns import HostColumn, sorted_by
from gputop.core.fleet.model import Fleet, FleetHost, totals


class Keeps(Protocol):
    """A test of hosts."""

    def keeps(self, row: FleetHost) -> bool:
        """Return whether a host is wanted."""
        ...


def chosen(fleet: Fleet, filters: Sequence[Keeps], column: HostColumn, *, is_reversed: bool = False) -> Fleet:
    """Return the fleet with the hosts that all filters keep, in the order of a column, and their totals."""
    kept = tuple(host for host in fleet.hosts if all(one.keeps(host) for one in filters))
    hosts = tuple(sorted_by(kept, column, is_reversed=is_reversed))
    return replace(fleet, hosts=hosts, totals=totals(hosts))
