"""Readers of single processes, and of the doctor's facts, on a simulated box."""

from gputop.core.query.selection import Selection
from gputop.machine.doctor.collect import BETWEEN_S, DoctorBox
from gputop.machine.inspect.inspector import Inspector
from gputop.machine.inspect.process_status import ProcessStatusReader
from gputop.simulator import Box
from gputop.simulator.procfiles import HERTZ
from gputop.simulator.source import source_of_box


def inspector_of_box(box: Box) -> Inspector:
    """Return the inspector of the processes of a box."""
    return Inspector(box.proc, box.users.get, clock_ticks=HERTZ, costly=box.costly.read)


def process_status_of_box(box: Box) -> ProcessStatusReader:
    """Return the status reader of the processes of a box."""
    return ProcessStatusReader(box.proc, box.kernel)


def doctor_box(box: Box) -> DoctorBox:
    """Return a box in the form that the doctor reads."""
    source = source_of_box(box, Selection(), BETWEEN_S, is_once=True)
    return DoctorBox(root=box.root, source=source, host=box.host, journal=str)
