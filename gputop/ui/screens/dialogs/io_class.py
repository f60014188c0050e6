"""Dialog for the I/O class."""

from typing import Final

from textual import events

from gputop.core.protocol.command import Change, IoClass, SetIoClass, io_class_text
from gputop.core.protocol.targets import targets
from gputop.ui.screens.dialogs.value import ValueScreen

_LEVELS: Final = (IoClass.REALTIME, IoClass.BEST_EFFORT)
_IO_HELP: Final = {
    IoClass.NONE: "none: the priority follows from the nice value",
    IoClass.REALTIME: "realtime: served before all others; needs root",
    IoClass.BEST_EFFORT: "best-effort: the usual class",
    IoClass.IDLE: "idle: served only when no other process uses the disk",
}


class IoClassScreen(ValueScreen):
    """Asks for an I/O class; digits are its level."""

    asks_for = "I/O class"
    signs = "01234567"
    io_class = IoClass.BEST_EFFORT
    level = 4

    def first_text(self) -> str:
        """Propose the present class; the usual one if the targets differ or it is not known."""
        words = (self.common(lambda one: one.io_class) or "").split()
        if words and words[0] in {each.value for each in IoClass}:
            self.io_class = IoClass(words[0])
            self.level = int(words[1]) if len(words) > 1 else 4
        return self._chosen_text()

    def change(self, text: str) -> Change:  # noqa: ARG002 - the text only shows it
        """Return the change."""
        return SetIoClass(id=self.change_id, io_class=self.io_class, level=self.level, targets=targets(self.targets))

    def typed(self, event: events.Key) -> bool:
        """Read a digit as the level; the arrow keys choose the class."""
        is_level = (event.character or "x") in self.signs
        if is_level:
            self.level = int(event.character or "0")
            self.change_by(0)
        return is_level

    def step(self, by: int) -> None:
        """Choose the class above or below."""
        order = list(IoClass)
        self.io_class = order[(order.index(self.io_class) - by) % len(order)]
        self.field.propose(self._chosen_text())

    def hints(self) -> list[tuple[str, str]]:
        """Return the present class and the help of the chosen one."""
        level = "level 0 (highest) to 7 (lowest)" if self.io_class in _LEVELS else f"{self.io_class.value} has no level"
        return [
            (f"now {self.present(lambda one: one.io_class)}", "text"),
            (f"↑ ↓ class: {', '.join(each.value for each in IoClass)}; {level}", "muted"),
            (_IO_HELP[self.io_class], "text"),
        ]

    def _chosen_text(self) -> str:
        return io_class_text(self.io_class, self.level)
