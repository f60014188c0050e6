"""An app that suits the terminal: its colours, and how it is written to."""

from typing import Any, ClassVar

from rich.console import RenderableType
from textual.app import App
from textual.screen import Screen

from gputop.core.protocol.link import Down
from gputop.ui.input.keymap import Keymap
from gputop.ui.render import theme
from gputop.ui.render.framediff import FrameDiff
from gputop.ui.render.no_color import Colourless


class TerminalApp(App[Down], inherit_bindings=False):
    """Has gputop's themes, no colours where none are wanted, and writes only what changed.

    Of Textual's own keys none is left: Ctrl-Q, which ends flow control in many a terminal, does not quit.
    The inks are components of the app: those of each widget would be mixed anew for every widget.
    """

    COMPONENT_CLASSES: ClassVar[set[str]] = {f"ink--{ink}" for ink in theme.INKS}

    def __init__(self, wish: str, keys: Keymap, *, writes_changes_only: bool) -> None:
        super().__init__()
        self.keymap = keys
        self._diff = FrameDiff() if writes_changes_only else None
        self._shown_screen: Screen[Any] | None = None
        for each in theme.THEMES:
            self.register_theme(each)
        if self.no_color:
            self._filters = [Colourless()]
        self._take_theme(wish)
        self._colours = self.get_css_variables()
        self.stylesheet.set_variables(self._colours)

    def on_mount(self) -> None:
        """Paint over what others wrote on the terminal while gputop was in the background."""
        self.app_resume_signal.subscribe(self, lambda _: self.action_redraw())

    def get_theme_variable_defaults(self) -> dict[str, str]:
        """Return the inks, for the themes that lack them."""
        return theme.DEFAULTS

    def refresh_css(self, animate: bool = True) -> None:  # noqa: FBT001, FBT002 - Textual's signature
        """Read the stylesheet again, unless that was with these very colours: as Textual does at the start."""
        colours = self.get_css_variables()
        if colours != self._colours:
            self._colours = colours
            super().refresh_css(animate)

    def action_theme(self, name: str) -> None:
        """Change the colours, as far as the terminal has any."""
        self._take_theme(name)

    def _take_theme(self, name: str) -> None:
        self.theme = theme.chosen(name, is_colourless=self.no_color, colours=self.console.color_system)

    def action_next_theme(self) -> None:
        """Take the next theme."""
        names = theme.THEME_NAMES
        at = names.index(self.theme) if self.theme in names else -1
        self.action_theme(names[(at + 1) % len(names)])
        self.notify(f"theme: {self.theme}", markup=False, timeout=2)

    def action_redraw(self) -> None:
        """Paint everything again."""
        self._forget()
        self.screen.refresh(layout=True)
        for widget in self.screen.walk_children():
            widget.refresh()

    def _forget(self) -> None:
        if self._diff is not None:
            self._diff.forget()

    def _display(self, screen: Screen[Any], renderable: RenderableType | None) -> None:
        """Write an update of the screen, only what changed where that is known."""
        if self._diff is not None:
            if screen is not self._shown_screen:
                self._shown_screen = screen
                self._diff.forget()
            reduced = self._diff.reduced(renderable)
            super()._display(screen, reduced)  # type: ignore[arg-type] # Textual too hands its own updates on here
        else:
            super()._display(screen, renderable)
