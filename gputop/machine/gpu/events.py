"""Events of the driver: Xid errors, and changes of the MIG layout."""

import time
from collections import deque
from collections.abc import Callable
from typing import Any, Final

from gputop.core.model.metric import Missing
from gputop.core.model.sample import XidEvent
from gputop.machine.nvml.driver import Driver, Handle
from gputop.machine.worker import Worker

_XID: Final = 0x8
_MIG_CONFIG: Final = 0x100
_KEPT: Final = 16  # of a GPU's Xid errors
_MOST: Final = 256  # events per collection: a board that reports without end must not block the thread


class EventWatcher:
    """Collects the events of all GPUs, each in a thread of its own: a faulty GPU may hang in any of these calls.

    Events from before the start are lost.
    """

    def __init__(self, driver: Driver, on_layout: Callable[[str], None], wall: Callable[[], float] = time.time) -> None:
        self._driver = driver
        self._on_layout = on_layout
        self._wall = wall
        self._workers: dict[str, Worker[None]] = {}
        self._xids: dict[str, deque[XidEvent]] = {}

    def watch(self, uuid: str, handle: Handle) -> None:
        """Watch another GPU, from the next collection on."""
        self._workers[uuid] = Worker(_GpuEvents(self._driver, handle, self._take).collect)

    def xids(self, uuid: str) -> tuple[XidEvent, ...]:
        """Return the last Xid errors of a GPU, oldest first."""
        return tuple(self._xids.get(uuid, ()))

    def collect(self, now: float) -> None:
        """Start to collect the events since the last call, without waiting. ``now``: monotonic seconds."""
        for worker in self._workers.values():
            worker.take(0)
            worker.ask(now)

    def _take(self, uuid: str, kind: int, data: int) -> None:
        if kind & _XID:
            self._xids.setdefault(uuid, deque(maxlen=_KEPT)).append(XidEvent(time_s=self._wall(), xid=data))
        elif kind & _MIG_CONFIG:
            self._on_layout(uuid)


class _GpuEvents:
    """The events of one GPU, in an event set of its own: another GPU's call cannot lock it."""

    def __init__(self, driver: Driver, handle: Handle, take: Callable[[str, int, int], None]) -> None:
        self._driver = driver
        self._handle = handle
        self._take = take
        self._is_new = True
        self._set: Any = None

    def collect(self, _: float) -> None:
        """Take the events since the last call without waiting: the driver queues them."""
        if self._is_new:
            self._is_new = False
            self._set = self._registered()
        for _ in range(_MOST if self._set is not None else 0):
            event = self._driver.ask("nvmlEventSetWait", self._set, 0)
            if isinstance(event, Missing):
                return  # mostly a time-out: there are no more events
            self._take(*event)

    def _registered(self) -> Any:
        """Return a set with the events of the GPU; None if it supports none."""
        supported = self._driver.ask("nvmlDeviceGetSupportedEventTypes", self._handle)
        if isinstance(supported, Missing) or not supported & (_XID | _MIG_CONFIG):
            return None
        events = self._driver.ask("nvmlEventSetCreate")
        if isinstance(events, Missing):
            return None
        wanted = supported & (_XID | _MIG_CONFIG)
        answer = self._driver.ask("nvmlDeviceRegisterEvents", self._handle, wanted, events)
        return None if isinstance(answer, Missing) else events
