"""What the user wants to see of a fleet, and from where."""

from typing import TypeVar

from msgspec import Struct

from gputop.core.fleet.groups import OF_HOLDERS, OF_HOSTS


class FleetRequest(Struct, frozen=True, kw_only=True):
    """A question for a fleet. ``prometheus``: base URLs of servers; ``http_config``: a file with their credentials.

    ``hosts``: exporters to read without a server. ``labels``: further labels to show. ``where``: filters of hosts
    that must all match. ``timeout_s``: per question. ``interval_s``: between two readings of the screen. ``format``:
    empty for the screen on a terminal, and a table elsewhere. ``by``: groups in place of hosts: by user,
    job, model, server or a label.
    """

    prometheus: tuple[str, ...] = ()
    http_config: str | None = None
    hosts: tuple[str, ...] = ()
    port: int = 9400
    is_demo: bool = False
    labels: tuple[str, ...] = ()
    where: tuple[str, ...] = ()
    by: str = ""
    sort: str = ""
    is_reversed: bool = False
    timeout_s: float = 10.0
    interval_s: float = 15.0
    format: str = ""

    @property
    def asked_labels(self) -> tuple[str, ...]:
        """Return the labels to ask for: those to show, and the one to group by."""
        is_label = self.by and self.by not in {*OF_HOLDERS, *OF_HOSTS}
        return tuple(dict.fromkeys((*self.labels, self.by) if is_label else self.labels))


class FleetFreeRequest(FleetRequest, frozen=True, kw_only=True):
    """A question for hosts with free GPUs. ``count``: on one host; ``over_s``: free for so long."""

    count: int = 1
    over_s: float = 300.0


Request = TypeVar("Request", bound=FleetRequest)
