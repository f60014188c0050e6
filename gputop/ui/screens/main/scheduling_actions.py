"""Actions that change how the kernel schedules processes: nice value, I/O class, CPUs."""

from gputop.core.protocol.command import Renice
from gputop.core.protocol.targets import targets, users_text
from gputop.ui.screens.main.changes import Changes
from gputop.ui.screens.main.host import ScreenHost
from gputop.ui.screens.main.target_actions import TargetActions
from gputop.ui.state.signal_targets import Scope, TargetSelection


class SchedulingActions:
    """Opens a dialog for a value, and sends the change that it returns."""

    def __init__(self, host: ScreenHost, selected: TargetActions, changes: Changes) -> None:
        self._host = host
        self._selected = selected
        self._changes = changes

    def add_nice(self, step: int) -> None:
        """Add to the nice value of the process under the cursor, or of the tagged ones, without a dialog.

        A line of several processes, processes of several users, and a change that the user cannot undo open the dialog.
        Without a cursor the first press only selects.
        """
        had_cursor = self._selected.has_any
        selection = self._selected.select()
        if selection is None:
            return
        is_group = self._selected.is_row and not self._host.processes.tags.ids
        is_wide = is_group or bool(users_text(selection.selected))
        if not had_cursor:
            self._host.notify(f"{selection.selected[0].pid} is selected: press the key again", timeout=4)
        elif is_wide or (step > 0 and not selection.is_root):
            self._open("nice", selection, self._selected.scope if is_group else Scope.PROCESS, step)
        else:
            change_id = self._changes.next_id()
            processes = targets(selection.selected)
            self._changes.send(Renice(id=change_id, nice=step, is_relative=True, targets=processes))

    def open(self, value: str) -> None:
        """Open the dialog for a value: ``nice``, ``io-class`` or ``cpus``."""
        selection = self._selected.select()
        if selection is not None:
            self._open(value, selection, self._selected.scope)

    def _open(self, value: str, selection: TargetSelection, scope: Scope, step: int = 0) -> None:
        """Open the dialog for a value; ``step``: from the present nice value to the proposed one."""
        from gputop.ui.screens.dialogs.affinity import AffinityScreen
        from gputop.ui.screens.dialogs.io_class import IoClassScreen
        from gputop.ui.screens.dialogs.renice import ReniceScreen

        kind = {"nice": ReniceScreen, "io-class": IoClassScreen, "cpus": AffinityScreen}[value]
        is_row = self._selected.is_row
        dialog = kind(selection, self._changes.next_id(), self._host.send, scope=scope, is_row=is_row)
        dialog.proposed_step = step
        self._host.push(dialog, self._changes.send)
