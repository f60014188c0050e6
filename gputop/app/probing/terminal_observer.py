"""Progress of a probe on a terminal: a line per device, drawn over the previous lines."""

import time
from collections.abc import Sequence
from typing import Final, TextIO

from gputop.app.probing.devices import Device
from gputop.core.probing.result import DeviceResult, ProbeReport
from gputop.machine.probe.runner import WorkerJob
from gputop.report.grid import look
from gputop.report.probe import DeviceProgress, progress

_DRAW_EVERY_S: Final = 0.25


class TerminalObserver:
    """An observer of a run that draws on a terminal; on any other stream it draws nothing."""

    def __init__(self, stream: TextIO) -> None:
        self._terminal = stream if stream.isatty() else None
        self._drawn_s = 0.0
        self._lines = 0

    def begin(self, devices: Sequence[Device], refused: Sequence[DeviceResult]) -> None:
        """Draw nothing yet."""

    def update(self, _: Sequence[WorkerJob], devices: Sequence[DeviceProgress]) -> None:
        """Draw the progress a few times a second."""
        now = time.monotonic()
        if self._terminal is not None and now - self._drawn_s >= _DRAW_EVERY_S:
            self._drawn_s = now
            self._draw(self._terminal, devices)

    def end(self, _: ProbeReport) -> None:
        """Remove the progress."""
        if self._terminal is not None and self._lines:
            self._draw(self._terminal, [])

    def _draw(self, terminal: TextIO, devices: Sequence[DeviceProgress]) -> None:
        lines = progress(devices, look(terminal, {})[0])
        up = f"\x1b[{self._lines}A" if self._lines else ""
        terminal.write(f"{up}\r\x1b[J" + "".join(f"{line}\n" for line in lines))
        terminal.flush()
        self._lines = len(lines)
