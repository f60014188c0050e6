"""A simulated box with MIG, whose state outlives the processes, and commands on it.

Nothing here may ever reach a real driver: each box proves that its driver is a simulated one before anything is
changed, by the uuid that its scenario has made up.
"""

import json
import os
import subprocess
import sys
import uuid
from pathlib import Path
from typing import Any

import pytest

FAULTY = Path(__file__).parents[1] / "hardware" / "faulty.py"
MIXED = "3g.40gb@4,1g.10gb,1g.10gb,2g.20gb/1c+1c"
PATIENCE_S = 120  # only ever waited for when a test fails


class Done:
    """How a command ended."""

    def __init__(self, done: "subprocess.CompletedProcess[str]") -> None:
        self.status, self.out, self.err = done.returncode, done.stdout, done.stderr


class MigBox:
    """A simulated box with one GPU, and commands on it."""

    def __init__(self, folder: Path, model: str) -> None:
        self.gpu = f"GPU-{uuid.uuid4()}"
        self._scenario = folder / "box.scn"
        self._state = folder / "state"
        self._head = f"[box]\ngpus = 1\nmodel = {model}\n[gpu 0]\nuuid = {self.gpu}\n"
        self.environment = os.environ | {
            "NVML_MOCK_SCENARIO": str(self._scenario),
            "NVML_MOCK_STATE": str(self._state),
            "XDG_STATE_HOME": str(folder / "xdg"),
        }
        self.write()
        if self.status["uuid"] != self.gpu:
            pytest.exit("NVML_MOCK_BOX is set, and the driver is not a simulated one", returncode=1)

    def write(self, *lines: str) -> None:
        """Replace the scenario; what was changed through the driver stays."""
        fresh = self._scenario.with_suffix(".new")
        fresh.write_text(self._head + "\n".join(lines) + "\n")
        fresh.rename(self._scenario)

    def use(self, pid: int, instance: int, compute: int = 0) -> None:
        """Have a process run on an instance."""
        self.write("[process]", f"pid = {pid}", "gpu = 0", f"gi = {instance}", f"ci = {compute}", "mem = 1GiB")

    def mig(self, *arguments: str, fails: str = "") -> Done:
        program = [str(FAULTY), fails] if fails else ["-m", "gputop"]
        command = [sys.executable, *program, "mig", *arguments]
        return Done(
            subprocess.run(
                command, capture_output=True, check=False, env=self.environment, stdin=subprocess.DEVNULL, text=True,
                timeout=PATIENCE_S,
            )
        )  # fmt: skip

    def start(self, *arguments: str) -> "subprocess.Popen[str]":
        command = [sys.executable, "-m", "gputop", "mig", *arguments]
        return subprocess.Popen(
            command, env=self.environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True
        )

    def apply(self, request: str, fails: str = "") -> Done:
        return self.mig("apply", request, "--yes", fails=fails)

    @property
    def status(self) -> dict[str, Any]:
        return dict(json.loads(self.mig("status", "--json").out)["gpus"][0])

    @property
    def layout(self) -> list[str]:
        """Return what there is: instances with place and compute instances, of a process of its own."""
        return shown(self.status)

    def reset(self) -> None:
        """Do to the state of the simulated driver what a reset of the GPU does: what is pending holds."""
        lines = self._state.read_text().splitlines()
        words = [line.split() for line in lines]
        for row in words:
            if row[:2] == ["gpu", "0"]:
                row[5] = row[6]
        self._state.write_text("".join(" ".join(row) + "\n" for row in words))


def shown(gpu: dict[str, Any]) -> list[str]:
    return [
        f"{one['profile']}@{one['start']}/{'+'.join(str(c['slices']) for c in one['computes'])}"
        for one in gpu["instances"]
    ]
