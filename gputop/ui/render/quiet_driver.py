"""Driver of the terminal that sleeps until a key is pressed."""

import os
from codecs import getincrementaldecoder
from collections.abc import Callable
from math import inf
from select import POLLIN, poll
from time import monotonic
from typing import Any, Final

from textual.drivers.linux_driver import LinuxDriver

from gputop.ui.render.textual_private import XTermParser

_TICK_MS: Final = 100
_TICKS_FOR_S: Final = 1.0  # after a key: a lone escape counts as a key when nothing has followed for a moment
_MOST_BYTES: Final = 4096


class QuietDriver(LinuxDriver):
    """Textual's own driver wakes ten times a second to look for keys, for a sixteenth of the CPU time of the screen."""

    def __init__(self, *given: Any, **named: Any) -> None:  # noqa: ANN401 - those of Textual's driver
        super().__init__(*given, **named)
        self._wake = os.eventfd(0, os.EFD_CLOEXEC)

    def disable_input(self) -> None:
        """Wake the thread, and wait until it has ended."""
        os.eventfd_write(self._wake, 1)
        super().disable_input()
        os.eventfd_read(self._wake)

    def run_input_thread(self) -> None:
        """Pass on what is typed, until `disable_input` or the end of the input."""
        parser, decode = XTermParser(), getincrementaldecoder("utf-8")().decode
        ready, typed_s = _waiting(self.fileno, self._wake), -inf
        while not self.exit_event.is_set():
            is_typing = monotonic() - typed_s < _TICKS_FOR_S
            if self.fileno in ready(_TICK_MS if is_typing else None):
                raw, typed_s = os.read(self.fileno, _MOST_BYTES), monotonic()
                if not raw:
                    return
                if text := decode(raw):  # empty if a character is not complete
                    for event in parser.feed(text):
                        self.process_message(event)
            for event in parser.tick():
                self.process_message(event)


def _waiting(*descriptors: int) -> Callable[[int | None], set[int]]:
    """Return a function that waits for input, at most for some milliseconds, and returns where there is some."""
    held = poll()
    for descriptor in descriptors:
        held.register(descriptor, POLLIN)
    return lambda timeout_ms: {descriptor for descriptor, _ in held.poll(timeout_ms)}
