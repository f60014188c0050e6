"""The process table: a window of its own onto the sorted rows; only what it shows is formatted."""

from collections.abc import Sequence
from typing import Final, TypeAlias

from textual import events

from gputop.core.columns import COLUMN_BY_KEY, Column, Row, rows, sorted_rows, used_columns, visible_columns
from gputop.core.sample import Frame
from gputop.ui.line import Line
from gputop.ui.panels.process_rows import head_line, row_line
from gputop.ui.view import View
from gputop.ui.widgets.fastlines import FastLines

RowKey: TypeAlias = tuple[int, int | None, str, int | None]
_WHEEL: Final = 3
_LEAST_COMMAND: Final = 16


class ProcessPanel(FastLines, can_focus=True):
    """Shows processes. The cursor holds a row's key, so it stays with its process."""

    def __init__(self, *, is_ascii: bool, own_user: str | None) -> None:
        super().__init__(is_ascii=is_ascii)
        self._own_user = own_user
        self._view: View | None = None
        self._rows: Sequence[Row] = ()
        self._columns: list[tuple[Column, int]] = []
        self._used: frozenset[str] = frozenset()
        self._top = 0
        self._skip = 0
        self._cursor: RowKey | None = None
        self._cursor_at = 0
        self.sort_key = "gpu"
        self.is_reversed = False

    def show(self, view: View) -> None:
        """Draw the view; the cursor's process stays in the window if it was there."""
        was_visible = self._is_visible()
        self._view = view
        found = rows(view.frame) if view.frame else []
        if view.focus is not None:
            found = [row for row in found if row.use.gpu_index == view.focus]
        self._used = used_columns(found, self._used)
        self._rows = sorted_rows(found, COLUMN_BY_KEY[self.sort_key], is_reversed=self.is_reversed)
        self._find_cursor()
        if was_visible:
            self._bring_cursor()
        self._paint()

    def sort_by(self, key: str, *, is_reversed: bool | None = None) -> None:
        """Sort by a column: numbers from above, texts and the GPU from below, unless told."""
        column = COLUMN_BY_KEY[key]
        natural = not (column.is_text or key in {"gpu", "pid", "nice"})
        if is_reversed is None:
            is_reversed = not self.is_reversed if key == self.sort_key else natural
        self.sort_key, self.is_reversed = key, is_reversed
        self._again()

    def sort_beside(self, step: int) -> None:
        """Sort by the next shown column, or the one before."""
        keys = [column.key for column, _ in self._columns]
        at = keys.index(self.sort_key) if self.sort_key in keys else 0
        key = keys[(at + step) % len(keys)]
        self.sort_key = ""
        self.sort_by(key)

    def move(self, step: int) -> None:
        """Move the cursor by so many rows; the first move sets it on the first row in the window."""
        if self._rows:
            self._set_cursor(self._top if self._cursor is None else self._cursor_at + step)

    def move_page(self, pages: int) -> None:
        """Move by a window's height."""
        if self._cursor is None:
            self._move_window(self._top + pages * self._shown)
        else:
            self.move(pages * max(1, self._shown - 1))

    def move_to_end(self, *, is_last: bool) -> None:
        """Go to the first or the last row."""
        self._set_cursor(len(self._rows) - 1 if is_last else 0)

    def clear_cursor(self) -> bool:
        """Take the cursor away; say whether there was one."""
        had, self._cursor = self._cursor is not None, None
        self._paint()
        return had

    def scroll_command(self, step: int) -> None:
        """Scroll the command lines sideways."""
        longest = max((len(row.process.command) for row in self._rows), default=0)
        self._skip = max(0, min(self._skip + step, max(0, longest - _LEAST_COMMAND)))
        self._paint()

    @property
    def selected(self) -> Row | None:
        """The row under the cursor."""
        return self._rows[self._cursor_at] if self._cursor is not None and self._rows else None

    def on_resize(self) -> None:
        """Fit the new size."""
        self._again()

    def on_click(self, event: events.Click) -> None:
        """Sort by a clicked title, or select a clicked row."""
        if event.y == 0:
            self._sort_at(event.x)
        elif self._top + event.y - 1 < len(self._rows):
            self._set_cursor(self._top + event.y - 1)

    def on_mouse_scroll_down(self) -> None:
        """Move the window down."""
        self._move_window(self._top + _WHEEL)

    def on_mouse_scroll_up(self) -> None:
        """Move the window up."""
        self._move_window(self._top - _WHEEL)

    @property
    def _shown(self) -> int:
        return max(1, self.size.height - 1)

    def _again(self) -> None:
        if self._view is not None:
            self.show(self._view)

    def _is_visible(self) -> bool:
        return self._cursor is not None and self._top <= self._cursor_at < self._top + self._shown

    def _find_cursor(self) -> None:
        """Find the cursor's process again; where it is gone, its place is taken by the process that is there now."""
        if self._cursor is None:
            return
        for at, row in enumerate(self._rows):
            if row.key == self._cursor:
                self._cursor_at = at
                return
        self._cursor_at = max(0, min(self._cursor_at, len(self._rows) - 1))
        self._cursor = self._rows[self._cursor_at].key if self._rows else None

    def _set_cursor(self, at: int) -> None:
        if self._rows:
            self._cursor_at = max(0, min(at, len(self._rows) - 1))
            self._cursor = self._rows[self._cursor_at].key
            self._bring_cursor()
            self._paint()

    def _bring_cursor(self) -> None:
        self._top = min(self._cursor_at, max(self._top, self._cursor_at - self._shown + 1))

    def _move_window(self, top: int) -> None:
        self._top = top
        self._paint()

    def _sort_at(self, x: int) -> None:
        for column, width in self._columns:
            if x <= width:
                self.sort_by(column.key)
                return
            x -= width + 1

    def _paint(self) -> None:
        """Format the rows in the window."""
        self._top = max(0, min(self._top, len(self._rows) - self._shown))
        self._columns = self._fitted()
        shown = self._rows[self._top : self._top + self._shown]
        lines = [head_line(self._columns, self.sort_key, "▼" if self.is_reversed else "▲", self._note())]
        lines += [self._line(row, at) for at, row in enumerate(shown, self._top)]
        if not shown and self._view is not None and self._view.frame is not None:
            lines.append(Line((("  " + _absence(self._view.frame), "muted"),)))
        self.draw(self._with_scrollbar(lines), is_grey=self._view.is_grey if self._view else False)

    def _line(self, row: Row, at: int) -> Line:
        base = "text"
        if self._cursor is not None and at == self._cursor_at:
            base = "cursor"
        is_own = self._own_user is None or row.process.user == self._own_user
        return row_line(row, self._columns, skip=self._skip, is_own=is_own, base=base)

    def _fitted(self) -> list[tuple[Column, int]]:
        """Return the columns with their widths; the command takes the rest. One that was used once stays."""
        room = self.size.width - 1
        columns = visible_columns(room, (), least_command=max(_LEAST_COMMAND, room // 4), used=self._used)
        rest = room - sum(column.width + 1 for column in columns if column.width)
        return [(column, column.width or max(1, rest)) for column in columns]

    def _note(self) -> str:
        focus = self._view.focus if self._view else None
        count, first = len(self._rows), self._top + 1
        only = "" if focus is None else f"GPU {focus}: "
        if count <= self._shown:
            return f" {only}{count} "
        return f" {only}{first}-{min(count, self._top + self._shown)}/{count} "

    def _with_scrollbar(self, lines: list[Line]) -> list[Line]:
        """Add a bar at the right end where there is more than the window shows."""
        count, shown = len(self._rows), self._shown
        if count <= shown:
            return lines
        size = max(1, shown * shown // count)
        start = (shown - size) * self._top // (count - shown)
        for y in range(1, len(lines)):
            is_thumb = start <= y - 1 < start + size
            line = lines[y]
            lines[y] = Line((*line.spans, ("┃" if is_thumb else "│", "muted" if is_thumb else "faint")), line.base)
        return lines


def _absence(frame: Frame) -> str:
    """Say why no process is shown: none is there, or the driver does not say."""
    whys = {gpu.missing["processes"] for gpu in frame.gpus if "processes" in gpu.missing}
    if not whys:
        return "no process uses a GPU"
    return f"the driver lists no processes: {', '.join(sorted(why.text for why in whys))}"
