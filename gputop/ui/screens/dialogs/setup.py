"""Settings dialog: the screen shows each change at once; Esc undoes all of them, other ways out save them.

The list is drawn by hand, not with an OptionList: left and right change the marked row in place and move columns.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import ClassVar

from textual import events

from gputop.core.processes.columns import COLUMN_BY_KEY
from gputop.core.settings.settings import Settings
from gputop.core.text.fit import fit
from gputop.ui.render.line import BLANK, Line
from gputop.ui.screens.dialogs.list_dialog import MOVES, ListDialog
from gputop.ui.state.settings_edit import OPTIONS, listed, moved, shown, toggled


class SetupScreen(ListDialog[Settings | None]):
    """Changes settings. ``apply`` gets the settings after each change; the dialog returns the final settings, or None.

    ``file``: the path that they are saved to, if any.
    """

    TAKES: ClassVar[Mapping[str, str]] = {
        "back": "cancel", "quit": "close", "accept": "close", "setup": "close", **MOVES,
        "page-up": "move_page(-1)", "page-down": "move_page(1)", "left": "step(-1)", "right": "step(1)",
        "faster": "step(-1)", "slower": "step(1)", "tag": "toggle",
    }  # fmt: skip

    def __init__(self, settings: Settings, apply: Callable[[Settings], None], file: str = "") -> None:
        super().__init__()
        self._before = settings
        self._file = file
        self.settings = settings
        self._apply = apply
        self._rest = 0

    def title_line(self) -> str:
        """Return the title."""
        return f"Settings · {self.name_of('accept')} saves to {self._file}" if self._file else "Settings"

    def keys_line(self) -> str:
        """Return the keys."""
        left, right = self.name_of("left"), self.name_of("right")
        ends = f"{self.name_of('accept')} save  {self.name_of('back')} undo"
        rest = f"{self._rest} more below  " if self._rest else ""
        if self.at < len(OPTIONS):
            return f"{rest}{left} {right} change  {ends}"
        return f"{rest}{self.name_of('tag')} show or hide  {left} {right} move  {ends}"

    def page(self, width: int, height: int) -> Sequence[Line]:  # noqa: ARG002 - lines are cut
        """Return the options and columns that fit around the cursor."""
        options = [self._option(at) for at in range(len(OPTIONS))]
        columns = [self._column(at, key) for at, key in enumerate(listed(self.settings), len(OPTIONS))]
        lines = [_title("Screen"), *options, BLANK, _title("Columns of the process table, in this order"), *columns]
        self._shown = min(height, len(lines))
        line = self._line_of(self.at)
        top = 0 if self.at == 0 else min(self.first_shown, line)
        self.first_shown = max(0, min(max(top, line - self._shown + 1), len(lines) - self._shown))
        self._rest = len(lines) - self.first_shown - self._shown
        return lines[self.first_shown : self.first_shown + self._shown]

    def on_click(self, event: events.Click) -> None:
        """Mark the clicked entry, change it on the second click; undo on a click outside."""
        if not self.frame.region.contains(event.screen_x, event.screen_y):
            self.cancel()
            return
        line = self.first_shown + event.screen_y - self.frame.region.y - 1
        for at in range(self._count):
            if self._line_of(at) == line:
                self.toggle() if at == self.at else self.move_to(at)

    def move_to(self, at: int) -> None:
        """Set the cursor on an option or a column."""
        super().move_to(max(0, min(at, self._count - 1)))

    def move_page(self, pages: int) -> None:
        """Move by pages."""
        self.move(pages * self._shown)

    def cancel(self) -> None:
        """Undo all changes, and close."""
        if self.settings != self._before:
            self._apply(self._before)
        self.dismiss(None)

    def close(self) -> None:
        """Close; the settings are saved."""
        self.dismiss(self.settings)

    def toggle(self) -> None:
        """Show or hide the column, or take the next value."""
        if self.at < len(OPTIONS):
            self.step(1)
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

    def step(self, step: int) -> None:
        """Take the next or previous value, or move the column."""
        if self.at < len(OPTIONS):
            self._take(OPTIONS[self.at].changed(self.settings, step))
        else:
            self._take(moved(self.settings, self._key, step), self._key)

    def _take(self, settings: Settings, key: str | None = None) -> None:
        """Apply a change; the cursor stays on its column."""
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
