"""App base that suits the terminal: its colours, its characters, and how it is written to."""

import asyncio
import os
from collections.abc import Callable
from typing import ClassVar, Final

from rich.segment import Segment
from textual import events
from textual.color import Color
from textual.driver import Driver
from textual.drivers.linux_driver import LinuxDriver
from textual.filter import LineFilter
from textual.geometry import Size

from gputop.core.protocol.link import Down
from gputop.core.text.ascii import plain
from gputop.core.text.osc import copying, wrapped
from gputop.ui.input.keymap import Keymap
from gputop.ui.render import theme
from gputop.ui.render.framediff import FrameDiff
from gputop.ui.render.quiet_driver import QuietDriver
from gputop.ui.render.terminal_features import erases_in_colour
from gputop.ui.render.textual_private import DisplayHook, LayoutUpdate, Update, mark_all_changed, waiting_writes
from gputop.ui.render.too_small import TooSmall, is_too_small

_MOST_WAITING: Final = 3  # writes of one update: its beginning, itself and its end
_AGAIN_S: Final = 0.1


class Colourless(LineFilter):
    """Keeps bold, dim, underline and reverse, and drops every colour; Textual's own filter would write greys."""

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:  # noqa: ARG002 - Textual's signature
        """Return the segments without colours."""
        return [
            Segment(text, style.without_color if style is not None else None, control)
            for text, style, control in segments
        ]


class Ascii(LineFilter):
    """Draws everything in ASCII, in as many cells: also what Textual's own widgets draw."""

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:  # noqa: ARG002 - Textual's signature
        """Return the segments in ASCII."""
        return [Segment(plain(text), style, control) for text, style, control in segments]


class TerminalApp(DisplayHook[Down], inherit_bindings=False):
    """Has gputop's themes, no colours under NO_COLOR, and writes only what changed.

    It drops Textual's own keys: Ctrl-Q, which resumes output on many terminals, does not quit.
    The inks are component classes of the app; as those of a widget they would be mixed anew for each widget.
    """

    COMPONENT_CLASSES: ClassVar[set[str]] = {f"ink--{ink}" for ink in theme.INKS}

    def __init__(self, wish: str, keys: Keymap, *, is_ascii: bool, writes_changes_only: bool) -> None:
        super().__init__()
        self.keymap = keys
        self._diff = FrameDiff(erases=erases_in_colour()) if writes_changes_only else None
        self._is_resized = False
        self._is_behind = False  # whether an update was dropped that the terminal needs
        self._too_small: Size | None = None  # the size for which the message is written
        for each in theme.THEMES:
            self.register_theme(each)
        if self.no_color:
            self.use_filter(Colourless(), is_only=True)
        if is_ascii:
            self.use_filter(Ascii(), is_only=False)
        self._take_theme(wish)
        self._styled = self.theme
        self.stylesheet.set_variables(self.get_css_variables())

    def get_driver_class(self) -> type[Driver]:
        """Return the driver of a terminal that sleeps while nothing is typed, or the one that the user chose."""
        usual = super().get_driver_class()
        return QuietDriver if usual is LinuxDriver else usual

    def on_mount(self) -> None:
        """Paint over the output of other programs after gputop was in the background."""
        self.app_resume_signal.subscribe(self, lambda _: self.action_redraw())

    def on_resize(self) -> None:
        """Write everything again: terminals cut or wrap what they show when their size changes."""
        self._is_resized = True
        self._too_small = None
        self.call_later(lambda: self.screen.refresh(layout=True))  # there may be no screen yet
        self._soon(self.take_size)

    async def on_event(self, event: events.Event) -> None:
        """Ignore the mouse and all keys but those that quit while the terminal is too small to show what they do."""
        if not is_too_small(self.size) or not isinstance(event, events.InputEvent | events.Paste):
            await super().on_event(event)
        elif isinstance(event, events.Key) and self.keymap.runs().get(event.key) == "quit":
            self.exit()

    def get_theme_variable_defaults(self) -> dict[str, str]:
        """Return the inks, for themes that lack them."""
        return theme.DEFAULTS

    def refresh_css(self, animate: bool = True) -> None:  # noqa: FBT001, FBT002 - Textual's signature
        """Read the stylesheet again if the theme has changed: Textual reads it twice at the start."""
        if self.theme != self._styled:
            self._styled = self.theme
            super().refresh_css(animate)

    def copy_to_clipboard(self, text: str) -> None:
        """Copy a text with OSC 52, also through a multiplexer."""
        super().copy_to_clipboard(text)
        self.write_sequence(wrapped(copying(text), os.environ))

    def action_theme(self, name: str) -> None:
        """Change the colours, as far as the terminal has any."""
        self._take_theme(name)

    def _take_theme(self, name: str) -> None:
        self.theme = theme.chosen(name, is_colourless=self.no_color, colours=self.console.color_system)

    def action_next_theme(self) -> None:
        """Use the next theme."""
        names = theme.THEME_NAMES
        at = names.index(self.theme) if self.theme in names else -1
        self.action_theme(names[(at + 1) % len(names)])
        self.notify(f"theme: {self.theme}", timeout=2)

    def action_redraw(self) -> None:
        """Paint everything again."""
        self._forget()
        self._repaint()

    @property
    def is_slow(self) -> bool:
        """Whether the terminal has not taken the updates before: then a new one is not queued behind them."""
        return waiting_writes(self) > _MOST_WAITING

    def _wait_for_terminal(self) -> None:
        """Paint the present state, without what it was in between, when the terminal can take it."""
        if not self._is_behind:
            self._is_behind = True
            self._soon(self._catch_up)

    def _soon(self, action: Callable[[], None]) -> None:
        """Do something a little later; Textual's timer skips its only call if a CPU is late for it."""
        asyncio.get_running_loop().call_later(_AGAIN_S, self.call_later, action)

    def _catch_up(self) -> None:
        self._is_behind = False
        if self.is_slow:
            self._wait_for_terminal()
        else:
            self._repaint()

    def _repaint(self) -> None:
        self.screen.refresh(layout=True)
        for widget in self.screen.walk_children():
            widget.refresh()
        mark_all_changed(self.screen)

    def reduced(self, update: Update) -> Update:
        """Return an update that writes only the changed cells, where those are known."""
        if is_too_small(self.size):
            return self._say_too_small()
        if self._is_behind or (update is not None and self.is_slow):
            self._wait_for_terminal()
            return None
        if self._diff is None:
            return update
        if self._is_resized:  # what is written before the new layout may be cut
            self._diff.forget()
            self._is_resized = not (isinstance(update, LayoutUpdate) and update.region.size == self.size)
        return self._diff.reduced(update)

    def _say_too_small(self) -> Update:
        """Return the message in place of the screen, or None if the terminal shows it."""
        if self._too_small == self.size:
            return None
        self._forget()
        self._too_small = self.size
        return TooSmall(self.size)

    def _forget(self) -> None:
        self._too_small = None
        if self._diff is not None:
            self._diff.forget()
