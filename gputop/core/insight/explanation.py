"""The explanation: what each source knows about the processes of a job, and one verdict.

A source reports in two forms. Its `Claim`s say about ranks what every source can say, and the verdict is made of them.
Its ``lines`` and its typed part of the `SourceReport` hold the details for people and programs.
"""

from enum import Enum
from typing import TypeAlias

from msgspec import Struct

from gputop.core.insight.collectives import Collectives
from gputop.core.insight.kernel import KernelPlaces
from gputop.core.insight.member import Member
from gputop.core.insight.mps import MpsServers
from gputop.core.insight.stacks import Stacks


class SourceState(str, Enum):
    """The state of a source. UNAVAILABLE: its ``note`` says why, and its ``remedy`` what would make it available."""

    ASKED = "asked"
    ANSWERED = "answered"
    UNAVAILABLE = "not available"


class ClaimKind(str, Enum):
    """What a source says about processes.

    MOVES: they make progress now. STANDS: they made none between two readings. BEHIND: they have not entered an
    operation that others have entered. WAITS: they have entered it and wait. MISSING: they are dead or do not answer.
    STOPPED: a signal or a debugger has stopped them. AT: they are at a place in the program. FAILED: they cannot work,
    because of what ``operation`` says.
    """

    MOVES = "moves"
    STANDS = "stands"
    BEHIND = "behind"
    WAITS = "waits"
    MISSING = "missing"
    STOPPED = "stopped"
    AT = "at"
    FAILED = "failed"


class InsightClaim(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A statement of a source about processes.

    ``pids``: the members that it is about. ``ranks``: ranks that are no members, such as those on other hosts, with
    their ``hosts`` in the same order if these are known. ``operation``: ``all-reduce 1,204``. ``place``:
    ``DataLoader.__next__ at train.py:88``.
    """

    kind: ClaimKind
    pids: tuple[int, ...] = ()
    ranks: tuple[int, ...] = ()
    hosts: tuple[str, ...] = ()
    operation: str = ""
    place: str = ""


Details: TypeAlias = Stacks | KernelPlaces | Collectives | MpsServers


class SourceReport(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The answer of a source.

    ``name``: stable, such as ``stacks``; ``title``: for people. ``note``: why it is not available, or what limits the
    answer. ``remedy``: a command or a setting that would make it available. ``took_s``: how long it took.
    ``lines``: the answer for people, if it has no ``details``. All text is cleaned.
    """

    name: str
    title: str
    state: SourceState
    note: str = ""
    remedy: str = ""
    took_s: float | None = None
    claims: tuple[InsightClaim, ...] = ()
    lines: tuple[str, ...] = ()
    details: Details | None = None


class Explanation(Struct, frozen=True, kw_only=True, tag_field="answer", tag="explanation"):
    """The answer to `Explain`, sent again each time a source answers.

    ``id``: the sender's; ``time_s``: when the sources were asked, seconds since the epoch. ``ended``: the members that
    do not run any more. ``verdict``: a sentence, or empty as long as nothing is known. ``is_complete``: all sources
    have answered. ``problem``: why no source was asked.
    """

    id: str
    members: tuple[Member, ...]
    time_s: float = 0.0
    ended: tuple[int, ...] = ()
    sources: tuple[SourceReport, ...] = ()
    verdict: str = ""
    is_complete: bool = False
    problem: str = ""
