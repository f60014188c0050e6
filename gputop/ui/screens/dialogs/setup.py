"""The set-up screen: what it changes is shown at once, and saved when it closes."""

from collections.abc import Callable, Mapping, Sequence
from typing import ClassVar

from textual import events
from textual.message import Message

from gputop.core.processes.columns import COLUMN_BY_KEY
from gputop.core.settings.settings import Settings
from gputop.core.text.text import fit
from gputop.ui.render.line import BLANK, Line
from gputop.ui.screens.dialogs.dialog import Dialog
from gputop.ui.state.settings_edit import OPTIONS, listed, moved, shown, toggled


class SetupScreen(Dialog[Settings]):
    """Changes settings. ``apply`` is called with each change; ends with what holds."""

    TAKES: ClassVar[Mapping[str, str]] = {
        "back": "close", "quit": "close", "accept": "close", "setup": "close", "up": "previous", "down": "following",
        "page-up": "page_back", "page-down": "page_on", "home": "first", "end": "last", "left": "less",
        "right": "more", "faster": "less", "slower": "more", "tag": "toggle",
    }  # fmt: skip

    def __init__(self, settings: Settings, apply: Callable[[Settings], None]) -> None:
        super().__init__()
        self.settings = settings
        self.at = 0
        self._apply = apply
        self._top = 0
        self._rest = 0

    def is_meant(self, event: Message, guard_s: float = 0.0) -> bool:  # noqa: ARG002 - nothing here does harm
        """Take keys that were typed ahead as well."""
        return True

    def title_line(self) -> str:
        """Return what this is."""
        return "Set-up"

    def keys_line(self) -> str:
        """Return what keys do."""
        left, right, back = (self.name_of(action) for action in ("left", "right", "back"))
        rest = f"{self._rest} more below  " if self._rest else ""
        if self.at < len(OPTIONS):
            return f"{rest}{left} {right} changes  {back} closes and saves"
        return f"{rest}{self.name_of('tag')} shows or hides  {left} {right} moves it  {back} closes and saves"

    def page(self, width: int, height: int) -> Sequence[Line]:  # noqa: ARG002 - lines are cut
        """Return options and columns, as much as fits around the cursor."""
        options = [self._option(at) for at in range(len(OPTIONS))]
        columns = [self._column(at, key) for at, key in enumerate(listed(self.settings), len(OPTIONS))]
        lines = [_title("Screen"), *options, BLANK, _title("Columns of the processes, in their order"), *columns]
        self._shown = min(height, len(lines))
        line = self._line_of(self.at)
        top = 0 if self.at == 0 else min(self._top, line)
        self._top = max(0, min(max(top, line - self._shown + 1), len(lines) - self._shown))
        self._rest = len(lines) - self._top - self._shown
        return lines[self._top : self._top + self._shown]

    def on_click(self, event: events.Click) -> None:
        """Choose what is clicked, a second time change it; beside the list close."""
        if not self.frame.region.contains(event.screen_x, event.screen_y):
            self.close()
            return
        line = self._top + event.screen_y - self.frame.region.y - 1
        for at in range(self._count):
            if self._line_of(at) == line:
                self.toggle() if at == self.at else self._go(at)

    def on_mouse_scroll_down(self) -> None:
        """Go on."""
        self.following()

    def on_mouse_scroll_up(self) -> None:
        """Go back."""
        self.previous()

    def close(self) -> None:
        """Go away."""
        self.dismiss(self.settings)

    def previous(self) -> None:
        """Go to the entry before."""
        self._go(self.at - 1)

    def following(self) -> None:
        """Go to the next entry."""
        self._go(self.at + 1)

    def page_back(self) -> None:
        """Go a page back."""
        self._go(self.at - self._shown)

    def page_on(self) -> None:
        """Go a page on."""
        self._go(self.at + self._shown)

    def first(self) -> None:
        """Go to the first entry."""
        self._go(0)

    def last(self) -> None:
        """Go to the last entry."""
        self._go(self._count - 1)

    def less(self) -> None:
        """Take the value before, or move the column to the left."""
        self._step(-1)

    def more(self) -> None:
        """Take the next value, or move the column to the right."""
        self._step(1)

    def toggle(self) -> None:
        """Show or hide the column, or take the next value."""
        if self.at < len(OPTIONS):
            self._step(1)
            return
        self._take(toggled(self.settings, self._key), self._key)

    @property
    def _key(self) -> str:
        return listed(self.settings)[self.at - len(OPTIONS)]

    @property
    def _count(self) -> int:
        return len(OPTIONS) + len(listed(self.settings))

    def _line_of(self, at: int) -> int:
        return at + 1 if at < len(OPTIONS) else at + 3

    def _go(self, at: int) -> None:
        self.at = max(0, min(at, self._count - 1))
        self.redraw()

    def _step(self, step: int) -> None:
        if self.at < len(OPTIONS):
            self._take(OPTIONS[self.at].changed(self.settings, step))
        else:
            self._take(moved(self.settings, self._key, step), self._key)

    def _take(self, settings: Settings, key: str | None = None) -> None:
        """Let a change hold; the cursor stays on its column."""
        self.settings = settings
        if key is not None:
            self.at = len(OPTIONS) + listed(settings).index(key)
        self._apply(settings)
        self.redraw()

    def _option(self, at: int) -> Line:
        option = OPTIONS[at]
        value = option.text(self.settings)
        spans = [(fit(f" {option.label}", 20), "text"), (fit(value, 18), "title"), (option.help, "muted")]
        return Line(tuple(spans), "cursor" if at == self.at else "text")

    def _column(self, at: int, key: str) -> Line:
        column = COLUMN_BY_KEY[key]
        is_shown = key in shown(self.settings)
        spans = [
            (" [x] " if is_shown else " [ ] ", "accent" if is_shown else "muted"),
            (fit(column.title, 15), "title" if is_shown else "text"),
            (column.help, "muted"),
        ]
        return Line(tuple(spans), "cursor" if at == self.at else "text")


def _title(text: str) -> Line:
    return Line(((text, "accent"),))
