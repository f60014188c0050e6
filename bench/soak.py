"""Soak test of gputop's growth: 100,000 frames at full speed, with processes that start and exit, in both programs.

    python bench/soak.py sampler --frames 100000
    python bench/soak.py screen --frames 100000

prints memory, open files and threads after every tenth of the frames. The box is simulated (`--box`); a frame counts as
a second. The screen is Textual's own without a terminal; the sampler's part ends with its line.
"""

import argparse
import asyncio
import os
import sys
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from gputop.lazy_imports import collect_seldom

LIVES_S = 40  # after which a process is replaced
SHIFT = 7


class Clock:
    """A clock that advances a second per frame."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        """Return the time."""
        return self.now


class Turnover:
    """The current pid of each simulated process: a new one every 40 s, each at its own moment."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock

    def now(self, pid: int) -> int:
        """Return the current pid of a simulated process. Those of init and the launchers stay the same."""
        generation = int(self._clock.now + pid % LIVES_S) // LIVES_S
        return pid if pid < 1000 else pid + 100_000 * (1 + generation % SHIFT)

    def before(self, pid: int) -> int | None:
        """Return the simulated pid; None if it has exited."""
        base = pid if pid < 100_000 else pid % 100_000
        return base if self.now(base) == pid else None


class TurnoverDriver:
    """A simulated driver whose processes start and exit."""

    def __init__(self, driver: Any, turnover: Turnover) -> None:
        self._driver, self._turnover = driver, turnover

    def __getattr__(self, name: str) -> Any:
        """Return a function with the current pids."""
        function = getattr(self._driver, name)
        if not callable(function) or not name.endswith(("RunningProcesses", "ProcessUtilization")):
            return function
        return lambda *given: [(self._turnover.now(pid), *rest) for pid, *rest in function(*given)]


class TurnoverProc:
    """A simulated /proc whose processes start and exit."""

    def __init__(self, proc: Any, turnover: Turnover) -> None:
        self._proc, self._turnover = proc, turnover

    def read(self, path: str) -> bytes:
        """Return the content of a file."""
        return bytes(self._proc.read(self._path(path)))

    def reread(self, path: str) -> bytes:
        """Return the content of a file."""
        return self.read(path)

    def forget(self, path: str) -> None:
        """Do nothing: no file is kept open."""

    def ticks(self) -> int:
        """Return the present clock tick."""
        return int(self._proc.ticks())

    def list(self, path: str) -> list[str]:
        """Return the names in a directory."""
        return list(self._proc.list(self._path(path)))

    def link(self, path: str) -> str:
        """Return the target of a symbolic link."""
        return str(self._proc.link(self._path(path)))

    def _path(self, path: str) -> str:
        pid, _, rest = path.partition("/")
        if not pid.isdecimal():
            return path
        base = self._turnover.before(int(pid))
        if base is None:
            raise FileNotFoundError(path)
        tail = rest.replace(f"task/{pid}/", f"task/{base}/")
        return f"{base}/{tail}"


def lines(box_name: str) -> Iterator[bytes]:
    """Return the lines of a sampler, as fast as it can make them."""
    from gputop.app.monitoring.judging import judge
    from gputop.core.monitor import Monitor
    from gputop.machine.nvml.driver import Driver
    from gputop.machine.proc.host import HostReader
    from gputop.machine.processes.reader import ProcessReader
    from gputop.machine.source import Limits, MachineSource
    from gputop.simulator import simulate
    from gputop.simulator.procfiles import HERTZ, PAGE
    from gputop.wire.encoder import encode

    clock = Clock()
    turnover = Turnover(clock)
    box = simulate(box_name, clock, lambda: 1_800_000_000.0, lambda _: None)
    proc = TurnoverProc(box.proc, turnover)
    source = MachineSource(
        Driver(TurnoverDriver(box.driver, turnover)),
        HostReader(proc, box.host),
        ProcessReader(proc, box.users.get, clock_ticks=HERTZ, page_bytes=PAGE),
        limits=Limits(patience_s=5.0),
        simulated=box.name,
        clock=clock,
        wall=lambda: 1_800_000_000.0 + clock.now,
    )
    source.open()
    monitor = Monitor(source, judge(is_once=False))
    while True:
        clock.now += 1.0
        yield encode(monitor.step())


def measured() -> str:
    """Return the memory, open files and threads of this process."""
    rollup = Path("/proc/self/smaps_rollup").read_text(encoding="ascii")
    pss = next(int(line.split()[1]) for line in rollup.splitlines() if line.startswith("Pss:"))
    return (
        f"PSS {pss / 1024:6.1f} MiB  files {len(os.listdir('/proc/self/fd')):3}  threads {threading.active_count():3}"
    )


def print_progress(done: int, frames: int) -> None:
    """Print the measurements after every tenth of the frames."""
    if done in (1, frames // 100) or done % max(1, frames // 10) == 0:
        print(f"{done:>8} frames  {measured()}", flush=True)


def sampler(box: str, frames: int) -> None:
    """Make frames."""
    collect_seldom()
    for done, _ in enumerate(lines(box), 1):
        print_progress(done, frames)
        if done == frames:
            return


class Hand:
    """A link on which the test delivers frames."""

    def open(self, receive: Any) -> None:
        """Store the receiver."""
        self.receive = receive

    def send(self, command: Any) -> None:
        """Do nothing."""

    def close(self) -> None:
        """Do nothing."""


async def screen(box: str, frames: int) -> None:
    """Show frames that another process makes."""
    from gputop.ui.app import GputopApp
    from gputop.ui.messages import NewsArrived
    from gputop.ui.options import ViewOptions
    from gputop.wire import codec

    maker = await asyncio.create_subprocess_exec(
        sys.executable, __file__, "lines", "--box", box, "--frames", str(frames), stdout=asyncio.subprocess.PIPE,
        limit=1024 * 1024,  # asyncio holds twice the maker's lead
    )  # fmt: skip
    made = maker.stdout or asyncio.StreamReader()
    app = GputopApp(Hand(), ViewOptions(theme="dark"))
    async with app.run_test(size=(200, 60)) as pilot:
        collect_seldom()
        for done in range(1, frames + 1):
            frame = codec.answer(await made.readline())
            app.post_message(NewsArrived(frame))  # type: ignore[arg-type]
            await pilot.pause(0)
            print_progress(done, frames)
    await maker.wait()


def main(arguments: Sequence[str]) -> None:
    """Run the chosen part."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("part", choices=("sampler", "screen", "lines"))
    parser.add_argument("--frames", type=int, default=100_000)
    parser.add_argument("--box", default="training")
    options = parser.parse_args(arguments)
    if options.part == "sampler":
        sampler(options.box, options.frames)
    elif options.part == "screen":
        asyncio.run(screen(options.box, options.frames))
    else:
        for done, line in enumerate(lines(options.box), 1):
            sys.stdout.buffer.write(line)
            if done == options.frames:
                sys.stdout.buffer.flush()
                return


if __name__ == "__main__":
    main(sys.argv[1:])
