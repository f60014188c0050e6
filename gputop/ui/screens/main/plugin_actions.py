"""What the main screen does with panels of plugins: it asks them after each frame, and shows what they say."""

from collections.abc import Callable, Sequence

from gputop.core.plugins.panel import Shown
from gputop.core.protocol.command import Command
from gputop.ui.input.keymap import Keymap
from gputop.ui.messages import PanelChanged
from gputop.ui.options import ViewOptions
from gputop.ui.panels.plugins import PluginsPanel
from gputop.ui.screens.main.finding_actions import JudgedScreen
from gputop.ui.screens.pages.plugin_panels import PanelsScreen
from gputop.ui.state.plugin_panels import Asked, Told
from gputop.ui.state.view_store import ViewStore

_LEAST_HEIGHT = 22
_SHARE = 5  # of the screen's lines, at the most


class PluggedScreen(JudgedScreen):
    """The part of the main screen that shows panels of plugins."""

    def __init__(
        self, options: ViewOptions, reception: ViewStore, ask: Callable[[Command], None], keys: Keymap
    ) -> None:
        super().__init__(options, reception, ask, keys)
        self.plugged = PluginsPanel(is_ascii=options.is_ascii)
        spoke = lambda: self.post_message(PanelChanged())  # noqa: E731
        ended = options.panel_ended or (lambda _, __: None)
        self._asked = [Asked(panel, spoke, reception.clock, ended) for panel in options.panels]

    def take_keys(self, keys: Keymap) -> None:
        """Let other keys hold from now on."""
        super().take_keys(keys)
        self.panels_key = keys.name("panels")

    @property
    def told(self) -> Sequence[Told]:
        """What the panels last said."""
        return [each.told for each in self._asked]

    def ask_panels(self) -> None:
        """Ask them what there is to say of what is shown."""
        frame = self._view.frame
        if frame is not None:
            for each in self._asked:
                each.ask(Shown(frame=frame, width=max(20, self.size.width - 2)))

    def show_panels(self, size: tuple[int, int]) -> int:
        """Draw what they said; return how many lines that takes."""
        has_room = self.settings.show_panels and size[1] >= _LEAST_HEIGHT
        return self.plugged.show(self.told if has_room else (), size[1] // _SHARE, self.panels_key)

    def action_panels(self) -> None:
        """Show all that they say."""
        self.app.push_screen(PanelsScreen(lambda: self.told, is_ascii=self._options.is_ascii))

    def on_plugins_panel_wanted(self, _: PluginsPanel.Wanted) -> None:
        """Show all that they say."""
        self.action_panels()

    def on_panel_changed(self, _: PanelChanged) -> None:
        """Draw what is new."""
        top = self.app.screen
        if isinstance(top, PanelsScreen):
            top.draw_page()
        if top is self or isinstance(top, PanelsScreen):
            self.show()
