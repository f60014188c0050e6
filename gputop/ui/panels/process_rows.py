"""Lines of the process table: each column's text in its ink."""

from collections.abc import Sequence
from functools import lru_cache
from typing import Final

from gputop.core.model.sample import Presence
from gputop.core.model.units import NOTHING
from gputop.core.processes.column import Column, Row
from gputop.core.processes.interpreter import without_interpreter
from gputop.core.text.fit import fit, fit_right
from gputop.ui.render.line import Line, Span, Spans, ends, length
from gputop.ui.state.rows import TableLine
from gputop.ui.state.search import has, highlighted

_QUIET: Final = {NOTHING, "0", "0B"}  # muted, so that busy values stand out


def row_line(
    entry: TableLine, columns: Sequence[tuple[Column, int]], *,
    skip: int, is_own: bool, base: str, search: str = "", mark: str = "", is_awaited: bool = False,
) -> Line:  # fmt: skip
    """Return an entry's line.

    ``skip``: cells of the command scrolled off at the left; ``search``: text to highlight; ``mark``: the ink of a
    finding about the process, if there is one; ``is_awaited``: a notification is about the process.
    """
    spans: Spans = []
    row, instead = entry.row, entry.instead
    sought = search if search and has(entry, search) else ""
    held, held_ink = "", "text"  # neighbours of one ink are one span: fewer to paint
    for column, width in columns:
        if column.width == 0:
            sign: Spans = [("@ ", "accent")] if is_awaited and width > 4 else []
            sign += [("! ", mark)] if mark and width > 2 + length(sign) else []
            room = width - length(sign)
            cells = [*sign, *highlighted(_prefixed(entry, column, room, skip=skip, is_own=is_own), sought)]
        else:
            text = instead[column.key] if column.key in instead else column.text(row)
            ink = _ink(column, text, is_own=is_own)
            cell = _cell(text, width, column.is_text)
            if not (sought and column.is_searched):
                if ink != held_ink:
                    spans.append((held, held_ink))
                    held, held_ink = "", ink
                held += cell
                continue
            cells = highlighted([(cell, ink)], sought)
        spans += [(held, held_ink), *cells]
        held = ""
    spans.append((held, held_ink))
    return Line(tuple(spans), base)


def title_line(width: int, grouping: str, words: str, counts: tuple[int, int]) -> Line:
    """Return the title of a filtered or grouped table: the grouping, the filter, the number of hidden rows."""
    shown, hidden = counts
    right: Spans = [(f" {shown} shown, {hidden} hidden ", "badge")] if words else []
    left: Spans = [(f" {grouping[0].upper()}{grouping[1:]}", "accent")]
    if words:
        room = max(0, width - length(left) - length(right) - 3)
        left += [("  ", "text"), (fit(words, min(room, length([(words, "")]))), "title")]
    return Line(ends(left, right, width))


def head_line(columns: Sequence[tuple[Column, int]], sort_key: str, mark: str, note: str) -> Line:
    """Return the titles; the column that sorts has the mark. ``note``: at the right end."""
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


@lru_cache(maxsize=1024)  # most values stay from frame to frame
def _cell(text: str, width: int, is_text: bool) -> str:  # noqa: FBT001
    """Return a value in its column, with the blank after it."""
    return (fit(text, width) if is_text else fit_right(text, width)) + " "


def _ink(column: Column, text: str, *, is_own: bool) -> str:
    if (text in _QUIET and not column.is_name) or (column.key == "user" and not is_own):
        return "muted"
    return column.tone


def _prefixed(entry: TableLine, column: Column, width: int, *, skip: int, is_own: bool) -> list[Span]:
    prefix = [(fit(entry.prefix, min(len(entry.prefix), max(0, width - 1))), "muted")] if entry.prefix else []
    room = max(1, width - length(prefix))
    if entry.is_group:
        return [*prefix, (fit(entry.row.process.command, room), "accent")]
    return [*prefix, *_command(entry.row, column, room, skip=skip, is_own=is_own)]


def _command(row: Row, column: Column, width: int, *, skip: int, is_own: bool) -> Sequence[Span]:
    text, rank = column.text(row), row.process.owner.rank
    if row.process.presence is not Presence.ALIVE:
        return [(fit(text, width), "warm")]
    if rank is not None and not skip:
        label = f"r{rank} "
        rest = max(1, width - len(label))
        return [(fit(label, width - rest), "accent"), *_program(text, rest, skip=skip, is_own=is_own)]
    return _program(text, width, skip=skip, is_own=is_own)


@lru_cache(maxsize=256)
def _program(text: str, width: int, *, skip: int, is_own: bool) -> Sequence[Span]:
    """Return a command line; without room for all, the directory and the interpreter are dropped first."""
    if skip:
        return [(fit(text[skip:], width), "text" if is_own else "muted")]
    if len(text) > width:
        text = without_interpreter(text)
    program, blank, rest = text.partition(" ")
    directory, slash, name = program.rpartition("/")
    if not text.isascii() or not name:
        return [(fit(text, width), "text" if is_own else "muted")]
    head = directory + slash if len(text) <= width else ""
    if len(head) + len(name) >= width:
        return [(fit(name, width), "title" if is_own else "muted")]
    tail = fit(blank + rest, width - len(head) - len(name))
    return [(head, "muted"), (name, "title" if is_own else "muted"), (tail, "text" if is_own else "muted")]
