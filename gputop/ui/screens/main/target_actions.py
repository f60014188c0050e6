"""Actions that tag processes, and the targets of the next change."""

from collections.abc import Set as AbstractSet
from typing import Final

from gputop.core.model.process_id import ProcessId
from gputop.core.model.sample import Frame
from gputop.core.protocol.targets import users_text
from gputop.ui.screens.dialogs.dialog import Dialog
from gputop.ui.screens.main.host import ScreenHost
from gputop.ui.state.rows import Grouping
from gputop.ui.state.selection import process_ids
from gputop.ui.state.signal_targets import Processes, Scope, TargetSelection, family, find_processes, has_known_launcher

_NONE_SELECTED: Final = "Select a process first: move the cursor onto one, or tag some with Space."


class TargetActions:
    """The targets of a change are the tagged processes; without tags, those under the cursor."""

    def __init__(self, host: ScreenHost) -> None:
        self._host = host
        self._processes = host.processes

    # --- actions ---------------------------------------------------------------------------------------------------
    def tag(self) -> None:
        """Tag the process under the cursor, or untag it, and move on to the next."""
        if self._processes.selected_line is None:
            self._processes.move(0)
        line = self._processes.selected_line
        if line is None:
            self._warn_none_selected()
        else:
            self._toggle(process_ids(line))
            self._processes.move(1)

    def tag_job(self) -> None:
        """Tag the job of the process under the cursor, or its descendants; of a group all processes.

        Processes of other users are not tagged with it.
        """
        row, line, frame = self._processes.selected, self._processes.selected_line, self._host.view.frame
        if row is None or line is None or frame is None:
            self._warn_none_selected()
        elif line.is_group and self._processes.grouping is not Grouping.JOB:
            self._toggle(process_ids(line))
        else:
            whole = family(frame, row.process)
            own = {one.id for one in whole if one.user == row.process.user}
            if len(own) < len(whole):
                self._warn(f"tagged only those of {row.process.user or 'one user'}: it has {users_text(whole)}")
            self._toggle(own)

    def untag(self) -> None:
        """Remove all tags, or say that there are none."""
        if not self.clear_tags():
            self._warn("no process is tagged")

    # --- for other controllers -------------------------------------------------------------------------------------
    def clear_tags(self) -> bool:
        """Remove all tags; return whether there were any."""
        had = self._processes.tags.clear()
        self._processes.show_again()
        return had

    def select(self, processes: Processes | None = None) -> TargetSelection | None:
        """Freeze these processes, or the selected ones, as the targets of a change; warn where there are none.

        Without a cursor the first line of the table is selected, as in htop. Of a job of several users only the first
        process is selected: the dialog offers the others.
        """
        frame, options = self._host.view.frame, self._host.options
        if options.refusal:
            self._warn(options.refusal)
        elif not isinstance(self._host.top, Dialog) and frame is not None:
            selected = self._selected(frame) if processes is None else processes
            if selected:
                return TargetSelection(frame, selected, options.own_user, options.own_pid)
            self._warn_none_selected()
        return None

    @property
    def scope(self) -> Scope:
        """The scope that a dialog begins with: the process, or its job if the launcher of the job is known.

        Tags and groups select only their own processes; a folded line of the tree also selects those that it hides.
        """
        line, frame = self._processes.selected_line, self._host.view.frame
        if self.is_row and line is not None and not self._processes.tags.ids:
            is_job = line.is_group and self._processes.grouping is Grouping.JOB
            return Scope.JOB if is_job else Scope.PROCESS if line.is_group else Scope.TREE
        if self.is_row or line is None or frame is None:
            return Scope.PROCESS
        return Scope.JOB if has_known_launcher(frame, line.row.process) else Scope.PROCESS

    @property
    def is_row(self) -> bool:
        """Whether the tags, or the line under the cursor, select exactly the processes of `scope`."""
        line = self._processes.selected_line
        return bool(self._processes.tags.ids) or (line is not None and (line.is_group or line.is_open is False))

    @property
    def has_any(self) -> bool:
        """Whether there is a cursor or a tag."""
        return bool(self._processes.tags.ids) or self._processes.selected_line is not None

    def _selected(self, frame: Frame) -> Processes:
        if not self.has_any:
            self._processes.move(0)
        tagged, line = self._processes.tags.ids, self._processes.selected_line
        found = find_processes(frame, tagged or (process_ids(line) if line is not None else ()))
        is_job = not tagged and line is not None and line.is_group and self._processes.grouping is Grouping.JOB
        return found[:1] if is_job and users_text(found) else found

    def _toggle(self, ids: AbstractSet[ProcessId]) -> None:
        self._processes.tags.toggle(ids)
        self._processes.show_again()

    def _warn_none_selected(self) -> None:
        frame = self._host.view.frame
        self._warn(_NONE_SELECTED if frame is not None and frame.processes else "no process is using a GPU")

    def _warn(self, text: str) -> None:
        self._host.notify(text, severity="warning", timeout=5)
