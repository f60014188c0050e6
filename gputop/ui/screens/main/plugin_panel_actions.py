"""Panels of plugins on the main screen: request their lines after each frame, and draw the answers."""

from collections.abc import Sequence
from typing import Final

from gputop.core.plugins.panel import Shown
from gputop.ui.messages import PanelChanged
from gputop.ui.screens.dialogs.modal import KeyedScreen
from gputop.ui.screens.main.host import ScreenHost
from gputop.ui.state.plugin_panels import PanelState, PanelWorker

_LEAST_HEIGHT: Final = 22
_SHARE: Final = 5  # the panels take at most a fifth of the screen's lines


class PluginPanelActions:
    """Owns a worker per panel."""

    def __init__(self, host: ScreenHost) -> None:
        self._host = host
        ended = host.options.panel_ended or (lambda _, __: None)
        self._workers = [PanelWorker(each, self._post_change, host.store.clock, ended) for each in host.options.panels]

    @property
    def states(self) -> Sequence[PanelState]:
        """The latest lines of the panels."""
        return [each.state for each in self._workers]

    def open(self) -> None:
        """Show all lines of all panels on a page."""
        from gputop.ui.screens.pages.plugin_panels import PanelsScreen

        self._host.push(PanelsScreen(lambda: self.states))

    def request(self) -> None:
        """Request lines about the frame that is shown."""
        frame = self._host.view.frame
        if frame is not None:
            for each in self._workers:
                each.request(Shown(frame=frame, width=max(20, self._host.size.width - 2)))

    def draw(self, *, is_shown: bool) -> int:
        """Draw the lines on the main screen; return their number."""
        height, key = self._host.size.height, self._host.keys.name("panels")
        has_room = is_shown and height >= _LEAST_HEIGHT
        return self._host.plugins.show(self.states if has_room else (), height // _SHARE, key)

    def draw_changed(self) -> None:
        """Draw new lines where they are visible: on the page of panels, or on the main screen."""
        from gputop.ui.screens.pages.plugin_panels import PanelsScreen

        top = self._host.top
        if isinstance(top, PanelsScreen):
            top.redraw()
        if isinstance(top, PanelsScreen) or not isinstance(top, KeyedScreen):
            self._host.draw()

    def _post_change(self) -> None:
        """Post that a panel has new lines; runs in its thread."""
        self._host.post_message(PanelChanged())
