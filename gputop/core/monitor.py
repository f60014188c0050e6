"""The sentence to read first: `Monitor.step` reads the machine and makes a frame of what it said."""

from typing import Protocol

from gputop.core.sample import Frame, Sample


class Source(Protocol):
    """Where samples come from: the machine, the simulator, or a test. ``interval_s``: that is asked for."""

    interval_s: float

    def read(self) -> Sample:
        """Take a sample. Never raises for what a driver or a process does; absent values carry their reason."""
        ...


class Monitor:
    """Turns samples into frames."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self._sequence = 0

    def step(self) -> Frame:
        """Read once and return the frame."""
        sample = self.source.read()
        self._sequence += 1
        return Frame(
            sequence=self._sequence,
            **{name: getattr(sample, name) for name in Sample.__struct_fields__},
        )
