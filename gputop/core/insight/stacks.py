"""Stacks of processes, grouped by equality."""

from msgspec import Struct


class StackFrame(Struct, frozen=True, omit_defaults=True):
    """A frame. ``line``: 0 if it is not known; ``is_native``: of C or C++."""

    function: str
    file: str = ""
    line: int = 0
    is_native: bool = False


class StackGroup(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Processes whose main threads have the same stack, innermost frame first. ``is_odd``: they differ from most."""

    pids: tuple[int, ...]
    frames: tuple[StackFrame, ...]
    thread: str = ""
    is_odd: bool = False


class UnreadStack(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A process whose stack could not be read, the reason, and a command that can read it."""

    pid: int
    reason: str
    remedy: str = ""


class Stacks(Struct, frozen=True, kw_only=True, tag_field="details", tag="stacks"):
    """The stacks of all members, the odd group first."""

    groups: tuple[StackGroup, ...] = ()
    unread: tuple[UnreadStack, ...] = ()
