"""What a controller of the main screen may do to the screen that owns it."""

from collections.abc import Callable, Coroutine
from contextlib import AbstractContextManager
from typing import Any, Protocol, TypeVar

from textual.geometry import Size
from textual.message import Message
from textual.notifications import SeverityLevel
from textual.screen import Screen

from gputop.core.protocol.command import Command
from gputop.ui.input.keymap import Keymap
from gputop.ui.options import ViewOptions
from gputop.ui.panels.footer import FooterPanel
from gputop.ui.panels.plugins import PluginsPanel
from gputop.ui.panels.processes import ProcessPanel
from gputop.ui.panels.prompt import PromptPanel
from gputop.ui.state.message_log import MessageLog
from gputop.ui.state.view import View
from gputop.ui.state.view_store import ViewStore

T = TypeVar("T")


class ScreenHost(Protocol):
    """The screen, as its controllers see it; a test passes a fake. ``keys``: the keys that are in use."""

    messages: MessageLog
    options: ViewOptions
    store: ViewStore
    keys: Keymap
    processes: ProcessPanel
    prompt: PromptPanel
    footer: FooterPanel
    plugins: PluginsPanel

    @property
    def view(self) -> View:
        """The state that the panels draw."""
        ...

    @property
    def top(self) -> Screen[Any]:
        """The screen in front: this one, a page or a dialog."""
        ...

    @property
    def size(self) -> Size:
        """Columns and lines of the screen."""
        ...

    def notify(
        self, message: str, *, title: str = "", severity: SeverityLevel = "information", timeout: float | None = None
    ) -> None:
        """Show a message for some seconds; one with the same ``title``, the id of a change, replaces it."""
        ...

    def push(self, screen: Screen[T], then: Callable[[T | None], None] | None = None) -> None:
        """Open a page or a dialog; ``then`` gets its result."""
        ...

    def change(self, **changes: Any) -> None:  # noqa: ANN401 - the fields of View
        """Change fields of the view, and draw it."""
        ...

    def draw(self) -> None:
        """Draw the view."""
        ...

    def send(self, command: Command, /) -> None:
        """Send a command to the sampler."""
        ...

    def post_message(self, message: Message, /) -> bool:
        """Post a message, from any thread."""
        ...

    @property
    def text(self) -> str:
        """The main screen as text."""
        ...

    def copy_to_clipboard(self, text: str) -> None:
        """Copy a text with OSC 52."""
        ...

    def write_sequence(self, text: str) -> None:
        """Write to the terminal as it is, between two updates of the screen."""
        ...

    def leave(self) -> AbstractContextManager[None]:
        """Give the terminal back while the context lasts, and draw the screen again afterwards."""
        ...

    def run_worker(self, work: Coroutine[Any, Any, None]) -> object:
        """Run work that may wait, beside the keys."""
        ...
