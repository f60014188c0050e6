"""Answers a sampler's question how the GPUs are split, in a thread of its own: the driver may hang."""

import threading
from collections.abc import Callable
from contextlib import suppress
from queue import SimpleQueue

from gputop.core.mig.answers import MigBox, MigProgress
from gputop.core.protocol.command import ReadMig
from gputop.wire.server import Lines


class Survey:
    """Reads how the GPUs are split, one question after the other."""

    def __init__(self, read: Callable[[ReadMig], MigBox], lines: Lines) -> None:
        self._read = read
        self._lines = lines
        self._asked: SimpleQueue[ReadMig] = SimpleQueue()
        threading.Thread(target=self._run, name="survey", daemon=True).start()

    def ask(self, question: ReadMig) -> None:
        """Have the GPUs looked at; what is found goes out as a line."""
        self._asked.put(question)

    def _run(self) -> None:
        while True:
            box = self._read(self._asked.get())
            try:
                self._lines.write(box)
            except OSError:
                return  # nobody reads any more


def told(lines: Lines) -> Callable[[MigProgress], None]:
    """Return what writes progress as lines; where nobody reads, the change goes on all the same."""

    def tell(progress: MigProgress) -> None:
        with suppress(OSError):
            lines.write(progress)

    return tell
