"""A recording in the making, as the screen sees it."""

from typing import Protocol

from msgspec import Struct

from gputop.core.model.sample import Frame
from gputop.core.model.units import bytes_text, duration_text


class Recording(Struct, frozen=True, kw_only=True):
    """How far it is. ``problem``: why it ended; what was written before is readable."""

    path: str
    frames: int = 0
    bytes: int = 0
    seconds: float = 0.0
    is_on: bool = True
    problem: str = ""

    @property
    def text(self) -> str:
        """Return ``3600 frames, 1.9MiB, 1h00``."""
        frames = "1 frame" if self.frames == 1 else f"{self.frames} frames"
        return f"{frames}, {bytes_text(self.bytes)}, {duration_text(round(self.seconds))}"


class Recorder(Protocol):
    """Records frames to a file. Nothing of it blocks or raises; ``recording`` tells how it goes."""

    @property
    def recording(self) -> Recording | None:
        """The one that runs, or the last one; None before the first."""
        ...

    def start(self, path: str) -> None:
        """Begin one. Refused where there is such a file."""
        ...

    def take(self, frame: Frame) -> None:
        """Add a frame, if one runs."""
        ...

    def stop(self) -> None:
        """End it."""
        ...
