"""Collective operations of process groups, as NCCL or PyTorch counts them."""

from msgspec import Struct

from gputop.core.insight.stacks import StackFrame


class RankCount(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The state of a rank in a group.

    ``completed``, ``entered``: how many operations it has completed and entered; None if not known. ``operation``:
    its last or unfinished operation. ``host``, ``pid``: where it runs, as the source says. ``status``:
    ``unresponsive``, ``dead``, ``started``, …; ``frames``: of the first unfinished operation, innermost first.
    """

    rank: int
    entered: int | None = None
    completed: int | None = None
    operation: str = ""
    host: str = ""
    pid: int | None = None
    status: str = ""
    frames: tuple[StackFrame, ...] = ()


class CollectiveGroup(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A communicator or process group. ``size``: its ranks; ``behind``: the ranks that others wait for.

    ``is_moving``: whether its counts grew between two readings; None after one reading.
    """

    name: str
    size: int
    ranks: tuple[RankCount, ...] = ()
    missing: tuple[RankCount, ...] = ()
    behind: tuple[int, ...] = ()
    is_moving: bool | None = None


class Collectives(Struct, frozen=True, kw_only=True, tag_field="details", tag="collectives"):
    """The groups of a job. ``age_s``: how old the data is, if it comes from a file."""

    groups: tuple[CollectiveGroup, ...] = ()
    age_s: float | None = None
