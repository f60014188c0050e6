"""The end of a command with its input: a connection that was lost leaves nothing running on the host."""

import os
import sys
from collections.abc import MutableMapping
from typing import Final

UNTIL_INPUT_ENDS: Final = "GPUTOP_UNTIL_INPUT_ENDS"


def end_with_input(environment: MutableMapping[str, str]) -> None:
    """Interrupt this process, as Ctrl-C does, when its input ends, if a gputop on another host requests that."""
    if environment.pop(UNTIL_INPUT_ENDS, None):
        import threading

        threading.Thread(target=_wait, name="input", daemon=True).start()


def _wait() -> None:
    import signal

    while os.read(sys.stdin.fileno(), 4096):
        pass
    os.kill(os.getpid(), signal.SIGINT)
