"""What the fleet screen shows: hosts as a table or a map, or groups of them; filter, order and cursor of each view."""

from collections.abc import Sequence
from typing import Final, TypeAlias

from gputop.core.fleet.choice import chosen
from gputop.core.fleet.columns import HOST_COLUMN_BY_WORD, HOSTS, sorted_by
from gputop.core.fleet.group_columns import GROUP_COLUMN_BY_WORD
from gputop.core.fleet.groups import JOB, MODEL, SERVER, USER, Group, grouped
from gputop.core.fleet.model import Fleet, FleetHost
from gputop.core.query.filter import Filter
from gputop.core.query.parser import QueryError, read
from gputop.ui.screens.fleet.options import FleetOptions

HOST_VIEW: Final = "hosts"
MAP_VIEW: Final = "map"
_HOST_SORTS: Final = ("host", "free", "idle", "util", "tensor", "mem", "power", "temp", "findings", "age")
_GROUP_SORTS: Final = ("gpus", "idle", "busy", "util", "mem", "hosts", "name")
Key: TypeAlias = tuple[str, str]


class FleetState:
    """The choices of the user, and the rows that follow from them and from the last reading."""

    def __init__(self, options: FleetOptions) -> None:
        self._where = options.where
        self._sorts = {HOST_VIEW: options.sort, USER: options.group_sort}
        self._reversed = {HOST_VIEW} if options.is_reversed and not options.by else set()
        self._reversed |= {USER} if options.is_reversed and options.by else set()
        self._cursors: dict[str, Key] = {}
        self._labels = options.labels
        self.view = options.by or HOST_VIEW
        self.whole: Fleet | None = None
        self.fleet: Fleet | None = None
        self.groups: tuple[Group, ...] = ()
        self.text = ""  # of the filter
        self.problem = ""
        self.within: tuple[str, str] | None = None  # property and name of a group: only its hosts are shown
        self.at = 0

    # --- rows ----------------------------------------------------------------------------------------------------
    @property
    def is_of_hosts(self) -> bool:
        """Return whether each row is a host."""
        return self.view in {HOST_VIEW, MAP_VIEW}

    @property
    def rows(self) -> Sequence[FleetHost | Group]:
        """Return the rows of the view."""
        return (self.fleet.hosts if self.fleet is not None else ()) if self.is_of_hosts else self.groups

    @property
    def host(self) -> FleetHost | None:
        """Return the host under the cursor."""
        return self.fleet.hosts[self.at] if self.is_of_hosts and self.fleet is not None and self.rows else None

    @property
    def group(self) -> Group | None:
        """Return the group under the cursor."""
        return self.groups[self.at] if not self.is_of_hosts and self.groups else None

    @property
    def sort(self) -> str:
        """Return the key of the column by which the view is sorted."""
        return self._sorts[self._kind]

    @property
    def title(self) -> str:
        """Return the title of that column."""
        return (HOST_COLUMN_BY_WORD if self.is_of_hosts else GROUP_COLUMN_BY_WORD)[self.sort].title

    def filters(self) -> str:
        """Return what restricts the hosts, as text."""
        held = [f"{self.within[0]} {self.within[1]}"] if self.within else []
        return " and ".join([*map(str, self._where), *([self.text] if self.text else []), *held])

    # --- changes -------------------------------------------------------------------------------------------------
    def take(self, fleet: Fleet) -> None:
        """Take a new reading."""
        self.whole = fleet
        self.choose()

    def choose(self) -> None:
        """Apply filter and order; the cursor stays on its row."""
        if self.whole is None:
            return
        node = read(self.text, HOSTS.fields)
        filters = self._where if isinstance(node, QueryError) else (*self._where, Filter(node, HOSTS))
        self.problem = f"filter: {node}" if isinstance(node, QueryError) else ""
        sort, is_reversed = HOST_COLUMN_BY_WORD[self._sorts[HOST_VIEW]], HOST_VIEW in self._reversed
        self.fleet = chosen(self.whole, (*filters, *self._members()), sort, is_reversed=is_reversed)
        if not self.is_of_hosts:
            groups, column = grouped(self.fleet.hosts, self.view), GROUP_COLUMN_BY_WORD[self.sort]
            self.groups = tuple(sorted_by(groups, column, is_reversed=self._kind in self._reversed))
        self._find()

    def filter(self, text: str) -> None:
        """Keep only hosts that match a text; all of them for an empty one."""
        self.text = text
        self.choose()

    def turn(self, step: int) -> None:
        """Go to another view."""
        views = self.views()
        at = views.index(self.view) if self.view in views else 0
        self.show(views[(at + step) % len(views)])

    def show(self, view: str) -> None:
        """Go to a view."""
        self.view = view
        self.at = 0
        self.choose()

    def views(self) -> list[str]:
        """Return the names of all views, in their order."""
        servers = [SERVER] if self.whole is not None and len(self.whole.servers) > 1 else []
        return list(dict.fromkeys((HOST_VIEW, MAP_VIEW, USER, JOB, *self._labels, MODEL, *servers)))

    def enter(self, group: Group) -> None:
        """Show the hosts of a group."""
        self.within = self.view, group.name
        self.show(HOST_VIEW)

    def back(self) -> None:
        """Leave the group, or else remove the filter."""
        if self.within is not None:
            self.view, self.within = self.within[0], None
        else:
            self.text = ""
        self.choose()

    def move(self, step: int) -> None:
        """Move the cursor by rows."""
        if self.rows:
            self.at = max(0, min(len(self.rows) - 1, self.at + step))
            self._cursors[self._kind] = _key(self.rows[self.at])

    def sort_by(self, step: int) -> None:
        """Sort by the next column."""
        sorts = _HOST_SORTS if self.is_of_hosts else _GROUP_SORTS
        place = sorts.index(self.sort) if self.sort in sorts else 0
        self._sorts[self._kind] = sorts[(place + step) % len(sorts)]
        self._reversed.discard(self._kind)
        self.choose()

    def invert(self) -> None:
        """Reverse the order."""
        self._reversed ^= {self._kind}
        self.choose()

    @property
    def _kind(self) -> str:
        return HOST_VIEW if self.is_of_hosts else USER

    def _members(self) -> tuple["_Among", ...]:
        if self.within is None or self.whole is None:
            return ()
        by, name = self.within
        found = next((group for group in grouped(self.whole.hosts, by) if group.name == name), None)
        members = () if found is None else found.members
        return (_Among(frozenset((member.server, member.host) for member in members)),)

    def _find(self) -> None:
        rows, cursor = self.rows, self._cursors.get(self._kind)
        if cursor is not None:
            self.at = next((at for at, row in enumerate(rows) if _key(row) == cursor), self.at)
        self.at = max(0, min(self.at, len(rows) - 1))


class _Among:
    """A test whether a host is one of several."""

    def __init__(self, keys: frozenset[Key]) -> None:
        self._keys = keys

    def keeps(self, row: FleetHost) -> bool:
        """Return whether it is."""
        return row.key in self._keys


def _key(row: FleetHost | Group) -> Key:
    return row.key if isinstance(row, FleetHost) else ("", row.name)
