"""Measurements of gputop against its peers, with the libnvidia-ml.so.1 that the loader finds.

    python bench/run.py [--label TEXT] [--json FILE] [--parts snapshot,screen,first,keys] [--programs gputop,nvitop]
                        [--gputop PATH] [--peer NAME=PATH ...] [--hang COMMAND --heal COMMAND] [--open KEYS]

Peers (nvitop, gpustat, nvtop, btop) are taken from PATH unless --peer names them; a missing peer is left out. The
tables are Markdown, on stdout. Needs an NVIDIA driver or a simulated one (LD_LIBRARY_PATH), msgspec and pyte.
docs/performance.md explains the numbers. It measures one box; bench/performance.py measures several.
"""

import argparse
import json
import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Sequence
from typing import Any, Final

from msgspec import to_builtins
from parts import PARTS, Box, Measured, Program

BARE: Final = (sys.executable, os.path.join(os.path.dirname(os.path.abspath(__file__)), "bare.py"))
PROGRAMS: Final = (
    Program("gputop", once=("snapshot", "--json"), screen=("--interval", "{interval:g}")),
    Program("nvitop", once=("-1",), screen=("--interval", "{interval:g}")),
    Program("gpustat", once=(), screen=None),
    Program("nvtop", once=("-s",), screen=("-d", "{tenths:.0f}")),
    Program("btop", once=None, screen=("--utf-force",)),
)


def main() -> int:
    """Measure the requested parts and print them."""
    options = _arguments()
    box = _look()
    if isinstance(box, str):
        print(f"bench: no driver answers: {box}. Is there a libnvidia-ml.so.1?", file=sys.stderr)
        return 3
    programs = _found(options)
    print(_heading(options.label, box))
    result: dict[str, Any] = {"label": options.label, "gpus": box.gpus, "driver": box.driver, "pids": len(box.pids)}
    result["tables"] = {}
    for part in options.parts:
        measured = PARTS[part](options, box, programs)
        print(f"\n### {measured.title}\n\n{_markdown(measured)}", flush=True)
        result[part] = to_builtins(measured.values)
        result["tables"][part] = {"title": measured.title, "rows": [measured.header, *measured.rows]}
    if options.json:
        with open(options.json, "w") as file:
            json.dump(result, file, indent=2)
    return 0


# --- surroundings ------------------------------------------------------------------------------------------------
def _look() -> Box | str:
    """Return the box to measure on, or the error."""
    done = subprocess.run([*BARE, "0"], capture_output=True, text=True, check=False)
    if done.returncode:
        return (done.stderr.splitlines() or [f"bench/bare.py ended with status {done.returncode}"])[-1]
    read = json.loads(done.stdout)
    names = tuple(str(gpu["nvmlDeviceGetName"]) for gpu in read["gpus"])
    return Box(gpus=names, driver=str(read["driver"][0]), pids=frozenset(use["pid"] for use in read["after"]["uses"]))


def _found(options: argparse.Namespace) -> list[Program]:
    named = dict(options.peer) | ({"gputop": options.gputop} if options.gputop else {})
    beside = os.path.join(os.path.dirname(sys.executable), "gputop")
    if os.access(beside, os.X_OK):
        named.setdefault("gputop", beside)
    found = [_program(p, named.get(p.name) or shutil.which(p.name) or "", options.interval) for p in PROGRAMS]
    return [program for program in found if program.path and program.name in options.programs]


def _program(row: Program, path: str, interval_s: float) -> Program:
    """Return the program with its path and its interval."""
    words = row.screen and tuple(word.format(interval=interval_s, tenths=interval_s * 10) for word in row.screen)
    return Program(row.name, row.once, words, path)


# --- text --------------------------------------------------------------------------------------------------------
def _heading(label: str, box: Box) -> str:
    kinds = ", ".join(f"{box.gpus.count(name)} x {name}" for name in dict.fromkeys(box.gpus))
    return (
        f"## {label or 'bench'}\n\n{kinds}; {len(box.pids)} processes; driver {box.driver}; "
        f"{os.cpu_count()} CPU cores, load {os.getloadavg()[0]:.1f}; Linux {platform.release()}, "
        f"Python {platform.python_version()}"
    )


def _markdown(measured: Measured) -> str:
    lines: list[Sequence[str]] = [measured.header, *measured.rows]
    widths = [max(len(line[n]) for line in lines) for n in range(len(measured.header))]
    lines.insert(1, ["-" * widths[0], *("-" * (width - 1) + ":" for width in widths[1:])])
    return "\n".join(_markdown_line(line, widths) for line in lines)


def _markdown_line(cells: Sequence[str], widths: Sequence[int]) -> str:
    first, *rest = (f"{cell:{'>' if n else '<'}{widths[n]}}" for n, cell in enumerate(cells))
    return "| " + " | ".join([first, *rest]) + " |"


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, usage=argparse.SUPPRESS
    )
    parser.add_argument("--label", default="", help="what this is measured on")
    parser.add_argument("--json", metavar="FILE", help="also write all values to this file")
    parser.add_argument("--parts", type=_parts, default=tuple(PARTS), help="of snapshot, screen, first, keys")
    parser.add_argument("--programs", type=_names, default=tuple(p.name for p in PROGRAMS), help="only these programs")
    parser.add_argument("--interval", type=float, default=1.0, metavar="S", help="between two frames (1); not of btop")
    parser.add_argument("--gputop", metavar="PATH", help="default: next to this Python, else on PATH")
    parser.add_argument("--peer", type=_peer, action="append", default=[], metavar="NAME=PATH")
    parser.add_argument("--rounds", type=int, default=15, help="runs of each snapshot (default 15)")
    parser.add_argument(
        "--once-limit", type=float, default=30.0, metavar="S", help="time limit of a snapshot (default 30)"
    )
    parser.add_argument("--warm-up", type=float, default=8.0, metavar="S", help="warm-up of a screen (default 8)")
    parser.add_argument(
        "--seconds", type=float, default=30.0, metavar="S", help="time to measure a screen (default 30)"
    )
    parser.add_argument("--first-rounds", type=int, default=5, help="runs of the first full frame (default 5)")
    parser.add_argument(
        "--first-limit", type=float, default=5.0, metavar="S", help="time limit of the first full frame (default 5)"
    )
    parser.add_argument("--presses", type=int, default=100, help="presses of a key (default 100)")
    parser.add_argument(
        "--open", default="", metavar="KEYS", help="keys to type first: ' k' opens gputop's signal dialog"
    )
    parser.add_argument(
        "--hang", metavar="COMMAND", help="shell command that makes a driver call hang; all but the screen again"
    )
    parser.add_argument("--heal", metavar="COMMAND", help="shell command that ends the hang")
    parser.set_defaults(bare=BARE)
    return parser.parse_args()


def _parts(text: str) -> tuple[str, ...]:
    parts = tuple(text.split(","))
    if not set(parts) <= set(PARTS):
        raise argparse.ArgumentTypeError(f"not of {', '.join(PARTS)}: {text}")
    return parts


def _names(text: str) -> tuple[str, ...]:
    return tuple(text.split(","))


def _peer(text: str) -> tuple[str, str]:
    name, _, path = text.partition("=")
    if not path or name not in {program.name for program in PROGRAMS}:
        raise argparse.ArgumentTypeError(f"not NAME=PATH with a known name: {text}")
    return name, path


if __name__ == "__main__":
    sys.exit(main())
