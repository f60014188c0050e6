"""The main screen: header, GPUs, host, processes, footer; shares the room out and hands the view on."""

from collections.abc import Callable, Sequence

from textual import events
from textual.app import ComposeResult

from gputop.ui.actions import ACTIONS, CHORD, Action
from gputop.ui.arrange import Arrangement, arrange
from gputop.ui.options import ViewOptions
from gputop.ui.panels.gpus import GpuPanel
from gputop.ui.panels.header import HeaderPanel
from gputop.ui.panels.host import HostPanel
from gputop.ui.screens.escalation import Clock
from gputop.ui.screens.finding import FindingScreen
from gputop.ui.view import View


class MainScreen(FindingScreen):
    """Holds the panels."""

    ALLOW_SELECT = False
    AUTO_FOCUS = "ProcessPanel"

    def __init__(self, options: ViewOptions, view: View, clock: Clock, actions: Sequence[Action] = ACTIONS) -> None:
        super().__init__(options, view, clock, actions)
        is_ascii = options.is_ascii
        self.header = HeaderPanel(is_ascii=is_ascii)
        self.gpus = GpuPanel(is_ascii=is_ascii)
        self.host = HostPanel(is_ascii=is_ascii)
        self.is_chord = False
        self._arranged: Arrangement | None = None

    def compose(self) -> ComposeResult:
        """Put the panels below each other."""
        yield self.header
        yield self.gpus
        yield self.host
        yield self.processes
        yield self.prompt
        yield self.footer

    def show(self, view: View) -> None:
        """Draw the view."""
        self._view = view
        size = (self.size.width, self.size.height)
        if 0 in size:
            return
        counts = [len(view.values(gpu).instances) for gpu in view.gpus]
        arranged = arrange(size, counts, view.density, has_host=self.has_host)
        if arranged != self._arranged:
            self._arranged = arranged
            self.gpus.styles.height = arranged.gpus.height
            self.host.styles.height = arranged.host_lines
        self.header.show(view)
        self.gpus.show(view, arranged.gpus, size[0])
        self.host.show(view, (size[0], arranged.host_lines))
        self.processes.show(view)
        self.footer.show(is_chord=self.is_chord)

    def show_age(self, view: View) -> None:
        """Draw only what tells how old the values are."""
        self._view = view
        self.header.show(view)

    def on_screen_resume(self) -> None:
        """Draw again what was covered."""
        self.show(self._view)

    def on_resize(self) -> None:
        """Share the new room out once the panels have it."""
        self.call_after_refresh(lambda: self.show(self._view))

    def on_key(self, event: events.Key) -> None:
        """Take the keys of a chord and of a prompt in the order in which they were typed."""
        if self.prompt.display:
            self.prompt.on_key(event)
        elif self.is_chord:
            event.stop()
            self.start_chord(is_chord=False)
            key = event.character or ""
            if key.lower() in CHORD:
                self._sort_by_chord(key)
        elif event.key in self._at_once:
            event.stop()
            self._at_once[event.key]()

    @property
    def _at_once(self) -> dict[str, Callable[[], None]]:
        """What keys do before the next key is looked at."""
        runs = {
            "screen.sort_chord": self.start_chord, "screen.search": self.action_search,
            "screen.filter": self.action_filter,
        }  # fmt: skip
        return {key: runs[action.run] for action in self.actions if action.run in runs for key in action.keys}

    def start_chord(self, *, is_chord: bool = True) -> None:
        """Show what may follow."""
        self.is_chord = is_chord
        self.footer.show(is_chord=is_chord)

    def action_sort_chord(self) -> None:
        """Wait for the letter of a column."""
        self.start_chord()

    def action_sort(self, key: str) -> None:
        """Sort by a column."""
        self.processes.sort_by(key)

    def action_sort_beside(self, step: int) -> None:
        """Sort by a neighbour."""
        self.processes.sort_beside(step)

    def action_invert(self) -> None:
        """Sort the other way round."""
        self.processes.sort_by(self.processes.sort_key)

    def action_move(self, step: int) -> None:
        """Move the cursor."""
        self.processes.move(step)

    def action_move_page(self, pages: int) -> None:
        """Move by pages."""
        self.processes.move_page(pages)

    def action_move_to_end(self, is_last: int) -> None:
        """Go to the first or the last process."""
        self.processes.move_to_end(is_last=bool(is_last))

    def action_scroll_command(self, step: int) -> None:
        """Scroll sideways."""
        self.processes.scroll_command(step)

    def action_meters(self) -> None:
        """Show or hide the host."""
        self.has_host = not self.has_host
        self.show(self._view)

    def _sort_by_chord(self, key: str) -> None:
        """Sort as nvitop does: a small letter in the column's own direction, a capital the other way round."""
        self.processes.sort_key = ""
        self.processes.sort_by(CHORD[key.lower()])
        if key.isupper():
            self.processes.sort_by(CHORD[key.lower()])
