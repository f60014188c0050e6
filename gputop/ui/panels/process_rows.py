"""A process as a line: each column's text in its ink."""

from collections.abc import Sequence
from typing import Final

from gputop.core.columns import Column, Row
from gputop.core.sample import Presence
from gputop.core.units import NOTHING
from gputop.ui.line import Line, Span, Spans, fit, fit_right

_INKS: Final = {
    "gpu": "title", "pid": "text", "user": "text", "type": "muted", "gpu_memory": "memory", "sm": "utilization",
    "memory_utilization": "text", "encoder": "text", "decoder": "text", "cpu": "cpu", "busiest_thread": "text",
    "memory": "text", "state": "muted", "nice": "muted", "threads": "muted", "time": "muted",
}  # fmt: skip
_QUIET: Final = {NOTHING, "0", "0B"}  # nothing to see: muted, so that what is busy stands out


def row_line(row: Row, columns: Sequence[tuple[Column, int]], *, skip: int, is_own: bool, base: str) -> Line:
    """Return a process's line. ``skip``: cells of the command scrolled off at the left."""
    spans: Spans = []
    for column, width in columns:
        if column.width == 0:
            spans += _command(row, column, width, skip=skip, is_own=is_own)
            continue
        text = column.text(row)
        ink = "muted" if text in _QUIET or (not is_own and column.key == "user") else _INKS.get(column.key, "text")
        spans.append(((fit(text, width) if column.is_text else fit_right(text, width)) + " ", ink))
    return Line(tuple(spans), base)


def head_line(columns: Sequence[tuple[Column, int]], sort_key: str, mark: str, note: str) -> Line:
    """Return the titles; the column that sorts has the mark. ``note`` stands at the right end."""
    spans: Spans = []
    for column, width in columns:
        is_sort = column.key == sort_key
        text = column.title + mark if is_sort and column.is_text else column.title
        if column.width == 0:
            text = fit(text, max(0, width - len(note))) + note
        else:
            text = fit(text, width) if column.is_text else fit_right(text, width)
            text += mark if is_sort and not column.is_text else " "
        spans.append((text, "mark" if is_sort and column.width else "head"))
    return Line(tuple(spans), "head")


def _command(row: Row, column: Column, width: int, *, skip: int, is_own: bool) -> list[Span]:
    text = column.text(row)
    if row.process.presence is not Presence.ALIVE:
        return [(fit(text, width), "warm")]
    if skip:
        return [(fit(text[skip:], width), "text" if is_own else "muted")]
    program, blank, rest = text.partition(" ")
    directory, slash, name = program.rpartition("/")
    head = directory + slash
    if len(head) + len(name) >= width or not text.isascii():
        return [(fit(text, width), "text" if is_own else "muted")]
    tail = fit(blank + rest, width - len(head) - len(name))
    return [(head, "muted"), (name, "title" if is_own else "muted"), (tail, "text" if is_own else "muted")]
