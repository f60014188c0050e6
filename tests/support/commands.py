"""gputop as a child process."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest

Run = Callable[..., "subprocess.CompletedProcess[str]"]


class Stream:
    """A running `gputop stream`."""

    def __init__(self, arguments: tuple[str, ...], environment: dict[str, str]) -> None:
        self.child = subprocess.Popen(
            [sys.executable, "-m", "gputop", "stream", *arguments],
            env=os.environ | environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )

    def until(self, wanted: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        """Return the first frame that is as wanted; fails when the stream ends before (it is bounded by --count)."""
        assert self.child.stdout is not None
        frame = None
        for line in self.child.stdout:
            frame = json.loads(line)
            if wanted(frame):
                return dict(frame)
        pytest.fail(f"the stream ended without it; the last frame was {json.dumps(frame)[:2000]}")
