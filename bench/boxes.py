"""Boxes to measure on, made by a program that somebody names: it simulates so many GPUs and processes.

It is called as

    COMMAND GPUS PROCESSES zero|realistic PROGRAM [ARGUMENT ...]

has to run PROGRAM where libnvidia-ml.so.1 shows a box with so many GPUs and so many real processes on them, whose
driver answers at once (zero) or as slowly as one of a real board (realistic), and to end as PROGRAM does.
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
    """A box that is to be made. ``driver``: zero or realistic."""

    gpus: int
    processes: int
    driver: str = "zero"

    @property
    def label(self) -> str:
        """What it is called in tables."""
        return f"{self.gpus} x {self.processes:,}" + (", slow driver" if self.driver == "realistic" else "")


def measure(command: str, plan: Plan | None, arguments: Sequence[str], run: str = _RUN) -> dict[str, Any] | None:
    """Run bench/run.py on a box and return its values; None if it failed. No plan: on the box that there is.

    What it prints meanwhile goes to stderr.
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
