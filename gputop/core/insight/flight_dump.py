"""A dump of PyTorch's Flight Recorder, reduced to the state of each process group. Any program may have written it."""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from msgspec import Struct

from gputop.core.insight.operation import operation_text
from gputop.core.insight.stacks import StackFrame
from gputop.core.text.text import excerpt

_MOST_ENTRIES: Final = 65_536
_MOST_GROUPS: Final = 64
_MOST_RANKS: Final = 65_536
_MOST_FRAMES: Final = 16
_MOST_COUNT: Final = 2**53
_LONGEST: Final = 300
_VERSION: Final = "2."
_DONE: Final = "completed"


class FlightGroup(Struct, frozen=True, kw_only=True):
    """The collectives of a rank in a group. ``entered``, ``completed``: the numbers of the last ones.

    ``operation``, ``frames``: of the first unfinished one, else of the last one.
    """

    name: str
    ranks: tuple[int, ...] = ()
    entered: int
    completed: int
    operation: str = ""
    state: str = ""
    frames: tuple[StackFrame, ...] = ()


class FlightDump(Struct, frozen=True):
    """The groups of a rank."""

    groups: tuple[FlightGroup, ...]


def reduce_dump(tree: object) -> FlightDump:
    """Return the state of each group. ``tree``: of plain values. Raises ValueError with the reason if it is no dump."""
    if not isinstance(tree, dict) or not isinstance(tree.get("entries"), list):
        raise ValueError("it is not a dump of the Flight Recorder")  # noqa: TRY004 - a wrong file
    if not _text(tree.get("version")).startswith(_VERSION):
        raise ValueError(f"its version {excerpt(_text(tree.get('version')), 20)!r} is not known")
    entries: dict[str, list[Mapping[object, object]]] = {}
    for entry in tree["entries"][-_MOST_ENTRIES:]:
        if isinstance(entry, dict) and entry.get("is_p2p") is not True and _sequence(entry) is not None:
            entries.setdefault(_group_name(entry), []).append(entry)
    configured = _ranks(tree.get("pg_config"))
    return FlightDump(tuple(_group(name, each, configured) for name, each in list(entries.items())[:_MOST_GROUPS]))


def _group(
    name: str, entries: Iterable[Mapping[object, object]], configured: dict[str, tuple[int, ...]]
) -> FlightGroup:
    ordered = sorted(entries, key=lambda entry: _sequence(entry) or 0)
    unfinished = next((entry for entry in ordered if not _is_done(entry)), None)
    last = ordered[-1]
    shown = unfinished or last
    only = next(iter(configured.values())) if len(configured) == 1 else ()
    return FlightGroup(
        name=excerpt(name, 60),
        ranks=configured.get(name.partition(" ")[0], only),  # gloo names its group differently in both places
        entered=_sequence(last) or 0,
        completed=(_sequence(unfinished) or 1) - 1 if unfinished else _sequence(last) or 0,
        operation=operation_text(_text(shown.get("profiling_name"))[:_LONGEST]),
        state=excerpt(_text(shown.get("state")), 20) if unfinished else _DONE,
        frames=tuple(_frames(shown.get("frames"))),
    )


def _is_done(entry: Mapping[object, object]) -> bool:
    """Return whether a collective has completed. gloo never changes the state, so ``retired`` counts too."""
    return entry.get("state") == _DONE or entry.get("retired") is True


def _group_name(entry: Mapping[object, object]) -> str:
    names = entry.get("process_group")
    return " ".join(_text(name) for name in names[:2]) if isinstance(names, (tuple, list)) else ""


def _ranks(config: object) -> dict[str, tuple[int, ...]]:
    """Return the ranks by group, which PyTorch writes as a text: ``[0, 1]``."""
    groups = config.items() if isinstance(config, dict) else ()
    found = {}
    for name, group in groups:
        text = _text(group.get("ranks")) if isinstance(group, dict) else ""
        found[_text(name)] = tuple(int(digits) for digits in re.findall(r"\b[0-9]{1,7}\b", text)[:_MOST_RANKS])
    return found


def _frames(frames: object) -> Iterable[StackFrame]:
    listed: Sequence[object] = frames[:_MOST_FRAMES] if isinstance(frames, (list, tuple)) else ()
    for frame in listed:
        if isinstance(frame, dict):
            line = frame.get("line")
            yield StackFrame(
                function=excerpt(_text(frame.get("name")), _LONGEST),
                file=excerpt(_text(frame.get("filename")), _LONGEST),
                line=line if type(line) is int and 0 <= line <= _MOST_COUNT else 0,
            )


def _sequence(entry: Mapping[object, object]) -> int | None:
    number = entry.get("collective_seq_id")
    return number if type(number) is int and 0 <= number <= _MOST_COUNT else None


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
