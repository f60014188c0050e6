"""Process table: a window onto the sorted lines; only visible lines are formatted."""

from collections.abc import Sequence
from typing import Final

from textual import events

from gputop.core.model.process_id import ProcessId
from gputop.core.model.sample import Frame
from gputop.core.processes.column import Column, Row
from gputop.core.processes.columns import COLUMN_BY_KEY, rows, used_columns, visible_columns
from gputop.core.query.selection import why_no_processes
from gputop.ui.panels.findings import MARKS
from gputop.ui.panels.process_rows import head_line, row_line, title_line
from gputop.ui.render.line import Line
from gputop.ui.render.line_widget import FastLines
from gputop.ui.state.row_filter import RowFilter
from gputop.ui.state.rows import Grouping, LineKey, Order, TableLine, table_lines
from gputop.ui.state.search import has, next_match
from gputop.ui.state.selection import Tags, process_ids, tagged
from gputop.ui.state.view import View

_WHEEL: Final = 3
_LEAST_COMMAND: Final = 16
_GOOD_COMMAND: Final = 48
_CROWD: Final = 250  # rows checked per frame for columns that have become used


class ProcessPanel(FastLines, can_focus=True):
    """Shows processes. The cursor holds a row's key, so it stays with its process."""

    def __init__(self, *, own_user: str | None) -> None:
        super().__init__()
        self._own_user = own_user
        self._view: View | None = None
        self._all: Sequence[Row] = ()
        self._of: Frame | None = None
        self._entries: Sequence[TableLine] = ()
        self._kept = self._hidden = 0
        self._folded: frozenset[LineKey] = frozenset()
        self._columns: list[tuple[Column, int]] = []
        self._used: frozenset[str] = frozenset()
        self._looked = 0  # how often the rows were checked for columns that have become used
        self._top = 0
        self._painted = 0  # rows in the window that was painted last
        self._skip = 0
        self._cursor: LineKey | None = None
        self._cursor_at = 0
        self.sort_key = "gpu"
        self.is_reversed = False
        self.row_filter = RowFilter()
        self.grouping = Grouping.PROCESSES
        self.search = ""
        self.chosen: tuple[str, ...] = ()
        self._is_percent = False
        self.tags = Tags()

    def show(self, view: View) -> None:
        """Draw the view; the cursor's process stays in the window if it was there."""
        was_visible = self._is_visible()
        self._view = view
        if view.frame is not self._of:
            self._of = view.frame
            self._all = rows(view.frame) if view.frame else []
            self.tags.keep(view.frame)
        self._entries = self._found(view)
        self._find_cursor()
        if was_visible:
            self._bring_cursor()
        self._paint()

    def sort_by(self, key: str, *, is_reversed: bool | None = None) -> None:
        """Sort by a column: numbers descend, texts and the GPU ascend, unless ``is_reversed`` is given."""
        column = COLUMN_BY_KEY[key]
        if is_reversed is None:
            is_reversed = not self.is_reversed if key == self.sort_key else column.descends
        self.sort_key, self.is_reversed = key, is_reversed
        self._again()

    def sort_beside(self, step: int) -> None:
        """Sort by the next or previous shown column."""
        keys = [column.key for column, _ in self._columns]
        at = keys.index(self.sort_key) if self.sort_key in keys else 0
        key = keys[(at + step) % len(keys)]
        self.sort_key = ""
        self.sort_by(key)

    def narrow(self, row_filter: RowFilter) -> None:
        """Show only the rows that match."""
        self.row_filter = row_filter
        self._again()

    def group(self, grouping: Grouping) -> None:
        """Group the processes; the cursor stays on its process. Users are collapsed if their processes do not fit."""
        held = self.selected
        self.grouping = grouping
        self._again()
        if grouping is Grouping.USER and len(self._entries) > self._shown:
            self._fold_all()
        if held is not None and self._cursor is not None:
            self._go_to(held)

    def fold(self, *, is_open: bool) -> bool:
        """Collapse or expand the row under the cursor, or collapse the group it is in; without a cursor all rows.

        Return whether anything can fold.
        """
        if self.grouping is Grouping.PROCESSES:
            return False
        entry = self.selected_line
        if entry is None:
            if is_open:
                self._folded = frozenset()
                self._again()
            else:
                self._fold_all()
            return True
        key = entry.key
        if not is_open and not entry.is_open and entry.parent is not None:
            key = self._cursor = entry.parent
        self._folded = self._folded - {key} if is_open else self._folded | {key}
        self._again()
        return True

    def _fold_all(self) -> None:
        heads = {one.key for one in self._entries if one.is_open is not None and one.parent is None}
        self._folded |= heads
        self._again()

    def show_again(self) -> None:
        """Draw tags that have changed."""
        self._paint()

    def toggle_percent(self) -> None:
        """Show GPU memory in percent, or in bytes again."""
        self._is_percent = not self._is_percent
        self._again()

    def seek(self, text: str, start: int | None = None, step: int = 1) -> bool:
        """Highlight a text and go to the next line that has it; return whether there is one."""
        self.search = text
        begin = self._cursor_at + step if start is None else start
        at = next_match(self._entries, lambda entry: has(entry, text), begin, step) if text else None
        if at is None:
            self._paint()
            return not text
        self._set_cursor(at)
        return True

    def move(self, step: int) -> None:
        """Move the cursor by so many rows; the first move sets it on the first row in the window."""
        if self._entries:
            self._set_cursor(self._top if self._cursor is None else self._cursor_at + step)

    def move_page(self, pages: int) -> None:
        """Move by a window's height."""
        if self._cursor is None:
            self._move_window(self._top + pages * self._shown)
        else:
            self.move(pages * max(1, self._shown - 1))

    def move_to_end(self, is_last: int) -> None:
        """Go to the first or the last row."""
        self._set_cursor(len(self._entries) - 1 if is_last else 0)

    def go_to(self, process: ProcessId) -> bool:
        """Set the cursor on the first line of a process; return whether it is shown."""
        for at, entry in enumerate(self._entries):
            if process in {one.id for one in entry.processes}:
                self._set_cursor(at)
                return True
        return False

    def clear_cursor(self) -> bool:
        """Remove the cursor; return whether there was one."""
        had, self._cursor = self._cursor is not None, None
        self._paint()
        return had

    def scroll_command(self, step: int) -> None:
        """Scroll the command lines sideways."""
        longest = max((len(entry.row.process.command) for entry in self._entries), default=0)
        self._skip = max(0, min(self._skip + step, max(0, longest - _LEAST_COMMAND)))
        self._paint()

    @property
    def selected_line(self) -> TableLine | None:
        """The line under the cursor."""
        return self._entries[self._cursor_at] if self._cursor is not None and self._entries else None

    @property
    def selected(self) -> Row | None:
        """The row under the cursor, the first one of a group."""
        entry = self.selected_line
        return None if entry is None else entry.rows[0] if entry.rows else entry.row

    @property
    def place(self) -> tuple[LineKey | None, int, int]:
        """Cursor and window; a search that is cancelled restores them."""
        return self._cursor, self._cursor_at, self._top

    @place.setter
    def place(self, place: tuple[LineKey | None, int, int]) -> None:
        self._cursor, self._cursor_at, self._top = place
        self._find_cursor()
        self._paint()

    @property
    def counts(self) -> tuple[int, int]:
        """The number of shown rows, and of rows that a filter hides."""
        return self._kept, self._hidden

    @property
    def all_rows(self) -> Sequence[Row]:
        """All rows of the frame, hidden ones too."""
        return self._all

    @property
    def shown_columns(self) -> Sequence[str]:
        """Keys of the columns that fit."""
        return [column.key for column, _ in self._columns]

    def on_resize(self) -> None:
        """Fit the new size."""
        self._again()

    def on_click(self, event: events.Click) -> None:
        """Sort by a clicked title, or select a clicked row."""
        y = event.y - self._heads
        if y == -1:
            self._sort_at(event.x)
        elif y >= 0 and self._top + y < len(self._entries):
            self._set_cursor(self._top + y)

    def on_mouse_scroll_down(self) -> None:
        """Move the window down."""
        self._move_window(self._top + _WHEEL)

    def on_mouse_scroll_up(self) -> None:
        """Move the window up."""
        self._move_window(self._top - _WHEEL)

    @property
    def _heads(self) -> int:
        """Lines above the first row: the titles, and the title of a filtered or grouped table."""
        return 2 if self.grouping is not Grouping.PROCESSES or self.row_filter.is_any else 1

    @property
    def _shown(self) -> int:
        return max(1, self.size.height - self._heads)

    def _found(self, view: View) -> Sequence[TableLine]:
        """Return the lines; the filter runs once for each row."""
        found = self._all
        if view.focus is not None:
            found = [row for row in found if row.use.gpu_index == view.focus]
        self._used = self._newly_used(found)
        kept = self.row_filter.of(found)
        self._kept, self._hidden = len(kept), len(found) - len(kept)
        if view.frame is None:
            return ()
        order = Order(COLUMN_BY_KEY[self.sort_key], self.is_reversed)
        return table_lines(view.frame, kept, self.grouping, order, self._folded)

    def _newly_used(self, found: Sequence[Row]) -> frozenset[str]:
        """Return the columns that have had values. After the first time, only some of many rows are checked."""
        turns = 1 + len(found) // _CROWD if self._looked else 1
        self._looked += bool(found)
        return used_columns(found[self._looked % turns :: turns], self._used)

    def _again(self) -> None:
        if self._view is not None:
            self.show(self._view)

    def _is_visible(self) -> bool:
        return self._cursor is not None and self._top <= self._cursor_at < self._top + self._painted

    def _find_cursor(self) -> None:
        """Find the cursor's process again; if it exited, keep the place."""
        if self._cursor is None:
            return
        if self._cursor_at < len(self._entries) and self._entries[self._cursor_at].key == self._cursor:
            return
        for at, entry in enumerate(self._entries):
            if entry.key == self._cursor:
                self._cursor_at = at
                return
        self._cursor_at = max(0, min(self._cursor_at, len(self._entries) - 1))
        self._cursor = self._entries[self._cursor_at].key if self._entries else None

    def _go_to(self, row: Row) -> None:
        """Set the cursor on the line of a row, or of its process, or on the line that hides it."""
        order = sorted(range(len(self._entries)), key=lambda at: (self._entries[at].is_group, at))
        tests = (
            lambda entry: entry.key == row.key,
            lambda entry: not entry.is_group and entry.row.process.id == row.process.id,
            lambda entry: any(one.process.id == row.process.id for one in entry.rows),
        )
        for test in tests:
            for at in order:
                if test(self._entries[at]):
                    self._set_cursor(at)
                    return

    def _set_cursor(self, at: int) -> None:
        if self._entries:
            self._cursor_at = max(0, min(at, len(self._entries) - 1))
            self._cursor = self._entries[self._cursor_at].key
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
        self._top = max(0, min(self._top, len(self._entries) - self._shown))
        self._columns = self._fitted()
        shown = self._entries[self._top : self._top + self._shown]
        self._painted = self._shown
        lines = [head_line(self._columns, self.sort_key, "▼" if self.is_reversed else "▲", self._note())]
        if self._heads == 2:
            lines.insert(0, title_line(self.size.width, self.grouping.value, self.row_filter.words, self.counts))
        lines += [self._line(entry, at) for at, entry in enumerate(shown, self._top)]
        if not shown and self._view is not None and self._view.frame is not None:
            why = "no process matches; Esc shows all" if self._hidden else why_no_processes(self._view.frame)
            lines.append(Line((("  " + why, "muted"),)))
        self.draw(self._with_scrollbar(lines), is_grey=self._view.is_grey if self._view else False)

    def _line(self, entry: TableLine, at: int) -> Line:
        base = "text"
        if self._cursor is not None and at == self._cursor_at:
            base = "cursor"
        is_own = self._own_user is None or entry.row.process.user == self._own_user
        marks = self._view.standing.marks if self._view else {}
        mark = next((MARKS[marks[one.id]] for one in entry.processes if one.id in marks), "") if marks else ""
        awaited = self._view.awaited if self._view else frozenset()
        is_awaited = bool(awaited) and any(one.id in awaited for one in entry.processes)
        line = row_line(
            entry, self._columns, skip=self._skip, is_own=is_own, base=base, search=self.search, mark=mark,
            is_awaited=is_awaited,
        )  # fmt: skip
        return tagged(line) if self.tags.ids and process_ids(entry) <= self.tags.ids else line

    def _fitted(self) -> list[tuple[Column, int]]:
        """Return the columns with their widths; the command takes the rest. A column that had values stays."""
        room = self.size.width - 1
        chosen = self.chosen or None
        least = max(_LEAST_COMMAND, room // 4 if chosen else min(_GOOD_COMMAND, room * 2 // 5))
        columns = visible_columns(room, (), least_command=least, used=self._used, chosen=chosen)
        if self._is_percent:
            columns = in_percent(columns)
        rest = room - sum(column.width + 1 for column in columns if column.width)
        return [(column, column.width or max(1, rest)) for column in columns]

    def _note(self) -> str:
        focus = self._view.focus if self._view else None
        count, first = len(self._entries), self._top + 1
        only = self.tags.text + ("" if focus is None else f"GPU {focus}: ")
        if count <= self._shown:
            return f" {only}{count} "
        return f" {only}{first}-{min(count, self._top + self._shown)}/{count} "

    def _with_scrollbar(self, lines: list[Line]) -> list[Line]:
        """Add a scroll bar at the right end if not all lines fit."""
        count, shown, heads = len(self._entries), self._shown, self._heads
        if count <= shown:
            return lines
        size = max(1, shown * shown // count)
        start = (shown - size) * self._top // (count - shown)
        for y in range(heads, len(lines)):
            is_thumb = start <= y - heads < start + size
            line = lines[y]
            lines[y] = Line((*line.spans, ("┃" if is_thumb else "│", "muted" if is_thumb else "faint")), line.base)
        return lines


def in_percent(columns: Sequence[Column]) -> list[Column]:
    """Return the columns with GPU memory in percent in the place of bytes."""
    percent = COLUMN_BY_KEY["gpu_memory_percent"]
    others = [column for column in columns if column is not percent]
    return [percent if column.key == "gpu_memory" else column for column in others]
