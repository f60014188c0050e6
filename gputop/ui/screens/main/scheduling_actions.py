"""Actions that change how the kernel schedules processes: nice value, I/O class, CPUs."""

from gputop.core.protocol.command import Renice
from gputop.core.protocol.targets import targets, users_text
from gputop.ui.screens.main.changes import Changes
from gputop.ui.screens.main.host import ScreenHost
from gputop.ui.screens.main.target_actions import TargetActions


class SchedulingActions:
    """Opens a dialog for a value, and sends the change that it returns."""

    def __init__(self, host: ScreenHost, selected: TargetActions, changes: Changes) -> None:
        self._host = host
        self._selected = selected
        self._changes = changes

    def add_nice(self, step: int) -> None:
        """Add to the nice value, without a dialog; for processes of several users open it."""
        selection = self._selected.select()
        if selection is None:
            return
        processes = selection.within(selection.beginning(self._selected.scope))
        if users_text(processes):
            self.open("nice")
        else:
            change_id = self._changes.next_id()
            self._changes.send(Renice(id=change_id, nice=step, is_relative=True, targets=targets(processes)))

    def open(self, value: str) -> None:
        """Open the dialog for a value: ``nice``, ``io-class`` or ``cpus``."""
        from gputop.ui.screens.dialogs.affinity import AffinityScreen
        from gputop.ui.screens.dialogs.io_class import IoClassScreen
        from gputop.ui.screens.dialogs.renice import ReniceScreen

        selection = self._selected.select()
        if selection is not None:
            dialog = {"nice": ReniceScreen, "io-class": IoClassScreen, "cpus": AffinityScreen}[value]
            change_id, scope = self._changes.next_id(), self._selected.scope
            self._host.push(dialog(selection, change_id, self._host.send, scope=scope), self._changes.send)
