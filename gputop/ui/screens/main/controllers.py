"""The controllers of the main screen: each action of a key names one of them and its method."""

from typing import Protocol

from textual import actions
from textual.message import Message

from gputop.ui.messages import PanelChanged, ProbeProgressed, SettingsChanged
from gputop.ui.options import ViewOptions
from gputop.ui.panels.footer import FooterPanel
from gputop.ui.panels.plugins import PluginsPanel
from gputop.ui.panels.processes import ProcessPanel
from gputop.ui.panels.prompt import PromptPanel
from gputop.ui.screens.main.changes import Changes
from gputop.ui.screens.main.finding_actions import FindingActions
from gputop.ui.screens.main.host import ScreenHost
from gputop.ui.screens.main.page_actions import PageActions
from gputop.ui.screens.main.player_actions import PlayerActions
from gputop.ui.screens.main.plugin_panel_actions import PluginPanelActions
from gputop.ui.screens.main.probe_actions import ProbeActions
from gputop.ui.screens.main.recording_actions import RecordingActions
from gputop.ui.screens.main.scheduling_actions import SchedulingActions
from gputop.ui.screens.main.search_actions import SearchActions
from gputop.ui.screens.main.settings_actions import SettingsActions
from gputop.ui.screens.main.signal_actions import SignalActions
from gputop.ui.screens.main.table_actions import TableActions
from gputop.ui.screens.main.target_actions import TargetActions
from gputop.ui.screens.main.view_actions import ViewActions
from gputop.ui.state.view_store import ViewStore


class Panels(Protocol):
    """The panels that controllers use, and where their messages go."""

    processes: ProcessPanel
    prompt: PromptPanel
    footer: FooterPanel
    plugins: PluginsPanel

    def post_message(self, message: Message) -> bool:
        """Post a message, from any thread."""
        ...


class Controllers:
    """Makes each controller after those that it uses."""

    def __init__(self, host: ScreenHost, panels: Panels, store: ViewStore, options: ViewOptions) -> None:
        processes, clock, post = panels.processes, store.clock, panels.post_message
        self.changes = Changes(host, options)
        self.settings = SettingsActions(host, processes, options, lambda old, new: post(SettingsChanged(old, new)))
        self.table = TableActions(host, processes, panels.footer, options)
        self.search = SearchActions(host, panels.prompt, processes, panels.footer)
        self.target = TargetActions(host, processes, options)
        self.view = ViewActions(host, store, processes, self.target, self.search)
        self.signal = SignalActions(host, self.target, self.changes, options, clock)
        self.scheduling = SchedulingActions(host, self.target, self.changes, options)
        self.finding = FindingActions(host, store, processes, self.signal, options)
        self.page = PageActions(host, processes, options, clock)
        self.probe = ProbeActions(host, store, options, lambda: post(ProbeProgressed()))
        self.plugin = PluginPanelActions(host, panels.plugins, options, clock, lambda: post(PanelChanged()))
        self.recording = RecordingActions(host, store, options)
        self.player = PlayerActions(host, options.player, processes, options) if options.player is not None else None

    def run(self, action: str) -> bool:
        """Run an action such as ``signal.choose(1)``; return whether it is one of a controller."""
        name, method, arguments = actions.parse(action)
        controller = getattr(self, name, None) if name else None
        if controller is not None:
            getattr(controller, method)(*arguments)
        return controller is not None
