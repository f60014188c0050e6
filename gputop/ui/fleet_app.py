"""The app of the fleet screen: asks in a thread, so that the screen never waits for a server."""

from collections.abc import Callable
from threading import Event, Thread
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.message import Message
from textual.screen import Screen

from gputop.core.fleet.model import Fleet
from gputop.ui.input.keymap import ALWAYS_QUITS
from gputop.ui.screens.fleet.options import FleetOptions
from gputop.ui.screens.fleet.screen import FleetScreen
from gputop.ui.terminal_app import TerminalApp


class FleetRead(Message):
    """A reading has come; a later one replaces one that waits."""

    def __init__(self, fleet: Fleet) -> None:
        super().__init__()
        self.fleet = fleet

    def can_replace(self, message: Message) -> bool:
        """Replace an older reading."""
        return isinstance(message, FleetRead)


class FleetApp(TerminalApp):
    """Shows a fleet until the user quits."""

    CSS_PATH = "gputop.tcss"
    TITLE = "gputop fleet"
    BINDINGS: ClassVar[list[BindingType]] = [Binding(ALWAYS_QUITS, "quit", "Quit", show=False, priority=True)]
    ENABLE_COMMAND_PALETTE = False

    def __init__(self, read: Callable[[], Fleet], options: FleetOptions) -> None:
        super().__init__(
            options.theme, options.keys, is_ascii=options.is_ascii, writes_changes_only=options.writes_changes_only
        )
        self._read = read
        self._interval_s = options.interval_s
        self._is_wanted = Event()
        self._is_over = False
        self.fleet_screen = FleetScreen(options)

    def get_default_screen(self) -> Screen[None]:
        """Return the screen of hosts."""
        return self.fleet_screen

    def on_mount(self) -> None:
        """Begin to ask."""
        super().on_mount()
        Thread(target=self._ask, name="fleet", daemon=True).start()

    def on_unmount(self) -> None:
        """Stop asking."""
        self._is_over = True
        self._is_wanted.set()

    def on_fleet_read(self, message: FleetRead) -> None:
        """Show a reading."""
        self.fleet_screen.show(message.fleet)

    def action_read_now(self) -> None:
        """Ask without waiting for the next time."""
        self._is_wanted.set()

    def _ask(self) -> None:
        while not self._is_over:
            self._is_wanted.clear()
            self.post_message(FleetRead(self._read()))
            self._is_wanted.wait(self._interval_s)
