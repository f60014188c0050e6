"""Page with all lines of the plugin panels."""

from collections.abc import Callable, Mapping, Sequence
from textwrap import wrap
from typing import ClassVar

from gputop.ui.panels.plugins import page
from gputop.ui.render.line import Line
from gputop.ui.screens.pages.page import Page
from gputop.ui.state.plugin_panels import PanelState

_NO_PANEL = "No installed plugin adds a panel. List the plugins: gputop plugins. Write one: docs/plugins.md."


class PanelsScreen(Page):
    """Shows the panels in full, and their new lines as they arrive."""

    TAKES: ClassVar[Mapping[str, str]] = {**Page.TAKES, "panels": "close"}
    title_text = "Plugin panels"

    def __init__(self, states: Callable[[], Sequence[PanelState]]) -> None:
        super().__init__()
        self._states = states

    def page(self, width: int, height: int) -> Sequence[Line]:  # noqa: ARG002 - it scrolls
        """Return the panels, or how to get one."""
        states = self._states()
        return page(states) if states else [Line(((part, "muted"),)) for part in wrap(_NO_PANEL, width)]
