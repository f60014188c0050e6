"""Cost of gputop on other hosts: the first frame, the bytes of the line, the CPU time of this end.

    python bench/remote.py [--seconds S] [--rounds N] HOST [ARGUMENT ...]

HOST is what follows `gputop --host`: a name, or several (node[01-20]) for the page of hosts. The arguments are those
of gputop, such as --demo. ssh must not need to ask. The table is Markdown. docs/performance.md explains it.
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from typing import Final

import processes
from msgspec import Struct
from screen import first_frame_s
from terminal import Terminal

_GPUTOP: Final = (sys.executable, "-m", "gputop")
_LIMIT_S: Final = 10.0


class Cost(Struct, frozen=True):
    """The cost of a second: CPU time in percent of a core, bytes that ssh reads."""

    screen_percent: float
    ssh_percent: float
    bytes_per_s: float


def main() -> int:
    """Measure and print."""
    options = _arguments()
    command = (*_GPUTOP, "--host", options.host, *options.arguments)
    first = _first_ms(command, options.rounds) if "," not in options.host and "[" not in options.host else ""
    cost = measured(command, options.warm_up, options.seconds)
    print("| first frame, ms | bytes/s | CPU % of a core: gputop | ssh |")
    print("| --- | ---: | ---: | ---: |")
    print(f"| {first} | {cost.bytes_per_s:,.0f} | {cost.screen_percent:.2f} | {cost.ssh_percent:.2f} |")
    return 0


def measured(command: Sequence[str], warm_up_s: float, seconds: float) -> Cost:
    """Run a screen, and return what a second of it costs."""
    terminal = Terminal(command)
    try:
        terminal.run(warm_up_s)
        before = _used(terminal.pid)
        terminal.run(seconds)
        after = _used(terminal.pid)
    finally:
        terminal.close()
    screen_s, ssh_s, read = (end - begin for begin, end in zip(before, after, strict=True))
    return Cost(screen_s / seconds * 100, ssh_s / seconds * 100, read / seconds)


def _used(pid: int) -> tuple[float, float, int]:
    """Return the CPU time of the screen and of its ssh, and the bytes that ssh has read."""
    screen, *others = processes.family(pid)
    return screen.cpu_s, sum(one.cpu_s for one in others), sum(_read_bytes(one.pid) for one in others)


def _read_bytes(pid: int) -> int:
    """Return the bytes that a process has read: ssh reads the line, and the few words of its input."""
    lines = Path(f"/proc/{pid}/io").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("rchar:"))


def _first_ms(command: Sequence[str], rounds: int) -> str:
    times = sorted(time_s * 1000 for _ in range(rounds) if (time_s := first_frame_s(command, (), _LIMIT_S)) is not None)
    return f"{median(times):.0f} ({times[0]:.0f} to {times[-1]:.0f})" if times else "never"


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("host", help="as after gputop --host")
    parser.add_argument("arguments", nargs=argparse.REMAINDER, help="of gputop")
    parser.add_argument("--rounds", type=int, default=5, help="runs of the first frame (default 5)")
    parser.add_argument("--warm-up", type=float, default=15.0, metavar="S", help="before the measurement (default 15)")
    parser.add_argument("--seconds", type=float, default=30.0, metavar="S", help="time to measure (default 30)")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
