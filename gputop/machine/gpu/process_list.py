"""The driver's lists of processes on a GPU: compute, graphics, and MPS clients."""

from collections.abc import Sequence
from typing import Any, Final

from gputop.core.model.metric import Missing
from gputop.machine.nvml.binding import ProcessEntry
from gputop.machine.nvml.driver import LASTING, Driver, Handle

_COMPUTE: Final = ("C", "nvmlDeviceGetComputeRunningProcesses")
_RARE: Final = (
    ("G", "nvmlDeviceGetGraphicsRunningProcesses"),
    ("M", "nvmlDeviceGetMPSComputeRunningProcesses"),
)
_NONE_SUCH: Final = frozenset({Missing.UNSUPPORTED, Missing.OUTDATED})
_MOST_PID: Final = 2**22

Place = tuple[int, int | None, int | None]  # pid, GPU instance, compute instance
Held = tuple[str, int | None]  # type, bytes


class ProcessLister:
    """Reads the compute list each time and the others in turn, empty ones less often.

    For each list the driver walks all of its clients.
    """

    def __init__(self, driver: Driver) -> None:
        self._driver = driver
        self._lists: dict[str, Missing | list[ProcessEntry]] = {}
        self._turn = 0

    def read(self, handles: Sequence[Handle]) -> dict[Place, Held]:
        """Return type and memory of each process on the GPU, or on all of its MIG devices."""
        self._turn += 1
        for kind, call in (_COMPUTE, *self._rare()):
            held = self._lists.get(kind)
            if not (isinstance(held, Missing) and held in LASTING):
                self._lists[kind] = self._list(call, handles)
        found: dict[Place, Held] = {}
        for kind, entries in self._lists.items():
            if not isinstance(entries, Missing):
                _merge(kind, entries, found)
        return found

    @property
    def refusal(self) -> Missing | None:
        """Return why there is no list of compute processes; None if there is one."""
        entries = self._lists.get("C")
        return entries if isinstance(entries, Missing) else None

    @property
    def gap(self) -> Missing | None:
        """Return why graphics or MPS processes may be missing; None if all are listed.

        A driver that lacks such a list has no such processes.
        """
        held = (self._lists.get(kind) for kind, _ in _RARE)
        return next((one for one in held if isinstance(one, Missing) and one not in _NONE_SUCH), None)

    def _rare(self) -> Sequence[tuple[str, str]]:
        """Return the other lists to read: at first both, then one; every other time none if that one was empty."""
        if not self._lists:
            return _RARE
        one = _RARE[self._turn % 2]
        return () if self._turn % 4 > 1 and self._lists[one[0]] == [] else (one,)

    def _list(self, call: str, handles: Sequence[Handle]) -> Missing | list[ProcessEntry]:
        entries: list[ProcessEntry] = []
        for handle in handles:
            answer: Any = self._driver.ask(call, handle)
            if isinstance(answer, Missing):
                return answer
            entries += answer
        return entries


def _merge(kind: str, entries: list[ProcessEntry], found: dict[Place, Held]) -> None:
    for pid, memory, gpu_instance, compute_instance in entries:
        if not 0 < pid <= _MOST_PID:
            continue  # garbage from a driver with a different structure
        place = (pid, gpu_instance, compute_instance)
        before = found.get(place)
        found[place] = (_joined(before[0], kind), before[1] or memory) if before else (kind, memory)


def _joined(first: str, second: str) -> str:
    """Return the type of a process that is in two lists."""
    if first == second:
        return first
    return "M" if "M" in (first, second) else "C+G"
