"""All that the panels of plugins have to say, on a page."""

from collections.abc import Callable, Mapping, Sequence
from textwrap import wrap
from typing import ClassVar

from gputop.ui.panels.plugins import page
from gputop.ui.render.line import Line
from gputop.ui.screens.pages.page import Page
from gputop.ui.state.plugin_panels import PanelState

_NOBODY = "No plugin adds a panel here. To list the plugins: gputop plugins. How to write one: docs/plugins.md."


class PanelsScreen(Page):
    """Shows the panels in full; what they say anew is shown as it comes."""

    TAKES: ClassVar[Mapping[str, str]] = {**Page.TAKES, "panels": "close"}
    title_text = "Panels of plugins"

    def __init__(self, states: Callable[[], Sequence[PanelState]]) -> None:
        super().__init__()
        self._states = states

    def page(self, width: int, height: int) -> Sequence[Line]:  # noqa: ARG002 - it scrolls
        """Return what there is."""
        states = self._states()
        return page(states) if states else [Line(((part, "muted"),)) for part in wrap(_NOBODY, width)]
