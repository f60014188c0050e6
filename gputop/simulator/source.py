"""The source of a simulated box's samples: real readers above simulated borders."""

from gputop.core.query.selection import Selection
from gputop.machine.nvml.driver import Driver
from gputop.machine.proc.host import HostReader
from gputop.machine.processes.reader import ProcessReader
from gputop.machine.source import MachineSource, limits
from gputop.simulator import Box
from gputop.simulator.procfiles import HERTZ, PAGE


def source_of_box(
    box: Box, selection: Selection, interval_s: float, *, is_once: bool, reveal: bool = False
) -> MachineSource:
    """Return the source of a box's samples.

    ``is_once``: the user waits for a single sample. ``reveal``: show secrets in command lines.
    """
    return MachineSource(
        Driver(box.driver),
        HostReader(box.proc, box.host, lambda: box.details),
        ProcessReader(box.proc, box.users.get, reports=box.reports, clock_ticks=HERTZ, page_bytes=PAGE, reveal=reveal),
        selection=selection,
        interval_s=interval_s,
        limits=limits(is_once=is_once),
        simulated=box.name,
    )
