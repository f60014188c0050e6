"""Draws the pictures of the README from the simulated boxes: the same picture each time.

python screenshots/draw.py            all of them
python screenshots/draw.py dying      those whose name holds a word
"""

import asyncio
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Final, NamedTuple

from gputop.core.command import Command
from gputop.core.link import News
from gputop.core.monitor import Monitor
from gputop.core.sample import Frame
from gputop.machine.host import HostReader
from gputop.machine.nvml import Driver
from gputop.machine.processes import ProcessReader
from gputop.machine.simulator import simulate
from gputop.machine.source import Limits, MachineSource
from gputop.ui.app import GputopApp
from gputop.ui.options import Density, ViewOptions

HERE: Final = Path(__file__).parent
NOON: Final = 1_800_014_400.0
START: Final = 1000.0


class Picture(NamedTuple):
    """What is drawn: a box after so many seconds, in a terminal of this size, after these keys."""

    name: str
    box: str
    seconds: int
    size: tuple[int, int]
    keys: tuple[str, ...] = ()
    theme: str = "dark"
    density: Density = Density.AUTO


PICTURES: Final = (
    Picture("training", "training", 300, (160, 48)),
    Picture("compact", "training", 120, (100, 26)),
    Picture("mig", "mig", 150, (120, 40)),
    Picture("lost", "dying", 60, (120, 36)),
    Picture("workstation-light", "workstation", 150, (120, 34), theme="light"),
    Picture("details", "training", 120, (120, 40), ("i",)),
    Picture("help", "training", 120, (120, 40), ("f1",)),
)


class Clock:
    """Seconds that pass when they are told to; a call of the simulated driver that hangs takes none."""

    def __init__(self) -> None:
        self.now = START

    def __call__(self) -> float:
        """Return the monotonic time."""
        return self.now

    def wall(self) -> float:
        """Return the time of day that belongs to it."""
        return NOON + self.now - START


class Player:
    """A link that plays frames made beforehand."""

    def __init__(self, frames: list[Frame]) -> None:
        self._frames = frames

    def open(self, receive: Callable[[News], None]) -> None:
        """Play all but the last; the last is played once the screen has its size."""
        self.receive = receive

    def send(self, _: Command) -> None:
        """Ignore a command."""

    def close(self) -> None:
        """Have nothing to close."""


def frames(picture: Picture) -> list[Frame]:
    """Return a frame a second of the box."""
    clock = Clock()
    box = simulate(picture.box, clock, clock.wall, lambda _: None)
    source = MachineSource(
        Driver(box.driver),
        HostReader(box.proc, box.host),
        ProcessReader(box.proc, box.users.get),
        limits=Limits(patience_s=10.0),
        simulated=box.name,
        watches_events=False,
        clock=clock,
        wall=clock.wall,
    )
    source.open()
    monitor = Monitor(source)
    made = []
    for _ in range(picture.seconds):
        clock.now += 1.0
        made.append(monitor.step())
    return made


async def draw(picture: Picture) -> str:
    """Return the picture as SVG."""
    held = frames(picture)
    link = Player(held)
    app = GputopApp(
        link, ViewOptions(theme=picture.theme, density=picture.density, own_user="ann"), clock=lambda: START
    )
    async with app.run_test(size=picture.size) as pilot:
        link.receive(held[0])
        await pilot.pause()
        for frame in held[1:-1]:
            app.view.history.remember(frame)
        link.receive(held[-1])
        await pilot.pause()
        await pilot.press(*picture.keys)
        await pilot.pause()
        return _stable(app.export_screenshot(title=f"gputop · {picture.name}"))


def _stable(svg: str) -> str:
    """Replace the random part of the names in the picture."""
    return re.sub(r"terminal-\d+", "terminal", svg)


def main(words: list[str]) -> None:
    """Draw the pictures whose names hold one of the words; all if there is none."""
    for picture in PICTURES:
        if not words or any(word in picture.name for word in words):
            path = HERE / f"{picture.name}.svg"
            path.write_text(asyncio.run(draw(picture)) + "\n")
            print(path)


if __name__ == "__main__":
    main(sys.argv[1:])
