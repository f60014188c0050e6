"""The dialog for the I/O class."""

from typing import Final

from textual import events

from gputop.core.protocol.command import Change, IoClass, SetIoClass, io_class_text
from gputop.core.protocol.targets import targets
from gputop.ui.screens.dialogs.value import ValueScreen

_LEVELS: Final = (IoClass.REALTIME, IoClass.BEST_EFFORT)
_IO_HELP: Final = {
    IoClass.NONE: "none: as its nice value says",
    IoClass.REALTIME: "realtime: before all others; needs root",
    IoClass.BEST_EFFORT: "best-effort: the usual class",
    IoClass.IDLE: "idle: only when nobody else wants the disk",
}


class IoClassScreen(ValueScreen):
    """Asks for an I/O class; digits are its level."""

    asks_for = "I/O class"
    signs = "01234567"
    io_class = IoClass.BEST_EFFORT
    level = 4

    def first_text(self) -> str:
        """Propose what it is now, the usual where that differs or is not known."""
        words = (self.common(lambda one: one.io_class) or "").split()
        if words and words[0] in {each.value for each in IoClass}:
            self.io_class = IoClass(words[0])
            self.level = int(words[1]) if len(words) > 1 else 4
        return self._chosen_text()

    def change(self, text: str) -> Change:  # noqa: ARG002 - the text only shows it
        """Return the change."""
        return SetIoClass(id=self.change_id, io_class=self.io_class, level=self.level, targets=targets(self.targets))

    def typed(self, event: events.Key) -> bool:
        """Take a digit as the level; the class is chosen, not typed."""
        is_level = (event.character or "x") in self.signs
        if is_level:
            self.level = int(event.character or "0")
            self.change_by(0)
        return is_level

    def step(self, by: int) -> None:
        """Take the class above or below."""
        order = list(IoClass)
        self.io_class = order[(order.index(self.io_class) - by) % len(order)]
        self.field.propose(self._chosen_text())

    def hints(self) -> list[tuple[str, str]]:
        """Return what each class is."""
        level = "level 0 to 7: 0 goes first" if self.io_class in _LEVELS else f"{self.io_class.value} has no level"
        return [
            (f"now {self.present(lambda one: one.io_class)}", "text"),
            (f"↑ ↓ class: {', '.join(each.value for each in IoClass)}; {level}", "muted"),
            (_IO_HELP[self.io_class], "text"),
        ]

    def _chosen_text(self) -> str:
        return io_class_text(self.io_class, self.level)
