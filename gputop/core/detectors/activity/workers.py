"""What the host side of a process does: its busiest thread, and the children that prepare data for it."""

from collections.abc import Iterable, Sequence

from gputop.core.detectors.activity.role import is_loader
from gputop.core.model.sample import HostProcess

_BUSY = 1.0  # of a core


def busiest(process: HostProcess) -> float | None:
    """Return what its busiest thread takes of a core, in percent."""
    if process.busiest_thread_percent is None and process.threads == 1:
        return process.cpu_percent
    return process.busiest_thread_percent


def workers(process: HostProcess, children: Iterable[HostProcess]) -> tuple[HostProcess, ...]:
    """Return the children that prepare data; where none can be told from others, those that do something."""
    loaders = tuple([child for child in children if is_loader(child, process)])
    return loaders or tuple([child for child in children if (child.cpu_percent or 0.0) >= _BUSY or child.state == "D"])


def followed(process: HostProcess, children: Sequence[HostProcess]) -> tuple[float | None, ...]:
    """Return busiest thread, CPU of the workers, whether somebody waits for storage, number of workers."""
    if not children:
        return busiest(process), None, float(process.state == "D"), 0.0
    found = workers(process, children)
    is_blocked = process.state == "D" or any(child.state == "D" for child in found)
    return busiest(process), sum([child.cpu_percent or 0.0 for child in found]), float(is_blocked), float(len(found))
