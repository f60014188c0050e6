"""Events of the driver: Xid errors, and changes of the MIG layout."""

import time
from collections import deque
from collections.abc import Callable
from typing import Any, Final

from gputop.core.model.metric import Missing
from gputop.core.model.sample import XidEvent
from gputop.machine.nvml.driver import Driver, Handle

_XID: Final = 0x8
_MIG_CONFIG: Final = 0x100
_KEPT: Final = 16  # of a GPU's Xid errors
_MOST: Final = 256  # events per collection: a board that reports without end must not block the thread


class EventWatcher:
    """Collects the events of all GPUs. Those from before the start are lost.

    `collect` makes all driver calls. It may hang with a faulty GPU, so it needs a thread of its own.
    """

    def __init__(self, driver: Driver, on_layout: Callable[[str], None], wall: Callable[[], float] = time.time) -> None:
        self._driver = driver
        self._on_layout = on_layout
        self._wall = wall
        self._set: Any = None
        self._new: deque[Handle] = deque()
        self._xids: dict[str, deque[XidEvent]] = {}
        self._is_watching = False

    def watch(self, handle: Handle) -> None:
        """Watch another GPU, from the next collection on."""
        self._new.append(handle)

    def xids(self, uuid: str) -> tuple[XidEvent, ...]:
        """Return the last Xid errors of a GPU, oldest first."""
        return tuple(self._xids.get(uuid, ()))

    def collect(self, _: float) -> None:
        """Collect the events since the last call without waiting: the driver queues them."""
        while self._new:
            self._register(self._new.popleft())
        for _ in range(_MOST if self._is_watching else 0):
            event = self._driver.ask("nvmlEventSetWait", self._set, 0)
            if isinstance(event, Missing):
                return  # mostly a time-out: there are no more events
            uuid, kind, data = event
            if kind & _XID:
                self._xids.setdefault(uuid, deque(maxlen=_KEPT)).append(XidEvent(time_s=self._wall(), xid=data))
            elif kind & _MIG_CONFIG:
                self._on_layout(uuid)

    def _register(self, handle: Handle) -> None:
        """Register for the events of a GPU, except for unsupported ones."""
        if self._set is None:
            self._set = self._driver.ask("nvmlEventSetCreate")
        supported = self._driver.ask("nvmlDeviceGetSupportedEventTypes", handle)
        if isinstance(self._set, Missing) or isinstance(supported, Missing) or not supported & (_XID | _MIG_CONFIG):
            return
        wanted = supported & (_XID | _MIG_CONFIG)
        answer = self._driver.ask("nvmlDeviceRegisterEvents", handle, wanted, self._set)
        self._is_watching |= not isinstance(answer, Missing)
