"""Boxes to measure on, made by a program that the user names: it simulates GPUs and processes.

Its command line is

    COMMAND GPUS PROCESSES zero|realistic PROGRAM [ARGUMENT ...]

It must run PROGRAM where libnvidia-ml.so.1 shows a box with this number of GPUs, and of real processes on them. The
driver answers at once (zero) or as slowly as that of a real board (realistic). The exit status must be that of PROGRAM.
"""

import json
import os
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from typing import Any, Final

from msgspec import Struct

_RUN: Final = os.path.join(os.path.dirname(os.path.abspath(__file__)), "run.py")


class Plan(Struct, frozen=True):
    """A box to make. ``driver``: zero or realistic."""

    gpus: int
    processes: int
    driver: str = "zero"

    @property
    def label(self) -> str:
        """Return its label in tables."""
        return f"{self.gpus} x {self.processes:,}" + (", slow driver" if self.driver == "realistic" else "")


def measure(command: str, plan: Plan | None, arguments: Sequence[str], run: str = _RUN) -> dict[str, Any] | None:
    """Run bench/run.py on a box and return its values; None if it failed. No plan: on this host.

    Its other output goes to stderr.
    """
    make = [*shlex.split(command), str(plan.gpus), str(plan.processes), plan.driver] if plan else []
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "values.json")
        label = ["--label", plan.label] if plan else []
        subprocess.run([*make, sys.executable, run, *label, *arguments, "--json", path], stdout=sys.stderr, check=False)
        if not os.path.exists(path):
            print(f"bench: no values of {plan.label if plan else 'this box'}", file=sys.stderr)
            return None
        with open(path) as file:
            values: dict[str, Any] = json.load(file)
            return values
