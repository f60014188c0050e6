"""What the driver reports by itself: Xid errors, and changes of the MIG layout."""

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
_MOST: Final = 256  # events in one look: a board that reports without end must not keep us


class EventWatcher:
    """Collects the events of all GPUs. Those from before it watched are lost.

    All driver calls are made by `collect`, which may hang with a sick GPU: it wants a thread of its own.
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
        """Watch a GPU too, from the next look on."""
        self._new.append(handle)

    def xids(self, uuid: str) -> tuple[XidEvent, ...]:
        """Return the last Xid errors of a GPU, oldest first."""
        return tuple(self._xids.get(uuid, ()))

    def collect(self, _: float) -> None:
        """Take what has happened since the last look, without waiting: the driver keeps events until then."""
        while self._new:
            self._register(self._new.popleft())
        for _ in range(_MOST if self._is_watching else 0):
            event = self._driver.ask("nvmlEventSetWait", self._set, 0)
            if isinstance(event, Missing):
                return  # mostly a time-out: there is no other
            uuid, kind, data = event
            if kind & _XID:
                self._xids.setdefault(uuid, deque(maxlen=_KEPT)).append(XidEvent(time_s=self._wall(), xid=data))
            elif kind & _MIG_CONFIG:
                self._on_layout(uuid)

    def _register(self, handle: Handle) -> None:
        """Ask for the events of a GPU; not for those that it does not report."""
        if self._set is None:
            self._set = self._driver.ask("nvmlEventSetCreate")
        supported = self._driver.ask("nvmlDeviceGetSupportedEventTypes", handle)
        if isinstance(self._set, Missing) or isinstance(supported, Missing) or not supported & (_XID | _MIG_CONFIG):
            return
        wanted = supported & (_XID | _MIG_CONFIG)
        answer = self._driver.ask("nvmlDeviceRegisterEvents", handle, wanted, self._set)
        self._is_watching |= not isinstance(answer, Missing)
