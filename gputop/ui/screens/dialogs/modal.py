"""A screen over the main one that takes keys of the table of actions, whatever keymap holds, and no others."""

from collections.abc import Mapping
from typing import ClassVar, TypeVar

from textual import events
from textual.geometry import Region
from textual.message import Message
from textual.renderables.background_screen import BackgroundScreen
from textual.screen import ModalScreen
from textual.strip import Strip

from gputop.core.protocol.link import News
from gputop.ui.input.keymap import Keymap, keymap
from gputop.ui.render.line_widget import dimmed, filtered
from gputop.ui.render.textual_private import mark_painted, painted
from gputop.ui.state.view import View
from gputop.ui.terminal_app import TerminalApp

T = TypeVar("T")


class KeyedScreen(ModalScreen[T]):
    """Covers the screen. ``TAKES``: by action, the method that it runs here. ``is_full``: nothing below it shows.

    Textual's bindings are not used: they would also take a key that was typed for the screen below, and that arrives
    while this one is on its way.
    """

    TAKES: ClassVar[Mapping[str, str]] = {}
    is_full = False

    def follow(self, view: View) -> None:
        """Draw what is new; those that show one moment stay as they are."""

    def hear(self, news: News) -> bool:  # noqa: ARG002 - for those that ask
        """Take what the link delivered; say whether it is shown here."""
        return False

    def render_lines(self, crop: Region) -> list[Strip]:
        """Paint what lies behind without the box model: of 200x60 that takes a tenth of the time."""
        behind = self.render()
        if not isinstance(behind, BackgroundScreen):
            return super().render_lines(crop)
        strips = painted(behind.screen)[crop.y : crop.bottom]
        mark_painted(self)
        return filtered(self, [dimmed(strip, behind.color).crop(crop.x, crop.right) for strip in strips])

    def on_key(self, event: events.Key) -> None:
        """Take a key that was meant for this screen."""
        event.stop()
        event.prevent_default()
        if self.is_meant(event):
            self.pressed(event.key, event.character or "")
        else:
            self.missed(event)

    def pressed(self, key: str, character: str) -> None:  # noqa: ARG002 - for those that take text
        """Do what a key does here."""
        name = self.method(key)
        if name is not None:
            getattr(self, name)()

    def missed(self, event: events.Key) -> None:
        """Take note of a key that does not count."""

    def is_meant(self, event: Message, guard_s: float = 0.0) -> bool:  # noqa: ARG002 - for those that can do harm
        """Say whether an event may count. What was typed ahead does, where it can do no harm."""
        return True

    def method(self, key: str) -> str | None:
        """Return the method that a key runs here, if any."""
        return self.keymap.taken(self.TAKES).get(key)

    def name_of(self, action: str) -> str:
        """Return the first key of an action, as it is printed on a keyboard."""
        return self.keymap.name(action)

    @property
    def keymap(self) -> Keymap:
        """The keys as they are now."""
        return self.app.keymap if isinstance(self.app, TerminalApp) else keymap("htop")
