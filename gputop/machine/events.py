"""What the driver reports by itself: Xid errors, and changes of the MIG layout."""

import threading
import time
from collections import deque
from collections.abc import Callable
from typing import Final

from gputop.core.metric import Missing
from gputop.core.sample import XidEvent
from gputop.machine.nvml import Driver, Handle

_XID: Final = 0x8
_MIG_CONFIG: Final = 0x100
_WAIT_MS: Final = 5000
_PAUSE_S: Final = 5.0
_KEPT: Final = 16


class EventWatcher:
    """A thread that waits for events of all GPUs. Events from before it started are lost."""

    def __init__(self, driver: Driver, on_layout: Callable[[str], None], wall: Callable[[], float] = time.time) -> None:
        self._driver = driver
        self._on_layout = on_layout
        self._wall = wall
        self._set = driver.ask("nvmlEventSetCreate")
        self._xids: dict[str, deque[XidEvent]] = {}
        self._is_running = False

    def watch(self, handle: Handle) -> None:
        """Watch a GPU too. What it does not report is not asked for."""
        if isinstance(self._set, Missing):
            return
        supported = self._driver.ask("nvmlDeviceGetSupportedEventTypes", handle)
        wanted = 0 if isinstance(supported, Missing) else supported & (_XID | _MIG_CONFIG)
        if not wanted:
            return
        answer = self._driver.ask("nvmlDeviceRegisterEvents", handle, wanted, self._set)
        if not isinstance(answer, Missing) and not self._is_running:
            self._is_running = True
            threading.Thread(target=self._run, name="events", daemon=True).start()

    def xids(self, uuid: str) -> tuple[XidEvent, ...]:
        """Return the last Xid errors of a GPU, oldest first."""
        return tuple(self._xids.get(uuid, ()))

    def _run(self) -> None:
        while True:
            before = time.monotonic()
            event = self._driver.ask("nvmlEventSetWait", self._set, _WAIT_MS)
            if isinstance(event, Missing):
                if time.monotonic() - before < 1:
                    time.sleep(_PAUSE_S)  # not a time-out: the driver is in trouble, do not spin
                continue
            uuid, kind, data = event
            if kind & _XID:
                self._xids.setdefault(uuid, deque(maxlen=_KEPT)).append(XidEvent(time_s=self._wall(), xid=data))
            elif kind & _MIG_CONFIG:
                self._on_layout(uuid)
