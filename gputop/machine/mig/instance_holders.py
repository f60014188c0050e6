"""The processes that have a MIG instance's device file open, listed by the driver or not."""

import re
from collections.abc import Iterator
from typing import Final

from gputop.machine.proc.procfs import Proc
from gputop.machine.proc.root import Files

_MINORS: Final = "driver/nvidia-caps/mig-minors"
_LINE: Final = re.compile(r"^gpu(\d+)/gi(\d+)(?:/ci(\d+))?/access (\d+)$", re.MULTILINE)
_NODE: Final = "/dev/nvidia-caps/nvidia-cap"

Place = tuple[int, int, int | None]  # minor number of the GPU, GPU instance, compute instance


def instance_holders(proc: Proc) -> dict[Place, tuple[int, ...]]:
    """Return the pids by place; empty if the driver has no such files, or /proc is not readable."""
    places = {number: place for place, number in _places(proc)}
    found: dict[Place, tuple[int, ...]] = {}
    for pid in [int(entry) for entry in proc.list(".") if entry.isdecimal()] if places else ():
        for place in {places[number] for number in _open(proc, pid) if number in places}:
            found[place] = (*found.get(place, ()), pid)
    return found


def _places(proc: Proc) -> Iterator[tuple[Place, int]]:
    """Yield the place that each device file number belongs to."""
    for gpu, instance, compute, number in _LINE.findall(Files(proc).text(_MINORS) or ""):
        yield (int(gpu), int(instance), int(compute) if compute else None), int(number)


def _open(proc: Proc, pid: int) -> Iterator[int]:
    """Yield the numbers of the capability files that a process has open."""
    files = Files(proc)
    for name in files.names(f"{pid}/fd"):
        link = files.target(f"{pid}/fd/{name}")
        digits = link.removeprefix(_NODE)
        if digits != link and digits.isdecimal():
            yield int(digits)
