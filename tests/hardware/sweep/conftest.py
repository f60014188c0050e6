"""A box with faults, for the sweep. All of it runs where GPUTOP_SWEEP is set (make sweep), else a part of it."""

import os
import subprocess
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from commands import Run, Stream
from driver_faults import frame_of, scenario

_SKIPPED = pytest.mark.skip(reason="a part of the sweep is enough here; all of it: make sweep")
_EVERY = 8  # of the functions, where not all are asked for


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Leave out most of what has a case for each function. The hook is shown all tests, not only those here."""
    here = Path(__file__).parent
    items = [item for item in items if here in item.path.parents]
    if "NVML_MOCK_BOX" not in os.environ:
        for item in items:
            item.add_marker(pytest.mark.skip(reason="needs a driver that can be told to fall ill"))
    elif "GPUTOP_SWEEP" not in os.environ:
        cases = [item for item in items if item.get_closest_marker("parametrize") and "each_function" in item.name]
        for number, item in enumerate(cases):
            if number % _EVERY:
                item.add_marker(_SKIPPED)


class Box:
    """A simulated box whose faults a test changes, with a process on each GPU."""

    def __init__(self, folder: Path, run: Run, stream: Callable[..., Stream], pids: Sequence[int]) -> None:
        self._path = folder / "box.scn"
        self._run = run
        self._stream = stream
        self.pids = pids
        self.environment = {"NVML_MOCK_SCENARIO": str(self._path), "NVML_MOCK_STATE": str(folder / "state")}

    def write(self, text: str) -> None:
        """Replace the scenario at one stroke, as the simulated driver wants it."""
        fresh = self._path.with_suffix(".new")
        fresh.write_text(text)
        fresh.rename(self._path)

    def fail(self, faults: Sequence[Sequence[str]], box: str = "") -> None:
        """Have a healthy GPU, and one for each of these faults."""
        self.write(scenario(faults, self.pids, box=box))

    def snapshot(self, *arguments: str) -> dict[str, Any]:
        """Return what a snapshot says, which must say nothing else."""
        done = self._run("snapshot", "--json", "--wait", "0.3", *arguments, **self.environment)
        assert (done.returncode, done.stderr) == (0, "")
        return frame_of(done.stdout)

    def stream(self, *arguments: str) -> Stream:
        """Start a stream."""
        return self._stream(*arguments, **self.environment)

    def command(self, *arguments: str) -> "subprocess.CompletedProcess[str]":
        """Run gputop on the box."""
        return self._run(*arguments, **self.environment)


@pytest.fixture
def box(tmp_path: Path, run: Run, stream: Callable[..., Stream]) -> Iterator[Box]:
    """Return a box with a real process."""
    child = subprocess.Popen(["sleep", "600"])
    yield Box(tmp_path, run, stream, [child.pid])
    child.kill()
    child.wait()
