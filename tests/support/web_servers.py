"""A real `gputop serve` in a process of its own, and clients that look at it."""

import http.client
import json
import os
import select
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit

PATIENCE_S = 60.0


class Served:
    """A running server. ``address``: of its first page; ``below``: the path of that."""

    def __init__(self, child: "subprocess.Popen[str]", address: str) -> None:
        self.child = child
        self.address = address
        parts = urlsplit(address)
        self.port, self.below = parts.port or 0, parts.path

    @contextmanager
    def connect(self, path: str, **headers: str) -> Iterator[http.client.HTTPResponse]:
        """Ask for a path of the server; the answer is not read yet."""
        client = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE_S)
        try:
            client.request("GET", path, headers=headers)
            with client.getresponse() as response:
                yield response
        finally:
            client.close()

    def get(self, name: str = "", **headers: str) -> tuple[int, str]:
        """Return status and text of a page below the secret."""
        with self.connect(self.below + name, **headers) as response:
            return response.status, response.read().decode()

    def frames(self, count: int) -> list[dict[str, Any]]:
        """Return the next frames of the wall."""
        with self._follow() as frames:
            return [next(frames) for _ in range(count)]

    def frame_with(self, key: str) -> dict[str, Any]:
        """Return the first frame of the wall that has something under a key."""
        end = time.monotonic() + PATIENCE_S
        with self._follow() as frames:
            while not (frame := next(frames))[key]:
                assert time.monotonic() < end, f"no {key}"
            return frame

    @contextmanager
    def _follow(self) -> Iterator[Iterator[dict[str, Any]]]:
        with self.connect(f"{self.below}events") as response:
            events = iter(response.readline, b"")
            yield (json.loads(next(events)[6:]) for line in events if line == b"event: frame\n")


@contextmanager
def serving(*arguments: str, **environment: str) -> Iterator[Served]:
    """Run a server on a free port until the end of the block."""
    child = subprocess.Popen(
        [sys.executable, "-m", "gputop", "serve", "--listen", "127.0.0.1:0", *arguments],
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True, env=os.environ | environment,
    )  # fmt: skip
    try:
        assert child.stdout is not None
        assert select.select([child.stdout], [], [], PATIENCE_S)[0], "no address"
        address = child.stdout.readline().strip()
        assert address, "the server has ended"
        yield Served(child, address)
    finally:
        child.terminate()
        try:
            child.wait(PATIENCE_S)
        finally:
            child.kill()
            child.wait()
            if child.stdout:
                child.stdout.close()
