"""Actions that filter and search the process table while the user types."""

import re
from typing import Final

from gputop.core.processes.column import Column
from gputop.core.query.process_vocabulary import COLUMN_BY_WORD
from gputop.core.query.query import QueryError, parse
from gputop.ui.input.keymap import Keymap
from gputop.ui.render.line import Line, cut, length
from gputop.ui.screens.main.host import ScreenHost
from gputop.ui.state.row_filter import RowFilter

_MOST_EARLIER: Final = 50
_TYPING_S: Final = 1.0  # between two digits of one pid
_LAST_WORD: Final = re.compile(r"(?:^|[\s(!&|])([a-z_]\w*)$", re.ASCII | re.IGNORECASE)


class SearchActions:
    """Applies the text of the prompt to the table, and shows the effect in the footer."""

    def __init__(self, host: ScreenHost) -> None:
        self._host = host
        self._prompt, self._processes, self._footer = host.prompt, host.processes, host.footer
        self._earlier: list[str] = []
        self._is_search = False
        self._place = host.processes.place
        self._pid, self._typed_s = "", float("-inf")

    def set_keys(self, keys: Keymap) -> None:
        """Use these keys to go from match to match while the prompt is open."""
        steps = {key: 1 for action in ("search", "search-next") for key in keys.keys_of(action)}
        self._prompt.steps = steps | dict.fromkeys(keys.keys_of("search-before"), -1)

    # --- actions ---------------------------------------------------------------------------------------------------
    def filter(self) -> None:
        """Open the prompt for a filter."""
        self._is_search = False
        text = self._processes.row_filter.text
        self._prompt.ask("Filter", text, self._earlier)
        self._show_filter(text)

    def search(self) -> None:
        """Go to the next match of the last search; without one open the prompt."""
        if not self._seek_next(1):
            self._is_search = True
            self._place = self._processes.place
            self._prompt.ask("Search", "")
            self._show("")

    def next(self, step: int) -> None:
        """Go to the next or previous match of the last search."""
        if not self._seek_next(step):
            self._host.notify("no search yet: press /", timeout=2)

    def type_pid(self, digit: int) -> None:
        """Go to the first process whose pid begins with the typed digits."""
        now = self._host.store.clock()
        self._pid = f"{self._pid if now - self._typed_s < _TYPING_S else ''}{digit}"
        self._typed_s = now
        ids = [row.process.id for row in self._processes.all_rows if str(row.process.pid).startswith(self._pid)]
        if not any(self._processes.go_to(one) for one in sorted(ids, key=lambda one: one.pid)):
            self._host.notify(f"no process here has a pid that begins with {self._pid}", timeout=3)

    # --- from the prompt -------------------------------------------------------------------------------------------
    def change_text(self, text: str) -> None:
        """Filter or search by the text so far.

        An unfinished filter changes nothing, nor does one that would leave no row: the next letter may change that, and
        a table that comes and goes is hard to read. Enter applies the text as it is.
        """
        if self._is_search:
            self._processes.place = self._place
            is_found = self._processes.seek(text, max(0, self._place[1]))
            self._show("" if is_found else "no process matches", is_wrong=not is_found)
            return
        before = self._processes.row_filter
        if unfinished(text) is None:
            self._filter(text)
        if self._is_empty:
            self._processes.narrow(before)
            self._show_unchanged("No process matches so far. ")
        else:
            self._show_filter(text)

    def step(self, step: int) -> None:
        """Go to the next or previous match of the text in the prompt."""
        if self._is_search and self._prompt.text:
            self._processes.seek(self._prompt.text, None, step)

    def close(self, text: str, *, is_kept: bool) -> bool:
        """Apply the text, or restore the table; return whether the prompt may close."""
        if self._is_search:
            if not is_kept:
                self._processes.place = self._place
                self._processes.seek("")
        elif is_kept and isinstance(parse(text), QueryError):
            return False
        else:
            self._filter(text.strip() if is_kept else "")
            if is_kept and text.strip():
                self._earlier = [*(one for one in self._earlier if one != text.strip()), text.strip()][-_MOST_EARLIER:]
        self._prompt.close()
        self._footer.say(None)
        return True

    def clear(self) -> bool:
        """Clear the search, else the filter and the user; return whether there was one."""
        if self._processes.search:
            return self._processes.seek("")
        had = self._processes.row_filter.is_any
        if had:
            self._processes.narrow(RowFilter())
        return had

    def _seek_next(self, step: int) -> bool:
        """Go to the next match of the last search; return whether there was one."""
        text = self._processes.search
        return bool(text) and self._processes.seek(text, None, step)

    def _filter(self, text: str) -> None:
        query = parse(text)
        if not isinstance(query, QueryError):
            before = self._processes.row_filter
            is_empty = not text.strip()
            self._processes.narrow(RowFilter(text=text, query=None if is_empty else query, user=before.user))

    @property
    def _is_empty(self) -> bool:
        """Whether the filter hides every row."""
        shown, hidden = self._processes.counts
        return shown == 0 < hidden

    def _show_unchanged(self, why: str, rest: str = "Esc clears") -> None:
        spans = [(f" {why}", "accent"), (f"The table is unchanged.  {rest}", "muted")]
        self._footer.say(Line(tuple(cut(spans, self._footer.size.width))))

    def _show_filter(self, text: str) -> None:
        query, column = parse(text), unfinished(text)
        if isinstance(query, QueryError):
            at = self._prompt.left + length([(text[: query.position], "")])
            self._footer.say(error_line(query, at, self._footer.size.width))
            return
        if column is not None:
            self._show_unchanged(f"Compare {column.title} with a value? ", "Enter searches for the text  Esc clears")
            return
        shown, hidden = self._processes.counts
        self._show(f"{shown} shown, {hidden} hidden" if text.strip() else "user:ann gpu_mem>10GiB sm<5 cmd~vllm")

    def _show(self, text: str, *, is_wrong: bool = False) -> None:
        keys = (
            "F3 next  Enter keeps this row  Esc goes back" if self._is_search else "Enter keeps  Esc clears  ↑↓ earlier"
        )
        spans = [(f" {text}  " if text else " ", "hot" if is_wrong else "accent"), (keys, "muted")]
        self._footer.say(Line(tuple(cut(spans, self._footer.size.width))))


def unfinished(text: str) -> Column | None:
    """Return the column whose name the last word is, or begins."""
    found = _LAST_WORD.search(text)
    word = found[1].lower() if found else ""
    return next((column for name, column in COLUMN_BY_WORD.items() if word and name.startswith(word)), None)


def error_line(error: QueryError, at: int, width: int) -> Line:
    """Return a caret under the error, and the message beside it, to its left if there is no room."""
    hint = f"did you mean {error.suggestion}? " if error.suggestion else ""
    words = hint + error.message  # the end may be cut
    if at + len(words) + 2 <= width or at < width // 2:
        return Line(tuple(cut([(" " * at, "text"), ("^ ", "alarm"), (words, "hot")], width)))
    at = min(at, width - 1)
    return Line(tuple(cut([*cut([(words, "hot")], at - 1), (" ", "text"), ("^", "alarm")], width)))
