"""Question before an undo that changes several processes."""

from collections.abc import Mapping, Sequence
from textwrap import wrap
from typing import ClassVar

from gputop.core.protocol.command import ProcessChange, wording
from gputop.ui.render.line import Line
from gputop.ui.screens.dialogs.dialog import Dialog
from gputop.ui.screens.dialogs.modal import SCROLLS


class UndoScreen(Dialog[bool]):
    """Lists the processes and the values that they get back. It returns whether the user confirmed."""

    TAKES: ClassVar[Mapping[str, str]] = {
        "back": "close", "quit": "close", "refuse": "close", "accept": "confirm", **SCROLLS,
    }  # fmt: skip

    def __init__(self, changes: Sequence[ProcessChange]) -> None:
        super().__init__()
        self._changes = changes

    def confirm(self) -> None:
        """Undo."""
        self.dismiss(True)

    def title_line(self) -> str:
        """Return the question."""
        return f"Undo the last change of {sum(len(one.targets) for one in self._changes)} processes?"

    def keys_line(self) -> str:
        """Return the keys."""
        return f"{self.name_of('accept')} undo · {self.name_of('back')} cancel"

    def page(self, width: int, height: int) -> Sequence[Line]:  # noqa: ARG002 - it scrolls
        """Return each value with its processes."""
        lines: list[Line] = []
        for change in self._changes:
            pids = " ".join(str(one.pid) for one in change.targets)
            lines.append(Line(((f"back to {wording(change)}", "title"),)))
            lines += [Line(((f"  {part}", "text"),)) for part in wrap(pids, max(20, width - 2))]
        return lines
