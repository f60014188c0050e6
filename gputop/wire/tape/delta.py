"""Changes between two frames, as columns of steps, and back.

A frame is a tree of plain JSON. The places of one name, ``gpus.metrics.power_average_w`` of all GPUs, are a column, in
their order in the frame. For a column that changed, a line has a list with an entry for each place: 0 for no change,
the difference of a number, and ``[value]`` for everything else. If processes start or exit, or one gets another shape,
the line first rebuilds the list: ``[first, count]`` are elements of the previous list, an object is a new element.
"""

from collections.abc import Iterator
from itertools import repeat
from typing import Any, Final, TypeAlias

from gputop.core.model.foreign import harmless, possible
from gputop.core.model.plausible import MOST_ROWS
from gputop.wire.limits import MOST_VALUES
from gputop.wire.tape.rounding import DECIMALS, kept

Tree: TypeAlias = dict[str, Any]
Columns: TypeAlias = dict[str, list[Any]]
Places: TypeAlias = dict[str, list[tuple[Any, Any]]]

_WHOLE: Final = "missing"  # reasons by key: they seldom change, and then all at once
_HOLDERS: Final = frozenset({dict, list})
_NOWHERE: Final = object()
_MOST_NAMES: Final = 10_000  # an honest frame has some hundreds
_names: dict[tuple[str, object], str] = {}
_IDENTITY: Final = ("uuid", "pid", "start_ticks", "key", "code", "subject")


def rounded(tree: Any, name: str = "") -> Any:  # noqa: ANN401 - JSON
    """Return a copy of a tree with the precision that is stored."""
    if type(tree) is dict:
        return {key: rounded(value, _joined(name, key)) for key, value in tree.items()}
    if type(tree) is list:
        return [rounded(value, name) for value in tree]
    return kept(name, tree)


class Differ:
    """Remembers the previous frame as a reader of the recording will see it."""

    def __init__(self, first: Tree) -> None:
        self.tree: Tree = rounded(first)

    def step(self, new: Tree) -> tuple[Tree, Columns]:
        """Return the changed shapes, and the columns that changed; afterwards remember ``new``."""
        shapes: Tree = {}
        for key in new:
            before = self.tree.get(key)
            if not _is_list(before, new[key]):
                if key not in self.tree or not _same_shape(key, before, new[key]):
                    shapes[key] = self.tree[key] = rounded(new[key], key)
            elif (pieces := _pieces(key, before or [], new[key])) is not None:
                shapes[key] = pieces
                self.tree[key] = _put_together(before or [], pieces)
        columns: Columns = {}
        _move("", self.tree, new, columns)
        return shapes, {name: steps for name, steps in columns.items() if any(steps)}


class Patcher:
    """Updates a frame, line by line. A recording is untrusted: text is cleaned, and the values of a frame are counted.

    Raises ValueError, TypeError or LookupError for a frame that is too large, and a line that does not fit.
    """

    def __init__(self, whole: Tree) -> None:
        self.tree: Tree = harmless(whole)
        self._sizes: dict[str, int] = {}
        self._places: dict[str, Places] = {}
        for key in self.tree:
            self._measure(key)

    def step(self, changed: Tree, moved: Columns) -> None:
        """Apply a line."""
        for key, pieces in harmless(changed).items():
            self.tree[key] = _put_together(self.tree.get(key) or [], pieces) if type(pieces) is list else pieces
            self._measure(key)
        for name, steps in moved.items():
            key = name.partition(".")[0]
            for (holder, at), step in zip(self._places[key][name], steps, strict=True):
                if type(step) is list:
                    self._count(key, _size(step[0]) - _size(holder[at]))
                    holder[at] = harmless(step[0])
                elif step:
                    holder[at] = possible(_sum(holder[at], step))

    def _measure(self, key: str) -> None:
        """Count the values below a key of the frame, and find their places."""
        self._count(key, _size(self.tree[key]) - self._sizes.get(key, 0))
        self._places[key] = _columns(key, self.tree)

    def _count(self, key: str, more: int) -> None:
        self._sizes[key] = self._sizes.get(key, 0) + more
        if more > 0 and sum(self._sizes.values()) > MOST_VALUES:
            raise ValueError(f"a frame of more than {MOST_VALUES:,} values")


def _size(value: Any) -> int:  # noqa: ANN401 - JSON
    """Return the number of values in a value, at most a few more than a frame may have."""
    count, waiting = 0, [value]
    while waiting and count <= MOST_VALUES:
        count += 1
        held = waiting.pop()
        if type(held) in _HOLDERS:
            waiting += held.values() if type(held) is dict else held
    return count


def _columns(key: str, tree: Tree) -> Places:
    """Return the places of the values of all columns below a key of a frame."""
    found: Places = {}
    for name, holder, at in _below(key, tree, key):
        found.setdefault(name, []).append((holder, at))
    return found


def _put_together(before: list[Any], pieces: list[Any]) -> list[Any]:
    """Return a list of elements of the previous list, each used once, and of new ones. Raises ValueError."""
    made: list[Any] = []
    used = 0
    for piece in pieces:
        if type(piece) is list:
            first, count = piece
            used += count
            if first < 0 or count < 0 or used > len(before):
                raise ValueError("elements of the previous list are used twice")
            made += before[first : first + count]
        else:
            made.append(piece)
    if len(made) > MOST_ROWS:
        raise ValueError(f"a list of more than {MOST_ROWS:,} rows")
    return made


def _sum(value: Any, step: float) -> Any:  # noqa: ANN401 - a number
    return round(value + step, DECIMALS) if type(value) is float else value + step


def _move(name: str, old: Any, new: Any, columns: Columns) -> None:  # noqa: ANN401 - a dict or a list
    """Update the places in a holder, and all below it, and record the steps."""
    is_dict = type(old) is dict
    for at, before in old.items() if is_dict else enumerate(old):
        now, kind = new[at], type(before)
        column = _joined(name, at) if is_dict else name
        if (kind is dict or kind is list) and _is_node(at, before):
            _move(column, before, now, columns)
            continue
        steps = columns.get(column)
        if steps is None:
            steps = columns[column] = []
        if now == before and type(now) is kind:
            steps.append(0)
        else:
            old[at] = now = kept(column, now)
            steps.append(_step(before, now))


def _step(before: Any, now: Any) -> Any:  # noqa: ANN401 - JSON
    """Return the difference, if it restores the exact value; else the value, boxed."""
    kind = type(now)
    if kind is not type(before) or kind not in {int, float}:
        return 0 if now is None and before is None else [now]
    if now == before:
        return 0
    step = now - before if kind is int else round(now - before, DECIMALS)
    if not step or _sum(before, step) != now:
        return [now]
    return int(step) if kind is float and step.is_integer() else step


def _below(name: str, holder: Any, at: Any) -> Iterator[tuple[str, Any, Any]]:  # noqa: ANN401 - a holder and a place in it
    value = holder[at]
    if not _is_node(at, value):
        yield name, holder, at
    elif type(value) is dict:
        for key in value:
            yield from _below(_joined(name, key), value, key)
    else:
        for index in range(len(value)):
            yield from _below(name, value, index)


def _joined(name: str, key: object) -> str:
    """Return the name of a place below another; cached, since there are few and each frame needs all."""
    found = _names.get((name, key))
    if found is None:
        found = f"{name}.{key}" if name else f"{key}"
        if len(_names) < _MOST_NAMES:
            _names[name, key] = found
    return found


def _is_node(at: Any, value: Any) -> bool:  # noqa: ANN401 - a holder and a place in it
    """Return whether there are places below this one; lists of texts are plain values."""
    if type(value) is dict:
        return bool(at != _WHOLE)
    return type(value) is list and bool(value) and type(value[0]) in {dict, float}


def _is_list(before: Any, now: Any) -> bool:  # noqa: ANN401 - JSON
    """Return whether these are elements, which can be added and removed."""
    return any(type(each) is list and bool(each) and type(each[0]) is dict for each in (before, now))


def _same_shape(at: Any, old: Any, new: Any) -> bool:  # noqa: ANN401 - JSON
    if not _is_node(at, old):
        return not _is_node(at, new)
    if type(old) is not type(new) or len(old) != len(new):
        return False
    if type(old) is list:
        return all(map(_same_shape, repeat(0), old, new))
    for key, before in old.items():
        now = new.get(key, _NOWHERE)
        if type(before) in _HOLDERS or type(now) in _HOLDERS:
            if not _same_shape(key, before, now):
                return False
        elif now is _NOWHERE:
            return False
    return True


def _pieces(name: str, before: list[Any], now: list[Any]) -> list[Any] | None:
    """Return how the list is built from the previous one; None if all elements kept their positions."""
    if len(before) == len(now) and all(map(_is_same, before, now)):
        return None
    known = {_identity(each): index for index, each in enumerate(before)}
    pieces: list[Any] = []
    for each in now:
        index = known.pop(_identity(each), None)
        if index is None or not _is_same(before[index], each):
            pieces.append(rounded(each, name))
        elif pieces and type(pieces[-1]) is list and sum(pieces[-1]) == index:
            pieces[-1][1] += 1
        else:
            pieces.append([index, 1])
    return pieces


def _is_same(before: Tree, now: Tree) -> bool:
    """Return whether these are one element of unchanged shape."""
    return all(before.get(key) == now.get(key) for key in _IDENTITY) and _same_shape(0, before, now)


def _identity(element: Tree) -> str:
    return repr([element.get(key) for key in _IDENTITY])
