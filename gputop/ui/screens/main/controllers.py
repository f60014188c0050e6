"""The controllers of the main screen: the action of a key names one of them, the process table or the player."""

from textual import actions

from gputop.core.protocol.process_status import ProcessStatuses
from gputop.ui.input.actions import ACTIONS
from gputop.ui.screens.main.changes import Changes
from gputop.ui.screens.main.copy_actions import CopyActions
from gputop.ui.screens.main.finding_actions import FindingActions
from gputop.ui.screens.main.host import ScreenHost
from gputop.ui.screens.main.link_actions import LinkActions
from gputop.ui.screens.main.notification_actions import NotificationActions
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


class Controllers:
    """Makes each controller after those that it uses."""

    def __init__(self, host: ScreenHost) -> None:
        self._notify = host.notify
        lacks = host.options.lacks
        self._off = {each.run: lacks[each.sends] for each in ACTIONS if each.sends in lacks}
        self.processes = host.processes
        self.changes = Changes(host)
        self.settings = SettingsActions(host)
        self.table = TableActions(host)
        self.search = SearchActions(host)
        self.target = TargetActions(host)
        self.view = ViewActions(host, self.target, self.search)
        self.signal = SignalActions(host, self.target, self.changes)
        self.scheduling = SchedulingActions(host, self.target, self.changes)
        self.finding = FindingActions(host, self.signal)
        self.page = PageActions(host)
        self.copy = CopyActions(host)
        self.notification = NotificationActions(host, self.settings)
        self.probe = ProbeActions(host)
        self.plugin = PluginPanelActions(host)
        self.recording = RecordingActions(host)
        self.link = LinkActions(host)
        self.player = player = host.options.player
        self.replay = PlayerActions(host, player) if player is not None else None

    def take_statuses(self, statuses: ProcessStatuses) -> bool:
        """Pass the status of processes to the controller that requested it; return whether one did."""
        return self.signal.followups.take_statuses(statuses) or self.notification.take_statuses(statuses)

    def run(self, action: str) -> bool:
        """Run an action such as ``signal.choose(1)``; return whether it is one of a controller."""
        if action in self._off:
            self._notify(self._off[action], severity="warning", timeout=6)
            return True
        name, method, arguments = actions.parse(action)
        controller = getattr(self, name, None) if name else None
        if controller is not None:
            getattr(controller, method)(*arguments)
        return controller is not None
