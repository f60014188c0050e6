"""A link to a recording, with the controls of a player."""

from typing import Protocol

from gputop.core.protocol.link import Link


class Player(Link, Protocol):
    """Plays a recording. No method blocks; their effect arrives as a `Stretch`."""

    def play(self) -> None:
        """Play, or pause; at the end start again."""
        ...

    def step(self, frames: int) -> None:
        """Pause, so many frames later or earlier."""
        ...

    def move(self, seconds: float) -> None:
        """Continue so many seconds later or earlier."""
        ...

    def go(self, at_s: float) -> None:
        """Continue from this time."""
        ...

    def faster(self, steps: int) -> None:
        """Take a higher or lower speed."""
        ...

    def loop(self) -> None:
        """Start again at the end, or stop there."""
        ...

    def find(self) -> None:
        """Pause at the next frame with a new finding."""
        ...

    def taken(self) -> None:
        """Report that the last stretch was shown, so that the next one is sent."""
        ...
