"""The driver that the loader finds, real or simulated: without one these tests are skipped, and say so."""

import ctypes
import os
import subprocess
import sys
from collections.abc import Callable, Iterator

import pytest
from commands import Run, Stream


@pytest.fixture(scope="session", autouse=True)
def driver() -> None:
    """Skip where there is no driver."""
    try:
        library = ctypes.CDLL("libnvidia-ml.so.1")
    except OSError:
        pytest.skip("no libnvidia-ml.so.1 on the loader's path: neither a driver nor a simulated one")
    if library.nvmlInit_v2() != 0:
        pytest.skip("libnvidia-ml.so.1 is there, but the driver does not start")


@pytest.fixture
def run() -> Run:
    """Run gputop with arguments; keywords are environment variables."""

    def run(*arguments: str, **environment: str) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            [sys.executable, "-m", "gputop", *arguments],
            capture_output=True,
            check=False,
            env=os.environ | environment,
            stdin=subprocess.DEVNULL,
            text=True,
            timeout=120,
        )

    return run


@pytest.fixture
def stream() -> Iterator[Callable[..., Stream]]:
    """Start a stream of at most 600 frames, ten a second; it ends with the test."""
    started: list[Stream] = []

    def start(*arguments: str, **environment: str) -> Stream:
        made = Stream(("--interval", "0.1", "--count", "600", *arguments), environment)
        started.append(made)
        return made

    yield start
    for one in started:
        one.child.terminate()
        one.child.communicate(timeout=60)
