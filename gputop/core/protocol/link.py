"""The link to a sampler, as the screen uses it: local, over ssh, a recording or a test."""

from collections.abc import Callable
from typing import Protocol, TypeAlias

from msgspec import Struct

from gputop.core.insight.explanation import Explanation
from gputop.core.inspection.inspection import Inspection
from gputop.core.mig.answers import MigBox, MigProgress
from gputop.core.model.sample import Frame
from gputop.core.protocol.command import Command
from gputop.core.protocol.outcome import Outcome
from gputop.core.protocol.process_status import ProcessStatuses
from gputop.core.recording.playback import Stretch


class Delay(Struct, frozen=True, kw_only=True):
    """How late a remote host is shown.

    ``age_s``: of the last frame when it came, by the clock of the host; ``round_trip_s``: of a command and its answer.
    """

    age_s: float
    round_trip_s: float


class Down(Struct, frozen=True):
    """The sampler ended. ``retry_s``: seconds until its restart; None if there is none.

    ``status``: without a restart its exit status; below 0 the signal that ended it.
    """

    reason: str
    retry_s: float | None
    status: int | None = None


News: TypeAlias = (
    Frame | Down | Delay | Outcome | Inspection | Explanation | ProcessStatuses | MigBox | MigProgress | Stretch
)


class Link(Protocol):
    """Delivers frames and takes commands."""

    def open(self, receive: Callable[[News], None]) -> None:
        """Start, and call ``receive`` for all news, from a thread of its own."""
        ...

    def send(self, command: Command) -> None:
        """Send a command. Never blocks and never raises.

        Every change gets an `Outcome`: if no sampler takes it, or if the sampler dies before it answers, the outcome
        says so. Other commands are dropped while the sampler is down.
        """
        ...

    def close(self) -> None:
        """Stop the sampler, without waiting for the driver."""
        ...
