"""The part of a fleet that the user wants to see."""

from collections.abc import Sequence

from msgspec.structs import replace

from gputop.core.fleet.columns import HostColumn, sorted_hosts
from gputop.core.fleet.model import Fleet, FleetHost, totals
from gputop.core.query.filter import Filter


def chosen(
    fleet: Fleet, filters: Sequence[Filter[FleetHost]], column: HostColumn, *, is_reversed: bool = False
) -> Fleet:
    """Return the fleet with the hosts that all filters keep, in the order of a column, and their totals."""
    kept = tuple(host for host in fleet.hosts if all(one.keeps(host) for one in filters))
    hosts = tuple(sorted_hosts(kept, column, is_reversed=is_reversed))
    return replace(fleet, hosts=hosts, totals=totals(hosts))
