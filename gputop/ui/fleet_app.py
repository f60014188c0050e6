"""The app of the fleet screen: asks in a thread, so that the screen never waits for a server."""

from collections.abc import Callable, Sequence
from threading import Event, Thread
from typing import ClassVar, Protocol

from textual.app import SuspendNotSupported
from textual.binding import Binding, BindingType
from textual.message import Message
from textual.screen import Screen

from gputop.core.fleet.history import FleetHistory, Stretch, Subject
from gputop.core.fleet.model import Fleet
from gputop.ui.input.keymap import ALWAYS_QUITS
from gputop.ui.screens.fleet.history import FleetHistoryPage, HistoryWanted
from gputop.ui.screens.fleet.host_page import VisitWanted
from gputop.ui.screens.fleet.job_page import JobHostsWanted
from gputop.ui.screens.fleet.options import FleetOptions
from gputop.ui.screens.fleet.screen import FleetScreen, HostChosen
from gputop.ui.screens.fleet.subjects import DetailsWanted, SubjectChosen
from gputop.ui.terminal_app import TerminalApp


class FleetRead(Message):
    """A reading has come; a later one replaces one that waits."""

    def __init__(self, fleet: Fleet) -> None:
        super().__init__()
        self.fleet = fleet

    def can_replace(self, message: Message) -> bool:
        """Replace an older reading."""
        return isinstance(message, FleetRead)


class HistoryRead(Message):
    """A history has come."""

    def __init__(self, history: FleetHistory) -> None:
        super().__init__()
        self.history = history


class FleetSource(Protocol):
    """The servers of a fleet. Each method may take long, and names failures in its answer."""

    def read(self, *, is_urgent: bool = False, detailed: Sequence[str] = ()) -> Fleet:
        """Return all hosts.

        ``is_urgent``: also ask servers that failed a moment ago. ``detailed``: instances whose GPUs the user looks at.
        """
        ...

    def history(self, subject: Subject, stretch: Stretch) -> FleetHistory:
        """Return the curves of a part of the fleet."""
        ...


class FleetApp(TerminalApp):
    """Shows a fleet until the user quits."""

    CSS_PATH = "gputop.tcss"
    TITLE = "gputop fleet"
    BINDINGS: ClassVar[list[BindingType]] = [Binding(ALWAYS_QUITS, "quit", "Quit", show=False, priority=True)]
    ENABLE_COMMAND_PALETTE = False

    def __init__(self, source: FleetSource, options: FleetOptions, visit: Callable[[str], None] | None = None) -> None:
        super().__init__(
            options.theme, options.keys, is_ascii=options.is_ascii, writes_changes_only=options.writes_changes_only
        )
        self._source = source
        self._visit = visit
        self._is_ascii = options.is_ascii
        self._history: HistoryWanted | None = None
        self._is_history_wanted = Event()
        self._interval_s = options.interval_s
        self._is_wanted = Event()
        self._is_urgent = False
        self._detailed: tuple[str, ...] = ()
        self._is_over = False
        self.chosen = ""  # the host that the user chose to see, if that ends the app
        self.fleet_screen = FleetScreen(options)

    def get_default_screen(self) -> Screen[None]:
        """Return the screen of hosts."""
        return self.fleet_screen

    def on_mount(self) -> None:
        """Begin to ask."""
        super().on_mount()
        Thread(target=self._ask, name="fleet", daemon=True).start()
        Thread(target=self._ask_histories, name="fleet-history", daemon=True).start()

    def on_unmount(self) -> None:
        """Stop asking."""
        self._is_over = True
        self._is_wanted.set()
        self._is_history_wanted.set()

    def on_fleet_read(self, message: FleetRead) -> None:
        """Show a reading."""
        self.fleet_screen.show(message.fleet)

    def on_host_chosen(self, message: HostChosen) -> None:
        """End the app: another one shows the host."""
        self.chosen = message.host.name
        self.exit()

    def on_subject_chosen(self, message: SubjectChosen) -> None:
        """Open the history page."""
        self.push_screen(FleetHistoryPage(message.subject, message.gpus, is_ascii=self._is_ascii))

    def on_visit_wanted(self, message: VisitWanted) -> None:
        """Leave the screen for the live gputop of a host, and come back."""
        if self._visit is None:
            return
        try:
            with self.suspend():
                self._visit(message.host)
        except SuspendNotSupported:
            self.notify("this terminal cannot be left for another program", severity="warning")

    def on_details_wanted(self, message: DetailsWanted) -> None:
        """Ask for the details of a host or job, from now on."""
        self._detailed = message.instances
        if message.instances:
            self._is_wanted.set()

    def on_job_hosts_wanted(self, message: JobHostsWanted) -> None:
        """Show the hosts of a job."""
        self.fleet_screen.open_group(message.job)

    def on_history_wanted(self, message: HistoryWanted) -> None:
        """Ask for a history."""
        self._history = message
        self._is_history_wanted.set()

    def on_history_read(self, message: HistoryRead) -> None:
        """Show a history, if its page is still open."""
        if isinstance(self.screen, FleetHistoryPage):
            self.screen.show_history(message.history)

    def action_read_now(self) -> None:
        """Ask all servers without waiting for the next time."""
        self._is_urgent = True
        self._is_wanted.set()

    def _ask(self) -> None:
        while not self._is_over:
            self._is_wanted.clear()
            is_urgent, self._is_urgent = self._is_urgent, False
            self.post_message(FleetRead(self._source.read(is_urgent=is_urgent, detailed=self._detailed)))
            self._is_wanted.wait(self._interval_s)

    def _ask_histories(self) -> None:
        """Ask for the history that was wanted last: those before it are no longer looked at."""
        while self._is_history_wanted.wait() and not self._is_over:
            self._is_history_wanted.clear()
            wanted = self._history
            if wanted is not None:
                self.post_message(HistoryRead(self._source.history(wanted.subject, wanted.stretch)))
