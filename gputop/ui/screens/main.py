"""The main screen: header, GPUs, host, processes, footer; shares the room out and hands the view on."""

from collections.abc import Callable

from msgspec.structs import replace
from textual import events
from textual.app import ComposeResult

from gputop.ui.actions import ACTIONS, CHORD
from gputop.ui.arrange import Arrangement, arrange
from gputop.ui.choices import EVERYBODY, column_choices, user_choices
from gputop.ui.entries import Grouping
from gputop.ui.finder import Finder
from gputop.ui.options import ViewOptions
from gputop.ui.panels.footer import FooterPanel
from gputop.ui.panels.gpus import GpuPanel
from gputop.ui.panels.header import HeaderPanel
from gputop.ui.panels.host import HostPanel
from gputop.ui.panels.processes import ProcessPanel
from gputop.ui.panels.prompt import PromptPanel
from gputop.ui.screens.acting import ActingScreen
from gputop.ui.screens.escalation import Clock
from gputop.ui.screens.menu import MenuScreen
from gputop.ui.view import View


class MainScreen(ActingScreen):
    """Holds the panels."""

    ALLOW_SELECT = False
    AUTO_FOCUS = "ProcessPanel"

    def __init__(self, options: ViewOptions, view: View, clock: Clock) -> None:
        super().__init__(options, view, clock)
        is_ascii = options.is_ascii
        self.header = HeaderPanel(is_ascii=is_ascii)
        self.gpus = GpuPanel(is_ascii=is_ascii)
        self.host = HostPanel(is_ascii=is_ascii)
        self.processes = ProcessPanel(is_ascii=is_ascii, own_user=options.own_user)
        self.footer = FooterPanel(is_ascii=is_ascii, is_read_only=options.settings.read_only)
        self.prompt = PromptPanel(is_ascii=is_ascii)
        self.finder = Finder(self.prompt, self.processes, self.footer)
        self.own_user = options.own_user
        self.has_host = True
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
        return {key: runs[action.run] for action in ACTIONS if action.run in runs for key in action.keys}

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

    def action_filter(self) -> None:
        """Ask what is to be shown."""
        self.finder.ask_filter()

    def action_search(self) -> None:
        """Ask what is looked for; go on looking for it where that is known."""
        if not self.finder.next(1):
            self.finder.ask_search()

    def action_search_next(self, step: int) -> None:
        """Go to the next match."""
        if not self.finder.next(step):
            self.notify("nothing is searched for: press /", markup=False, timeout=2)

    def on_prompt_panel_changed(self, message: PromptPanel.Changed) -> None:
        """Do at once what is typed."""
        self.finder.changed(message.text)

    def on_prompt_panel_stepped(self, message: PromptPanel.Stepped) -> None:
        """Go to the next match."""
        self.finder.stepped(message.step)

    def on_prompt_panel_ended(self, message: PromptPanel.Ended) -> None:
        """Close the prompt if it may be."""
        if self.finder.ended(message.text, is_kept=message.is_kept):
            self.prompt.close()
            self.set_focus(self.processes)
            self.footer.say(None)
        else:
            self.app.bell()

    def action_tree(self) -> None:
        """Show a tree, or a list again."""
        is_tree = self.processes.grouping is Grouping.TREE
        self.processes.group(Grouping.PROCESSES if is_tree else Grouping.TREE)

    def action_view(self, step: int) -> None:
        """Put the processes together in the next way."""
        ways = list(Grouping)
        self.processes.group(ways[(ways.index(self.processes.grouping) + step) % len(ways)])

    def action_sort_menu(self) -> None:
        """Choose the column that sorts."""
        choices = column_choices(self.processes.shown_columns)
        menu = MenuScreen("Sort by", choices, self.processes.sort_key, is_ascii=self.footer.is_ascii)
        self.app.push_screen(menu, self._sort_chosen)

    def action_user(self) -> None:
        """Choose whose processes are shown."""
        user = self.processes.narrowing.user
        choices = user_choices(self.processes.all_rows)
        menu = MenuScreen("Processes of", choices, EVERYBODY if user is None else user, is_ascii=self.footer.is_ascii)
        self.app.push_screen(menu, self._user_chosen)

    def action_mine(self) -> None:
        """Show only the user's own processes, or all."""
        held = self.processes.narrowing
        self.processes.narrow(replace(held, user=None if held.user is not None else self.own_user or ""))

    def action_meters(self) -> None:
        """Show or hide the host."""
        self.has_host = not self.has_host
        self.show(self._view)

    def _sort_chosen(self, key: str | None) -> None:
        if key is not None and key != self.processes.sort_key:
            self.processes.sort_by(key)

    def _user_chosen(self, user: str | None) -> None:
        if user is not None:
            held = self.processes.narrowing
            self.processes.narrow(replace(held, user=None if user == EVERYBODY else user))

    def _sort_by_chord(self, key: str) -> None:
        """Sort as nvitop does: a small letter in the column's own direction, a capital the other way round."""
        self.processes.sort_key = ""
        self.processes.sort_by(CHORD[key.lower()])
        if key.isupper():
            self.processes.sort_by(CHORD[key.lower()])
