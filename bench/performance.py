"""All measurements: gputop and its peers on boxes of several sizes, and the growth of gputop's cost.

    python bench/performance.py FILE [--box COMMAND [--hang COMMAND --heal COMMAND]] [ARGUMENTS OF bench/run.py]

`--box` names a program that makes boxes (bench/boxes.py describes it); without it this host is measured. `--hang` is a
shell command that makes a driver call of such a box hang, `--heal` ends the hang. All values go to FILE (JSON), the
tables to stdout (Markdown), and the progress to stderr. It takes about 13 minutes on 2 cores with three peers, and
nothing else should run. With FILE docs/performance.json, `make generate` puts the tables into docs/performance.md.
"""

import argparse
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from boxes import Plan, measure
from growth import curves, facts

from gputop import __version__

TABLES: Final = Path(__file__).parent.parent / "docs" / "generate_performance.py"
SIZES: Final = ((1, 5), (8, 60), (8, 200), (16, 2000))
HUNG: Final = Plan(8, 60)  # also with a hanging call
DIALS: Final = (
    *("--rounds", "3", "--first-rounds", "2", "--first-limit", "2.5"),
    *("--warm-up", "3", "--seconds", "7", "--presses", "30"),
)
MOST: Final = ("--programs", "gputop,nvitop,gpustat,nvtop")  # btop lists no GPU processes: one box shows its scale
HUNG_LIMIT: Final = ("--once-limit", "6")


def main() -> int:
    """Measure and print."""
    options = _arguments()
    machine: dict[str, Any] = look()
    began_s = time.monotonic()
    boxes = [box for plan in plans(options.box) if (box := _measured(plan, options))]
    growth = facts(curves(options.box))
    machine["minutes"] = round((time.monotonic() - began_s) / 60, 1)
    with open(options.file, "w") as file:
        file.write(_text({"machine": machine, "boxes": boxes, "growth": growth}))
    return subprocess.run([sys.executable, str(TABLES), options.file], check=False).returncode or (not boxes)


def plans(box: str | None) -> list[Plan | None]:
    """Return the boxes to measure; None is this host."""
    return [Plan(*size, driver) for driver in ("zero", "realistic") for size in SIZES] if box else [None]


def _measured(plan: Plan | None, options: argparse.Namespace) -> dict[str, Any] | None:
    arguments = [*DIALS, *(MOST if plan and plan != HUNG else ())]
    if options.hang and plan == HUNG:
        arguments += ["--hang", options.hang, *(["--heal", options.heal] if options.heal else []), *HUNG_LIMIT]
    values = measure(options.box, plan, [*arguments, *options.more])
    return values and {**values, "label": (plan or Plan(len(values["gpus"]), values["pids"])).label}


def _text(result: dict[str, Any]) -> str:
    """Return JSON with a line per measurement, so that a diff shows which one changed."""
    return json.dumps(result).replace('{"label"', '\n{"label"').replace('{"what"', '\n{"what"') + "\n"


# --- surroundings ------------------------------------------------------------------------------------------------
def look() -> dict[str, Any]:
    """Return the machine of the measurement, its load, and the versions of the programs."""
    versions = {name: version(name) for name in ("nvitop", "gpustat", "nvtop", "btop") if shutil.which(name)}
    return {
        "cpu": _cpu(),
        "cores": os.cpu_count(),
        "load": round(os.getloadavg()[0], 1),
        "linux": platform.release(),
        "python": platform.python_version(),
        "date": time.strftime("%Y-%m-%d"),
        "programs": {"gputop": __version__, **versions},
    }


def version(program: str) -> str:
    """Return the first number with points that a program prints for --version."""
    done = subprocess.run([program, "--version"], capture_output=True, text=True, check=False)
    found = re.search(r"\d+(\.\d+)+", done.stdout + done.stderr)
    return found[0] if found else ""


def _cpu() -> str:
    found = re.search(r"^model name\s*:\s*(.+)$", Path("/proc/cpuinfo").read_text(), re.MULTILINE)
    return found[1].strip() if found else platform.machine()


def _arguments(given: Sequence[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False
    )
    parser.add_argument("file", metavar="FILE", help="write all values to this file, as JSON")
    parser.add_argument(
        "--box", metavar="COMMAND", help="makes a box: COMMAND GPUS PROCESSES zero|realistic PROGRAM..."
    )
    parser.add_argument("--hang", metavar="COMMAND", help="shell command that makes a driver call hang")
    parser.add_argument("--heal", metavar="COMMAND", help="shell command that ends the hang")
    options, more = parser.parse_known_args(given)
    options.more = more
    return options


if __name__ == "__main__":
    sys.exit(main())
