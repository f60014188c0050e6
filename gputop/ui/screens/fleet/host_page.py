"""Page of one host of a fleet."""

from collections.abc import Sequence

from gputop.core.fleet.model import FleetHost
from gputop.ui.render.line import Line
from gputop.ui.screens.fleet.lines import host_lines
from gputop.ui.screens.pages.page import Page


class HostPage(Page):
    """Shows all that is known of a host, and follows it."""

    def __init__(self, host: FleetHost) -> None:
        super().__init__()
        self.host = host
        self.title_text = host.name

    def show(self, host: FleetHost) -> None:
        """Draw newer values."""
        self.host = host
        self.redraw()

    def page(self, width: int, height: int) -> Sequence[Line]:  # noqa: ARG002 - it scrolls
        """Return its lines."""
        return host_lines(self.host)
