"""The live end of a sampler, as the screen sees it: here, over ssh, from a tape or from a test."""

from collections.abc import Callable
from typing import Protocol, TypeAlias

from msgspec import Struct

from gputop.core.inspection.inspection import Inspection
from gputop.core.mig.answers import MigBox, MigProgress
from gputop.core.model.sample import Frame
from gputop.core.protocol.command import Command
from gputop.core.protocol.outcome import Outcome
from gputop.core.protocol.process_status import ProcessStatuses
from gputop.core.recording.playback import Stretch


class Down(Struct, frozen=True):
    """The sampler is gone. ``retry_s``: seconds until it is started again; None if it will not be.

    ``status``: its exit status where it will not be; below 0 the signal that ended it.
    """

    reason: str
    retry_s: float | None
    status: int | None = None


News: TypeAlias = Frame | Down | Outcome | Inspection | ProcessStatuses | MigBox | MigProgress | Stretch


class Link(Protocol):
    """Where frames come from and commands go to."""

    def open(self, receive: Callable[[News], None]) -> None:
        """Start, and call ``receive`` for all that arrives, from a thread of its own."""
        ...

    def send(self, command: Command) -> None:
        """Send a command. Never blocks and never raises.

        A change is answered by an `Outcome` in any case: if no sampler takes it, or the one that did dies before it
        answers, by one that says so. Other commands, questions among them, are dropped with the sampler down.
        """
        ...

    def close(self) -> None:
        """Let the sampler go. Never waits for a driver."""
        ...
