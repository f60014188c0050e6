"""The fleet screen: totals above, hosts or groups of them as a table or a map, a filter below."""

import time
from collections.abc import Mapping
from typing import ClassVar, Final

from textual import events
from textual.app import ComposeResult
from textual.message import Message
from textual.screen import Screen

from gputop.core.fleet.columns import shown_columns
from gputop.core.fleet.group_columns import shown_group_columns
from gputop.core.fleet.groups import JOB, USER, Group
from gputop.core.fleet.model import Fleet, FleetHost
from gputop.ui.panels.prompt import PromptPanel
from gputop.ui.render.line import BLANK, Line, Spans
from gputop.ui.render.line_widget import FastLines
from gputop.ui.screens.fleet.history import FleetHistoryPage
from gputop.ui.screens.fleet.host_page import HostPage
from gputop.ui.screens.fleet.job_page import JobPage
from gputop.ui.screens.fleet.keys_page import KeysPage
from gputop.ui.screens.fleet.lines import header_lines, map_lines, map_names, map_note
from gputop.ui.screens.fleet.options import FleetOptions
from gputop.ui.screens.fleet.state import HOST_VIEW, MAP_VIEW, FleetState
from gputop.ui.screens.fleet.subjects import SubjectChosen, group_subject, host_subject
from gputop.ui.screens.fleet.table import group_table, host_table
from gputop.ui.screens.pages.process_lines import wrapped

_TAKES: Final[Mapping[str, str]] = {
    "quit": "quit", "up": "up", "down": "down", "left": "left", "right": "right", "page-up": "page_up",
    "page-down": "page_down", "home": "home", "end": "end", "process": "open", "filter": "filter", "search": "filter",
    "sort-next": "sort_next", "sort-before": "sort_before", "sort-menu": "sort_next", "invert": "invert",
    "view-next": "view_next", "view-before": "view_before", "tree": "map", "view-users": "users", "view-jobs": "jobs",
    "history": "history",
    "read-now": "read_now", "back": "back", "redraw": "redraw", "help": "help", "theme": "theme", "suspend": "suspend",
}  # fmt: skip
_FOOTER: Final = (
    ("help", "Help"), ("process", "Open"), ("filter", "Filter"), ("sort-next", "Sort"), ("invert", "Reverse"),
    ("view-next", "View"), ("view-users", "Users"), ("view-jobs", "Jobs"), ("history", "History"), ("quit", "Quit"),
)  # fmt: skip
_HEADS: Final = 1
_FAR: Final = 10**6
_NO_HOLDERS: Final = {
    USER: "no user is known: gputop export runs on none of these hosts",
    JOB: "no job is known: gputop export runs on none of these hosts, and no series has a label hpc_job or pod",
}


class HostChosen(Message):
    """The user wants to see the screen of a host."""

    def __init__(self, host: FleetHost) -> None:
        super().__init__()
        self.host = host


class FleetScreen(Screen[None]):
    """Shows a fleet. The filters of the command line always hold; another one comes from the prompt."""

    AUTO_FOCUS: ClassVar[str | None] = ""

    def __init__(self, options: FleetOptions) -> None:
        super().__init__()
        self._keys = options.keys
        self._opens_hosts = options.opens_hosts
        self._runs = options.keys.taken(_TAKES)
        self.state = FleetState(options)
        self._top = 0
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
        self.state.take(fleet)
        self.draw()
        page = self.app.screen
        if isinstance(page, HostPage):
            found = next((host for host in fleet.hosts if host.key == page.host.key), None)
            if found is not None:
                page.show(found)
        elif isinstance(page, JobPage):
            page.show(fleet)
        elif isinstance(page, FleetHistoryPage):
            page.follow_time()

    # --- drawing -------------------------------------------------------------------------------------------------
    def draw(self) -> None:
        """Draw everything."""
        if not all(self.size):
            return
        self._draw_head()
        self._draw_foot()
        state, room = self.state, self._room
        if state.fleet is None:
            self.body.draw(())
        elif not state.rows:
            text = "no host matches" if state.is_of_hosts else _NO_HOLDERS.get(state.view, "no host matches")
            lines = wrapped(text, max(1, self.size.width - 2))
            self.body.draw((BLANK, *(Line(((f" {line}", "muted"),)) for line in lines)))
        elif state.view == MAP_VIEW:
            self._draw_map(state.fleet, room)
        else:
            self._top = max(0, min(max(state.at - room + 1, min(self._top, state.at)), len(state.rows) - room))
            self.body.draw(self._table(state.fleet, room))

    def _table(self, fleet: Fleet, room: int) -> list[Line]:
        state, part = self.state, slice(self._top, self._top + room)
        at, width = state.at - self._top, self.size.width
        if state.is_of_hosts:
            return host_table(fleet.hosts[part], shown_columns(fleet), state.sort, at, width)
        columns = shown_group_columns(state.groups, state.view)
        return group_table(state.groups[part], columns, state.sort, at, width)

    def _draw_map(self, fleet: Fleet, room: int) -> None:
        columns = self._row
        lines = map_lines(fleet.hosts, self.state.at, columns)
        row = self.state.at // columns
        self._top = max(0, min(self._top, row))
        self._top = max(self._top, row - room + 1)
        self.body.draw((map_note(fleet.hosts[self.state.at]), *lines[self._top : self._top + room]))

    def _draw_head(self) -> None:
        whole = self.state.whole
        age_s = 0.0 if whole is None else max(0.0, time.time() - whole.time_s)
        lines = header_lines(self.state.fleet, self.state.problem, age_s, self.size.width)
        self.head.styles.height = len(lines)
        self.head.draw(lines)

    def _draw_foot(self) -> None:
        state = self.state
        name = state.view if state.view in {HOST_VIEW, MAP_VIEW} else f"by {state.view}"
        spans: Spans = [(f" {name} ", "title")]
        filters = state.filters()
        spans += [(f" only {filters} ", "accent")] if filters else []
        for action, label in _FOOTER:
            spans += [(f" {self._keys.name(action)}", "key"), (f" {label} ", "muted")]
        spans += [(f" sorted by {state.title}", "muted")]
        self.foot.draw((Line(tuple(spans)),))

    @property
    def _room(self) -> int:
        """Lines for hosts."""
        return max(1, self.body.size.height - _HEADS)

    @property
    def _row(self) -> int:
        """Hosts in a line."""
        if self.state.view != MAP_VIEW or self.state.fleet is None:
            return 1
        return max(1, self.size.width - 3 - map_names(self.state.fleet.hosts))

    def _move(self, step: int) -> None:
        self.state.move(step)
        self.draw()

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
        self._move(-1 if self.state.view == MAP_VIEW else 0)

    def do_right(self) -> None:
        """Go to the next host, on the map."""
        self._move(1 if self.state.view == MAP_VIEW else 0)

    def do_page_up(self) -> None:
        """Go up a page."""
        self._move(-self._room * self._row)

    def do_page_down(self) -> None:
        """Go down a page."""
        self._move(self._room * self._row)

    def do_home(self) -> None:
        """Go to the first row."""
        self._move(-_FAR)

    def do_end(self) -> None:
        """Go to the last row."""
        self._move(_FAR)

    def do_open(self) -> None:
        """Show the host under the cursor, the ranks of the job, or the hosts of the group."""
        host, group = self.state.host, self.state.group
        if host is not None and self._opens_hosts:
            self.post_message(HostChosen(host))
        elif host is not None:
            self.app.push_screen(HostPage(host))
        elif group is not None and self.state.view == JOB and self.state.whole is not None:
            self.app.push_screen(JobPage(group, self.state.whole))
        elif group is not None:
            self.open_group(group)

    def open_group(self, group: Group) -> None:
        """Show the hosts of a group of the view."""
        self.state.enter(group)
        self.draw()

    def do_history(self) -> None:
        """Show the history of the host or group under the cursor."""
        host, group, fleet = self.state.host, self.state.group, self.state.whole
        if host is not None:
            self.post_message(SubjectChosen(host_subject(host), tuple(gpu.index for gpu in host.gpus)))
        elif group is not None and fleet is not None:
            self.post_message(SubjectChosen(group_subject(group, self.state.view, fleet)))

    def do_filter(self) -> None:
        """Ask for a filter."""
        self.prompt.ask("Filter", self.state.text)

    def do_sort_next(self) -> None:
        """Sort by the next column."""
        self.state.sort_by(1)
        self.draw()

    def do_sort_before(self) -> None:
        """Sort by the previous column."""
        self.state.sort_by(-1)
        self.draw()

    def do_invert(self) -> None:
        """Reverse the order."""
        self.state.invert()
        self.draw()

    def do_view_next(self) -> None:
        """Show the next view: hosts, map, users, jobs, labels, models."""
        self.state.turn(1)
        self.draw()

    def do_view_before(self) -> None:
        """Show the view before."""
        self.state.turn(-1)
        self.draw()

    def do_map(self) -> None:
        """Show the map, or the hosts again."""
        self._toggle(MAP_VIEW)

    def do_users(self) -> None:
        """Show the users, or the hosts again."""
        self._toggle(USER)

    def do_jobs(self) -> None:
        """Show the jobs, or the hosts again."""
        self._toggle(JOB)

    def _toggle(self, view: str) -> None:
        self.state.show(HOST_VIEW if self.state.view == view else view)
        self.draw()

    def do_read_now(self) -> None:
        """Ask the servers now."""
        self.app.call_later(self.app.run_action, "read_now")

    def do_back(self) -> None:
        """Leave the group, or remove the filter."""
        self.state.back()
        self.draw()

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

    # --- prompt --------------------------------------------------------------------------------------------------
    def on_prompt_panel_changed(self, message: PromptPanel.Changed) -> None:
        """Filter while the user types."""
        self.state.filter(message.text)
        self.draw()

    def on_prompt_panel_ended(self, message: PromptPanel.Ended) -> None:
        """Keep the filter, or remove it."""
        self.prompt.close()
        self.set_focus(None)
        self.state.filter(message.text if message.is_kept else "")
        self.draw()
