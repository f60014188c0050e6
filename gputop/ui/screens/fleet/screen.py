"""The fleet screen: totals above, hosts as a table or a map, a filter below."""

import time
from collections.abc import Mapping
from typing import ClassVar, Final

from textual import events
from textual.app import ComposeResult
from textual.screen import Screen

from gputop.core.fleet.choice import chosen
from gputop.core.fleet.columns import HOST_COLUMN_BY_WORD, HOSTS, shown_columns
from gputop.core.fleet.model import Fleet
from gputop.core.query.filter import Filter
from gputop.core.query.parser import QueryError, read
from gputop.ui.panels.prompt import PromptPanel
from gputop.ui.render.line import BLANK, Line, Spans
from gputop.ui.render.line_widget import FastLines
from gputop.ui.screens.fleet.host_page import HostPage
from gputop.ui.screens.fleet.keys_page import KeysPage
from gputop.ui.screens.fleet.lines import header_lines, map_lines, map_names, map_note, table_lines
from gputop.ui.screens.fleet.options import FleetOptions

_SORTS: Final = ("host", "free", "idle", "util", "tensor", "mem", "power", "temp", "findings", "age")
_TAKES: Final[Mapping[str, str]] = {
    "quit": "quit", "up": "up", "down": "down", "left": "left", "right": "right", "page-up": "page_up",
    "page-down": "page_down", "home": "home", "end": "end", "process": "open", "filter": "filter", "search": "filter",
    "sort-next": "sort_next", "sort-before": "sort_before", "sort-menu": "sort_next", "invert": "invert",
    "view-next": "view", "view-before": "view", "tree": "view", "read-now": "read_now", "back": "back",
    "redraw": "redraw", "help": "help", "theme": "theme", "suspend": "suspend",
}  # fmt: skip
_FOOTER: Final = (
    ("help", "Help"), ("process", "Host"), ("filter", "Filter"), ("sort-next", "Sort"), ("invert", "Reverse"),
    ("view-next", "Map"), ("read-now", "Ask now"), ("quit", "Quit"),
)  # fmt: skip
_HEADS: Final = 1


class FleetScreen(Screen[None]):
    """Shows a fleet. The filters of the command line always hold; another one comes from the prompt."""

    AUTO_FOCUS: ClassVar[str | None] = ""

    def __init__(self, options: FleetOptions) -> None:
        super().__init__()
        self._keys = options.keys
        self._runs = options.keys.taken(_TAKES)
        self._where = options.where
        self._sort = HOST_COLUMN_BY_WORD[options.sort]
        self._is_reversed = options.is_reversed
        self._is_map = False
        self._whole: Fleet | None = None
        self._fleet: Fleet | None = None
        self._text = ""  # of the filter
        self._problem = ""
        self._cursor: tuple[str, str] | None = None
        self._at = self._top = 0
        self.head, self.body, self.foot = FastLines(), FastLines(), FastLines()
        self.prompt = PromptPanel()

    def compose(self) -> ComposeResult:
        """Show header, hosts, prompt and keys."""
        yield self.head
        yield self.body
        yield self.prompt
        yield self.foot

    def on_mount(self) -> None:
        """Give each part its height; draw the age of the values each second."""
        self.body.styles.height = "1fr"
        self.foot.styles.height = 1
        self.set_interval(1.0, self._draw_head)
        self.draw()

    def on_resize(self) -> None:
        """Fit the new size."""
        self.draw()

    def show(self, fleet: Fleet) -> None:
        """Show a new reading."""
        self._whole = fleet
        self._choose()
        page = self.app.screen
        if isinstance(page, HostPage):
            found = next((host for host in fleet.hosts if host.key == page.host.key), None)
            if found is not None:
                page.show(found)

    # --- drawing -------------------------------------------------------------------------------------------------
    def draw(self) -> None:
        """Draw everything."""
        if not all(self.size):
            return
        self._draw_head()
        self._draw_foot()
        fleet = self._fleet
        if fleet is None:
            self.body.draw(())
            return
        room = self._room
        self._at = max(0, min(self._at, len(fleet.hosts) - 1))
        if not fleet.hosts:
            self.body.draw((BLANK, Line(((" no host matches", "muted"),))))
        elif self._is_map:
            self._draw_map(fleet, room)
        else:
            self._top = max(0, min(max(self._at - room + 1, min(self._top, self._at)), len(fleet.hosts) - room))
            hosts = fleet.hosts[self._top : self._top + room]
            at = self._at - self._top
            self.body.draw(table_lines(hosts, shown_columns(fleet), self._sort, at, self.size.width))

    def _draw_map(self, fleet: Fleet, room: int) -> None:
        columns = self._row
        lines = map_lines(fleet.hosts, self._at, columns)
        row = self._at // columns
        self._top = max(0, min(self._top, row))
        self._top = max(self._top, row - room + 1)
        self.body.draw((map_note(fleet.hosts[self._at]), *lines[self._top : self._top + room]))

    def _draw_head(self) -> None:
        whole = self._whole
        age_s = 0.0 if whole is None else max(0.0, time.time() - whole.time_s)
        lines = header_lines(self._fleet, self._problem, age_s, self.size.width)
        self.head.styles.height = len(lines)
        self.head.draw(lines)

    def _draw_foot(self) -> None:
        filters = " and ".join([*map(str, self._where), *([self._text] if self._text else [])])
        spans: Spans = [(f" only {filters} ", "accent")] if filters else []
        for action, name in _FOOTER:
            label = "Table" if name == "Map" and self._is_map else name
            spans += [(f" {self._keys.name(action)}", "key"), (f" {label} ", "muted")]
        spans += [(f" sorted by {self._sort.title}", "muted")]
        self.foot.draw((Line(tuple(spans)),))

    @property
    def _room(self) -> int:
        """Lines for hosts."""
        return max(1, self.body.size.height - _HEADS)

    # --- choosing ------------------------------------------------------------------------------------------------
    def _choose(self) -> None:
        """Apply filter and order; the cursor stays on its host."""
        if self._whole is None:
            return
        node = read(self._text, HOSTS.fields)
        filters = self._where if isinstance(node, QueryError) else (*self._where, Filter(node, HOSTS))
        self._problem = f"filter: {node}" if isinstance(node, QueryError) else ""
        self._fleet = chosen(self._whole, filters, self._sort, is_reversed=self._is_reversed)
        places = {host.key: place for place, host in enumerate(self._fleet.hosts)}
        if self._cursor is not None:
            self._at = places.get(self._cursor, self._at)
        self.draw()

    def _move(self, step: int) -> None:
        hosts = self._fleet.hosts if self._fleet is not None else ()
        if hosts:
            self._at = max(0, min(len(hosts) - 1, self._at + step))
            self._cursor = hosts[self._at].key
            self.draw()

    @property
    def _row(self) -> int:
        """Hosts in a line."""
        if not self._is_map or self._fleet is None:
            return 1
        return max(1, self.size.width - 3 - map_names(self._fleet.hosts))

    # --- keys ----------------------------------------------------------------------------------------------------
    def on_key(self, event: events.Key) -> None:
        """Run the method of a key."""
        run = self._runs.get(event.key)
        if run is not None and not self.prompt.display:
            event.stop()
            event.prevent_default()
            getattr(self, f"do_{run}")()

    def do_quit(self) -> None:
        """End the program."""
        self.app.exit()

    def do_up(self) -> None:
        """Go to the host above."""
        self._move(-self._row)

    def do_down(self) -> None:
        """Go to the host below."""
        self._move(self._row)

    def do_left(self) -> None:
        """Go to the host before, on the map."""
        self._move(-1 if self._is_map else 0)

    def do_right(self) -> None:
        """Go to the next host, on the map."""
        self._move(1 if self._is_map else 0)

    def do_page_up(self) -> None:
        """Go up a page."""
        self._move(-self._room * self._row)

    def do_page_down(self) -> None:
        """Go down a page."""
        self._move(self._room * self._row)

    def do_home(self) -> None:
        """Go to the first host."""
        self._move(-(10**6))

    def do_end(self) -> None:
        """Go to the last host."""
        self._move(10**6)

    def do_open(self) -> None:
        """Show the host under the cursor."""
        if self._fleet is not None and self._fleet.hosts:
            self._cursor = self._fleet.hosts[self._at].key
            self.app.push_screen(HostPage(self._fleet.hosts[self._at]))

    def do_filter(self) -> None:
        """Ask for a filter."""
        self.prompt.ask("Filter", self._text)

    def do_sort_next(self) -> None:
        """Sort by the next column."""
        self._sort_by(1)

    def do_sort_before(self) -> None:
        """Sort by the previous column."""
        self._sort_by(-1)

    def do_invert(self) -> None:
        """Reverse the order."""
        self._is_reversed = not self._is_reversed
        self._choose()

    def do_view(self) -> None:
        """Change between table and map."""
        self._is_map = not self._is_map
        self._top = 0
        self.draw()

    def do_read_now(self) -> None:
        """Ask the servers now."""
        self.app.call_later(self.app.run_action, "read_now")

    def do_back(self) -> None:
        """Remove the filter."""
        self._text = ""
        self._choose()

    def do_redraw(self) -> None:
        """Paint everything again."""
        self.app.call_later(self.app.run_action, "redraw")

    def do_help(self) -> None:
        """Show the keys."""
        self.app.push_screen(KeysPage(self._keys))

    def do_theme(self) -> None:
        """Use the next theme."""
        self.app.call_later(self.app.run_action, "next_theme")

    def do_suspend(self) -> None:
        """Go to the background."""
        self.app.call_later(self.app.run_action, "suspend_process")

    def _sort_by(self, step: int) -> None:
        key = self._sort.key
        place = _SORTS.index(key) if key in _SORTS else 0
        self._sort = HOST_COLUMN_BY_WORD[_SORTS[(place + step) % len(_SORTS)]]
        self._is_reversed = False
        self._choose()

    # --- prompt --------------------------------------------------------------------------------------------------
    def on_prompt_panel_changed(self, message: PromptPanel.Changed) -> None:
        """Filter while the user types."""
        self._text = message.text
        self._choose()

    def on_prompt_panel_ended(self, message: PromptPanel.Ended) -> None:
        """Keep the filter, or remove it."""
        self.prompt.close()
        self.set_focus(None)
        self._text = message.text if message.is_kept else ""
        self._choose()
