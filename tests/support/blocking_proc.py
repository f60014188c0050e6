"""A /proc with processes that block the readers of their memory, as a stuck thread does."""

import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from fake_proc import FakeProc

from gputop.machine.proc.patient import CAN_BLOCK

LONGEST_S = 60.0  # that a reader hangs if a test fails to free it


class BlockingProc(FakeProc):
    """``hanging``: how many readers hang at present."""

    def __init__(self, files: dict[str, Any] | None = None) -> None:
        super().__init__(files)
        self.hanging = 0
        self._gates: dict[str, threading.Event] = {}

    @contextmanager
    def blocked(self, pids: Iterable[int]) -> Iterator[None]:
        """Let these processes block their readers until the block ends."""
        gate = threading.Event()
        held = [str(pid) for pid in pids]
        self._gates |= dict.fromkeys(held, gate)
        try:
            yield
        finally:
            for pid in held:
                del self._gates[pid]
            gate.set()

    def read(self, path: str) -> bytes:
        """Return the content of a file, as late as its process wants."""
        pid, _, name = path.partition("/")
        if name in CAN_BLOCK and pid in self._gates:
            self.reads.append(path)
            self.hanging += 1
            self._gates[pid].wait(LONGEST_S)
            self.hanging -= 1
        return super().read(path)
