"""A link to a recording: besides its frames it takes what a tape deck has keys for."""

from typing import Protocol

from gputop.core.protocol.link import Link


class Player(Link, Protocol):
    """Plays a recording. None of this blocks; what comes of it arrives as a `Stretch`."""

    def play(self) -> None:
        """Go on, or hold; at the end begin again."""
        ...

    def step(self, frames: int) -> None:
        """Hold, so many frames on or back."""
        ...

    def move(self, seconds: float) -> None:
        """Go on from so many seconds later or earlier."""
        ...

    def go(self, at_s: float) -> None:
        """Go on from this place."""
        ...

    def faster(self, steps: int) -> None:
        """Take a higher or lower one of the speeds."""
        ...

    def loop(self) -> None:
        """Begin again at the end, or do not."""
        ...

    def find(self) -> None:
        """Hold at the next frame with a finding that is not in this one."""
        ...

    def taken(self) -> None:
        """Say that the last stretch was shown: more is handed on only then."""
        ...
