"""Stacks in groups of equal ones, and the place in the program that a stack names."""

from collections.abc import Mapping, Sequence
from typing import Final

from gputop.core.insight.explanation import ClaimKind, InsightClaim
from gputop.core.insight.stacks import StackFrame, StackGroup

_LIBRARIES: Final = ("/site-packages/", "/dist-packages/", "/lib/python", "/lib64/python", "/conda/", "<frozen ")
_WRAPPERS: Final = frozenset({"wrapper", "wrapped", "inner", "decorate_context", "_fn"})  # of decorators, as in torch


def grouped(stacks: Mapping[int, tuple[str, tuple[StackFrame, ...]]]) -> tuple[StackGroup, ...]:
    """Return the groups of processes with equal stacks, the rarest first.

    ``stacks``: by pid the name of the thread and its frames. If more than half of the processes share a stack, the
    other groups are odd.
    """
    found: dict[tuple[str, tuple[StackFrame, ...]], list[int]] = {}
    for pid, stack in stacks.items():
        found.setdefault(stack, []).append(pid)
    groups = sorted(found.items(), key=lambda each: (len(each[1]), each[1]))
    most = len(groups[-1][1]) if groups else 0
    has_most = 2 * most > len(stacks)
    return tuple(
        StackGroup(pids=tuple(pids), frames=frames, thread=thread, is_odd=has_most and len(pids) < most)
        for (thread, frames), pids in groups
    )


def claims_of(groups: Sequence[StackGroup]) -> tuple[InsightClaim, ...]:
    """Return where the groups are."""
    return tuple(
        InsightClaim(kind=ClaimKind.AT, pids=group.pids, place=place)
        for group in groups
        if (place := place_of(group.frames))
    )


def place_of(frames: Sequence[StackFrame]) -> str:
    """Return ``DataLoader.__next__ at train.py:88``: the innermost line of the user's own code, and what it called.

    Without code of the user it is the innermost function of Python. Empty without frames.
    """
    python = [frame for frame in frames if not frame.is_native]
    at = next((n for n, frame in enumerate(python) if not is_library(frame)), None)
    if at is None:
        return _frame_text((python or list(frames))[0]) if frames else ""
    own = python[at]
    called = [frame.function for frame in python[:at] if frame.function not in _WRAPPERS] or [own.function]
    return f"{called[-1]} at {_line_text(own)}"


def is_library(frame: StackFrame) -> bool:
    """Say whether a frame belongs to a library or to Python itself."""
    return any(part in frame.file for part in _LIBRARIES) or frame.file.startswith("<")


def _frame_text(frame: StackFrame) -> str:
    """Return ``main at train.py:88``, ``ncclAllReduce at libnccl.so.2``."""
    return f"{frame.function} at {_line_text(frame)}" if frame.file else frame.function


def _line_text(frame: StackFrame) -> str:
    name = frame.file.rpartition("/")[2]
    return f"{name}:{frame.line}" if frame.line else name
