"""The main screen: header, GPUs, host, processes, footer; shares the room out and hands the view on."""

from collections.abc import Callable

from textual import events
from textual.app import ComposeResult

from gputop.core.protocol.command import Command
from gputop.ui.input.actions import CHORD
from gputop.ui.input.keymap import Keymap
from gputop.ui.options import ViewOptions
from gputop.ui.panels.gpus import GpuPanel
from gputop.ui.panels.header import HeaderPanel
from gputop.ui.panels.host import HostPanel
from gputop.ui.render.layout import Arrangement, arrange
from gputop.ui.screens.dialogs.modal import KeyedScreen
from gputop.ui.screens.main.probe_actions import ProbingScreen
from gputop.ui.state.view_store import ViewStore


class MainScreen(ProbingScreen):
    """Holds the panels."""

    ALLOW_SELECT = False
    AUTO_FOCUS = "ProcessPanel"

    def __init__(
        self, options: ViewOptions, reception: ViewStore, ask: Callable[[Command], None], keys: Keymap
    ) -> None:
        super().__init__(options, reception, ask, keys)
        is_ascii = options.is_ascii
        self.header = HeaderPanel(is_ascii=is_ascii)
        self.gpus = GpuPanel(is_ascii=is_ascii)
        self.host = HostPanel(is_ascii=is_ascii)
        self.is_chord = False
        self._arranged: Arrangement | None = None

    def compose(self) -> ComposeResult:
        """Put the panels below each other."""
        yield self.header
        yield self.tape
        yield self.gpus
        yield self.host
        yield self.findings
        yield self.plugged
        yield self.processes
        yield self.prompt
        yield self.footer

    def show(self) -> None:
        """Draw the view."""
        view = self._view
        size = (self.size.width, self.size.height)
        if 0 in size:
            return
        counts = [len(view.values(gpu).instances) for gpu in view.gpus]
        self.tape.show(view)
        wrong = self.findings.show(view, size[0], size[1] // 10, self.findings_key)
        plugged = self.show_panels(size)
        room = (size[0], size[1] - self.tape.display - wrong - plugged)
        arranged = arrange(room, counts, view.density, has_host=self.has_host)
        if arranged != self._arranged:
            self._arranged = arranged
            self.gpus.styles.height = arranged.gpus.height
            self.host.styles.height = arranged.host_lines
        self.header.show(view)
        self.gpus.show(view, arranged.gpus, size[0])
        self.host.show(view, (size[0], arranged.host_lines))
        self.processes.show(view)
        self.footer.show(is_chord=self.is_chord)

    def show_age(self) -> None:
        """Draw only what tells how old the values are."""
        self.header.show(self._view)

    def on_screen_resume(self) -> None:
        """Draw again what was covered."""
        self.show()

    def on_resize(self) -> None:
        """Share the new room out once the panels have it."""
        self.call_after_refresh(self.show)

    async def on_key(self, event: events.Key) -> None:
        """Do what keys do, one after the other in the order in which they were typed."""
        event.stop()
        event.prevent_default()
        top = self.app.screen
        if isinstance(top, KeyedScreen):  # a key of before opened it
            top.on_key(event)
        elif self.prompt.display:
            self.prompt.on_key(event)
        elif self.is_chord:
            self._end_chord(event.character or "")
        elif event.key in self.runs:
            await self.app.run_action(self.runs[event.key])

    def start_chord(self, *, is_chord: bool = True) -> None:
        """Show what may follow."""
        self.is_chord = is_chord
        self.footer.show(is_chord=is_chord)

    def action_sort_chord(self) -> None:
        """Wait for the letter of a column."""
        self.start_chord()

    def action_interval(self, step: int) -> None:
        """Take the next longer or shorter interval; in a tree or group unfold or fold."""
        if not self.processes.fold(is_open=step > 0):
            self.step_interval(step)

    def action_step_back(self) -> None:
        """Take back the last narrowing."""
        if not (self.untag() or self.processes.clear_cursor() or self.finder.clear()):
            self.change(focus=None)

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
        self.show()

    def _end_chord(self, key: str) -> None:
        """Sort as nvitop does: a small letter in the column's own direction, a capital the other way round."""
        self.start_chord(is_chord=False)
        if key.lower() not in CHORD:
            return
        self.processes.sort_key = ""
        self.processes.sort_by(CHORD[key.lower()])
        if key.isupper():
            self.processes.sort_by(CHORD[key.lower()])
