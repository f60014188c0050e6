"""Options of the fleet screen."""

from msgspec import Struct

from gputop.core.fleet.model import FleetHost
from gputop.core.query.filter import Filter
from gputop.ui.input.keymap import Keymap


class FleetOptions(Struct, frozen=True, kw_only=True):
    """What a fleet screen shows, and how. ``interval_s``: between the end of a reading and the next.

    ``by``: the groups to begin with; empty for hosts. ``labels``: those of each host.
    ``opens_hosts``: a chosen host ends the app, which then names it; else a page shows the host.
    """

    keys: Keymap
    theme: str = "auto"
    is_ascii: bool = False
    writes_changes_only: bool = True
    where: tuple[Filter[FleetHost], ...] = ()
    sort: str = "host"
    by: str = ""
    group_sort: str = "gpus"
    labels: tuple[str, ...] = ()
    is_reversed: bool = False
    interval_s: float = 15.0
    opens_hosts: bool = False
