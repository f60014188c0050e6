"""The worker's side of the protocol: an object a line on what was stdout; the plan, and then silence, on stdin."""

import json
import os
import sys
import threading
import time
from typing import Any, Final

VERSION: Final = 1


class Lines:
    """Writes events. From here on stdout belongs to them: what libraries print goes to stderr."""

    def __init__(self) -> None:
        sys.stdout.flush()
        self._descriptor = os.dup(1)
        os.dup2(2, 1)
        self._gate = threading.Lock()
        self._sequence = 0

    def send(self, event: str, **fields: Any) -> None:  # noqa: ANN401 - what JSON knows
        """Write an event. A parent that is gone ends the process."""
        with self._gate:
            self._sequence += 1
            head = {"ev": event, "v": VERSION, "t": round(time.monotonic(), 3), "seq": self._sequence}
            raw = json.dumps(head | fields, allow_nan=False, separators=(",", ":")).encode() + b"\n"
            try:
                while raw:
                    raw = raw[os.write(self._descriptor, raw) :]
            except OSError:
                os._exit(1)


class Stop(threading.Event):
    """Is set when the parent says stop, or closes stdin, or is gone."""

    def listen(self) -> None:
        """Read stdin in a thread of its own, until its end."""
        threading.Thread(target=self._read, name="stop", daemon=True).start()

    def _read(self) -> None:
        try:
            while line := os.read(0, 65_536):
                if b'"stop"' in line:
                    break
        except OSError:
            pass
        self.set()


def read_plan() -> dict[str, Any]:
    """Return the first line of stdin, byte by byte: what follows belongs to `Stop`."""
    raw = bytearray()
    while not raw.endswith(b"\n"):
        byte = os.read(0, 1)
        if not byte:
            break
        raw += byte
    return dict(json.loads(raw))


def heart(lines: Lines, count: "list[int]", every_s: float = 0.5) -> None:
    """Send heartbeats with the count of the main loop's turns: a worker that is stuck sends the same for ever."""

    def beat() -> None:
        while True:
            lines.send("hb", n=count[0])
            time.sleep(every_s)

    threading.Thread(target=beat, name="heart", daemon=True).start()
