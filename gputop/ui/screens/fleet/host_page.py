"""Page of one host of a fleet."""

from collections.abc import Mapping, Sequence
from typing import ClassVar

from textual.message import Message

from gputop.core.fleet.model import FleetHost
from gputop.ui.render.line import Line
from gputop.ui.screens.fleet.lines import host_lines
from gputop.ui.screens.fleet.subjects import DetailsWanted, SubjectChosen, host_subject
from gputop.ui.screens.pages.page import Page


class VisitWanted(Message):
    """The user wants the live gputop of a host."""

    def __init__(self, host: str) -> None:
        super().__init__()
        self.host = host


class HostPage(Page):
    """Shows all that is known of a host, and follows it."""

    TAKES: ClassVar[Mapping[str, str]] = {**Page.TAKES, "history": "open_history", "accept": "visit"}

    def __init__(self, host: FleetHost) -> None:
        super().__init__()
        self.host = host
        self.title_text = host.name

    def on_mount(self) -> None:
        """Ask for all values of its GPUs."""
        super().on_mount()
        self.post_message(DetailsWanted(self.host.instances))

    def on_unmount(self) -> None:
        """Ask for them no more."""
        self.app.post_message(DetailsWanted())

    def visit(self) -> None:
        """Open the live gputop of the host."""
        self.post_message(VisitWanted(self.host.name))

    def open_history(self) -> None:
        """Show the history of the host."""
        self.post_message(SubjectChosen(host_subject(self.host), tuple(gpu.index for gpu in self.host.gpus)))

    def keys_line(self) -> str:
        """Return the keys."""
        name = self.name_of
        return f"{super().keys_line()} · {name('accept')} live gputop by ssh · {name('history')} history"

    def show(self, host: FleetHost) -> None:
        """Draw newer values."""
        self.host = host
        self.redraw()

    def page(self, width: int, height: int) -> Sequence[Line]:  # noqa: ARG002 - it scrolls
        """Return its lines."""
        return host_lines(self.host, width)
