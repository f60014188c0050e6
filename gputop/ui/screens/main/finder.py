"""What the prompt is for: filtering and searching the process table while one types."""

import re
from typing import Final

from gputop.core.processes.column import Column
from gputop.core.query.parser import words_of
from gputop.core.query.query import QueryError, parse
from gputop.ui.panels.footer import FooterPanel
from gputop.ui.panels.processes import ProcessPanel
from gputop.ui.panels.prompt import PromptPanel
from gputop.ui.render.line import Line, cut, length
from gputop.ui.state.row_filter import RowFilter

_MOST_EARLIER: Final = 50
_LAST_WORD: Final = re.compile(r"(?:^|[\s(!&|])([a-z_]\w*)$", re.ASCII | re.IGNORECASE)


class Finder:
    """Carries what is typed into the table, and says below it what it did."""

    def __init__(self, prompt: PromptPanel, processes: ProcessPanel, footer: FooterPanel) -> None:
        self._prompt, self._processes, self._footer = prompt, processes, footer
        self._earlier: list[str] = []
        self._is_search = False
        self._place = processes.place

    def ask_filter(self) -> None:
        """Open the prompt for a filter."""
        self._is_search = False
        text = self._processes.row_filter.text
        self._prompt.ask("Filter", text, self._earlier)
        self._say_filter(text)

    def ask_search(self) -> None:
        """Open the prompt for a search."""
        self._is_search = True
        self._place = self._processes.place
        self._prompt.ask("Search", "")
        self._say("")

    def changed(self, text: str) -> None:
        """Filter or search by what is typed so far.

        A filter that is not finished leaves the one before, and so does one that would leave nothing: the next letter
        may change that, and a table that comes and goes is of no use to whoever types. Enter takes it as it is.
        """
        if self._is_search:
            self._processes.place = self._place
            is_found = self._processes.seek(text, max(0, self._place[1]))
            self._say("" if is_found else "no process has it", is_wrong=not is_found)
            return
        before = self._processes.row_filter
        if unfinished(text) is None:
            self._filter(text)
        if self._is_empty:
            self._processes.narrow(before)
            self._say_held("Nothing matches so far. ")
        else:
            self._say_filter(text)

    def stepped(self, step: int) -> None:
        """Go to the next match."""
        if self._is_search and self._prompt.editing.text:
            self._processes.seek(self._prompt.editing.text, None, step)

    def ended(self, text: str, *, is_kept: bool) -> bool:
        """Keep or take back; say whether the prompt can go."""
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
        return True

    def next(self, step: int) -> bool:
        """Go to the next match of the last search; say whether there was one."""
        text = self._processes.search
        return bool(text) and self._processes.seek(text, None, step)

    def clear(self) -> bool:
        """Take back the search, else the filter and the user; say whether there was one."""
        if self._processes.search:
            return self._processes.seek("")
        had = self._processes.row_filter.is_any
        if had:
            self._processes.narrow(RowFilter())
        return had

    def _filter(self, text: str) -> None:
        query = parse(text)
        if not isinstance(query, QueryError):
            before = self._processes.row_filter
            is_empty = not text.strip()
            self._processes.narrow(RowFilter(text=text, query=None if is_empty else query, user=before.user))

    @property
    def _is_empty(self) -> bool:
        """Say whether the filter hides everything that there is."""
        shown, hidden = self._processes.counts
        return shown == 0 < hidden

    def _say_held(self, why: str, rest: str = "Esc clears") -> None:
        spans = [(f" {why}", "accent"), (f"The table is as it was.  {rest}", "muted")]
        self._footer.say(Line(tuple(cut(spans, self._footer.size.width))))

    def _say_filter(self, text: str) -> None:
        query, column = parse(text), unfinished(text)
        if isinstance(query, QueryError):
            at = self._prompt.left + length([(text[: query.position], "")])
            self._footer.say(error_line(query, at, self._footer.size.width))
            return
        if column is not None:
            self._say_held(f"A value of {column.title}? ", "Enter looks for the text  Esc clears")
            return
        shown, hidden = self._processes.counts
        self._say(f"{shown} shown, {hidden} hidden" if text.strip() else "user:ann gpu_mem>10GiB sm<5 cmd~vllm")

    def _say(self, text: str, *, is_wrong: bool = False) -> None:
        keys = "F3 next  Enter stays  Esc goes back" if self._is_search else "Enter keeps  Esc clears  ↑↓ earlier"
        spans = [(f" {text}  " if text else " ", "hot" if is_wrong else "accent"), (keys, "muted")]
        self._footer.say(Line(tuple(cut(spans, self._footer.size.width))))


def unfinished(text: str) -> Column | None:
    """Return the column of which the last word is the name or the beginning of it; None where it is none."""
    found = _LAST_WORD.search(text)
    word = found[1].lower() if found else ""
    return next((column for name, column in words_of().items() if word and name.startswith(word)), None)


def error_line(error: QueryError, at: int, width: int) -> Line:
    """Return the caret under what is wrong, and the words beside it; where there is no room, to its left."""
    hint = f"did you mean {error.suggestion}? " if error.suggestion else ""
    words = hint + error.message  # the end may be cut
    if at + len(words) + 2 <= width or at < width // 2:
        return Line(tuple(cut([(" " * at, "text"), ("^ ", "alarm"), (words, "hot")], width)))
    at = min(at, width - 1)
    return Line(tuple(cut([*cut([(words, "hot")], at - 1), (" ", "text"), ("^", "alarm")], width)))
