"""A running recording, as the screen sees it."""

from typing import Protocol

from msgspec import Struct

from gputop.core.model.sample import Frame
from gputop.core.model.units import bytes_text, duration_text


class Recording(Struct, frozen=True, kw_only=True):
    """The progress of a recording. ``problem``: why it ended; frames written before it are readable."""

    path: str
    frames: int = 0
    bytes: int = 0
    seconds: float = 0.0
    is_on: bool = True
    problem: str = ""

    @property
    def text(self) -> str:
        """Return the progress as text: ``3600 frames, 1.9MiB, 1h00``."""
        frames = "1 frame" if self.frames == 1 else f"{self.frames} frames"
        return f"{frames}, {bytes_text(self.bytes)}, {duration_text(round(self.seconds))}"


class Recorder(Protocol):
    """Records frames to a file. Its methods never block or raise; ``recording`` has the progress."""

    @property
    def recording(self) -> Recording | None:
        """Return the current or the last recording; None before the first."""
        ...

    def start(self, path: str) -> None:
        """Start a recording. Refuses to overwrite a file."""
        ...

    def take(self, frame: Frame) -> None:
        """Add a frame to the current recording, if any."""
        ...

    def stop(self) -> None:
        """End the recording."""
        ...
