"""Puts the machine's parts together: the real ones, or a simulated box under the same code."""

import os
import time

from gputop.core.query.selection import Selection
from gputop.machine.nvml.driver import Driver
from gputop.machine.proc.host import HostReader
from gputop.machine.proc.procfs import RealProc
from gputop.machine.processes.progress import ProgressReader
from gputop.machine.processes.reader import ProcessReader, resolve_user
from gputop.machine.source import Limits, MachineSource


def build(selection: Selection, interval_s: float, demo: str | None, *, is_once: bool) -> MachineSource:
    """Return the source of samples; nothing is asked yet. ``is_once``: somebody waits for this one sample.

    Raises ValueError when there is no simulated box of that name.
    """
    limits = Limits(patience_s=3.0 if is_once else 0.4)
    if demo is not None:
        return _simulated(selection, interval_s, demo, limits)
    from gputop.machine.nvml.binding import Binding  # noqa: PLC0415 - 20 ms that a simulated box does not need
    from gputop.machine.processes.containers import ContainerFiles  # noqa: PLC0415 - nor this

    proc = RealProc()
    return MachineSource(
        Driver(Binding()),
        HostReader(proc, os.uname().nodename),
        ProcessReader(proc, resolve_user, names=ContainerFiles(), reports=ProgressReader(time.time, os.environ)),
        selection=selection,
        interval_s=interval_s,
        limits=limits,
        watches_events=not is_once,
    )


def _simulated(selection: Selection, interval_s: float, name: str, limits: Limits) -> MachineSource:
    from gputop.simulator import running  # noqa: PLC0415
    from gputop.simulator.procfiles import HERTZ, PAGE  # noqa: PLC0415

    box = running(name)
    return MachineSource(
        Driver(box.driver),
        HostReader(box.proc, box.host),
        ProcessReader(box.proc, box.users.get, reports=box.reports, clock_ticks=HERTZ, page_bytes=PAGE),
        selection=selection,
        interval_s=interval_s,
        limits=limits,
        simulated=box.name,
    )
