"""Actions that change how the kernel schedules processes: nice value, I/O class, CPUs."""

from collections.abc import Callable
from typing import Protocol

from textual.screen import Screen

from gputop.core.protocol.command import Change, Command, Renice
from gputop.core.protocol.targets import targets
from gputop.ui.screens.main.changes import Changes
from gputop.ui.screens.main.host import ScreenHost
from gputop.ui.screens.main.target_actions import TargetActions
from gputop.ui.state.signal_targets import Scope, TargetSelection


class _ValueDialog(Protocol):
    def __call__(
        self,
        selection: TargetSelection,
        change_id: str,
        send: Callable[[Command], None],
        /,
        *,
        scope: Scope,
    ) -> Screen[Change | None]: ...


class SchedulingActions:
    """Opens a dialog for a value, and sends the change that it returns."""

    def __init__(self, host: ScreenHost, selected: TargetActions, changes: Changes) -> None:
        self._host = host
        self._selected = selected
        self._changes = changes

    def add_nice(self, step: int) -> None:
        """Add to the nice value, without a dialog."""
        selection = self._selected.select()
        if selection is not None:
            processes = selection.within(self._selected.scope)
            change_id = self._changes.next_id()
            self._changes.send(Renice(id=change_id, nice=step, is_relative=True, targets=targets(processes)))

    def renice(self) -> None:
        """Open the dialog for a nice value."""
        from gputop.ui.screens.dialogs.renice import ReniceScreen

        self._open(ReniceScreen)

    def set_io_class(self) -> None:
        """Open the dialog for an I/O class."""
        from gputop.ui.screens.dialogs.io_class import IoClassScreen

        self._open(IoClassScreen)

    def set_affinity(self) -> None:
        """Open the dialog for CPUs."""
        from gputop.ui.screens.dialogs.affinity import AffinityScreen

        self._open(AffinityScreen)

    def _open(self, dialog: _ValueDialog) -> None:
        selection = self._selected.select()
        if selection is not None:
            change_id, scope = self._changes.next_id(), self._selected.scope
            screen = dialog(selection, change_id, self._host.send, scope=scope)
            self._host.push(screen, self._changes.send)
