"""Assembly of the source that reads this machine."""

import os
import time
from typing import Final

from gputop.core.query.selection import Selection
from gputop.machine.nvml.binding import Binding
from gputop.machine.nvml.driver import Driver
from gputop.machine.proc.host import Details, HostReader
from gputop.machine.proc.patient import PatientProc
from gputop.machine.proc.procfs import RealProc
from gputop.machine.processes.containers import ContainerFiles
from gputop.machine.processes.progress import ProgressReader
from gputop.machine.processes.reader import ProcessReader, resolve_user
from gputop.machine.processes.users import PATIENCE_S
from gputop.machine.source import MachineSource, limits

_PATIENCE_S: Final = 2.0  # for sensors, if the user waits for a single sample
_PROCESS_PATIENCE_S: Final = 1.0  # for a process that blocks its readers and for the name of a user, likewise


def build(selection: Selection, interval_s: float, *, is_once: bool, reveal: bool = False) -> MachineSource:
    """Return the source of this machine's samples.

    ``is_once``: the user waits for a single sample. ``reveal``: show secrets in command lines.
    """
    proc = PatientProc(RealProc(), _PROCESS_PATIENCE_S) if is_once else PatientProc(RealProc())
    return MachineSource(
        Driver(Binding()),
        HostReader(proc, os.uname().nodename, lambda: _host_details(_PATIENCE_S if is_once else 0.0)),
        ProcessReader(
            proc,
            resolve_user,
            names=ContainerFiles(),
            reports=ProgressReader(time.time, os.environ),
            reveal=reveal,
            patience_s=_PROCESS_PATIENCE_S if is_once else PATIENCE_S,
            read_ahead=proc.read_ahead,
        ),
        selection=selection,
        interval_s=interval_s,
        limits=limits(is_once=is_once),
        watches_events=not is_once,
    )


def _host_details(patience_s: float) -> Details:
    from gputop.machine.proc.host_details import HostDetailsReader  # noqa: PLC0415 - on request only

    return HostDetailsReader(patience_s=patience_s)
