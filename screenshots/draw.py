"""The pictures of the README, drawn from the simulated boxes: the same picture each time.

python screenshots/draw.py            all of them
python screenshots/draw.py dying      those whose name holds a word
"""

import asyncio
import os
import re
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final, NamedTuple

from gputop.core.detection.judge import Judge
from gputop.core.detectors.registry import detectors, made
from gputop.core.mig.answers import MigBox
from gputop.core.model.sample import Frame
from gputop.core.monitor import Monitor
from gputop.core.protocol.command import Command, Explain, Inspect, ReadMig
from gputop.core.protocol.link import News
from gputop.core.query.selection import Selection
from gputop.core.recording.playback import Playing, Stretch
from gputop.machine.inspect.inspector import Inspector
from gputop.machine.nvml.driver import Driver
from gputop.machine.proc.host import HostReader
from gputop.machine.processes.reader import ProcessReader
from gputop.machine.source import Limits, MachineSource
from gputop.simulator import Box, simulate
from gputop.simulator.control import partitioning_of_box
from gputop.simulator.fleet import SimulatedFleet
from gputop.simulator.insight import explainer_of_box
from gputop.simulator.past import JudgeWithPast
from gputop.simulator.procfiles import HERTZ, PAGE
from gputop.ui.app import GputopApp
from gputop.ui.fleet_app import FleetApp
from gputop.ui.input.keymap import keymap
from gputop.ui.options import ViewOptions
from gputop.ui.render.layout import Density
from gputop.ui.screens.fleet.options import FleetOptions
from gputop.wire.tape.player import TapePlayer
from gputop.wire.tape.reader import Tape, open_tape

HERE: Final = Path(__file__).parent
A_TAPE: Final = HERE.parent / "tests" / "tapes" / "training.tape"
NOON: Final = 1_800_014_400.0
START: Final = 1000.0


class Picture(NamedTuple):
    """A picture: a box after ``seconds``, in a terminal of this size, after these keys.

    ``at_s``: the position in a recording of it; None: the box itself.
    """

    name: str
    box: str
    seconds: int
    size: tuple[int, int]
    keys: tuple[str, ...] = ()
    theme: str = "dark"
    density: Density = Density.AUTO
    at_s: float | None = None


def _typed(text: str) -> tuple[str, ...]:
    """Return the keys that type a text."""
    names = {":": "colon", " ": "space", "<": "less_than_sign"}
    return tuple(names.get(sign, sign) for sign in text)


PICTURES: Final = (
    Picture("training", "training", 300, (160, 48)),
    Picture("compact", "training", 120, (100, 26)),
    Picture("mig", "mig", 150, (120, 40)),
    Picture("trouble", "trouble", 60, (140, 42)),
    Picture("findings", "trouble", 60, (140, 42), ("F",)),
    Picture("why", "trouble", 60, (120, 36), ("F", "w")),
    Picture("replay", "trouble", 60, (120, 30), at_s=754.0),
    Picture("split", "mig", 60, (120, 40), ("p", "right", "right")),
    Picture("lost", "dying", 60, (120, 36)),
    Picture("workstation-light", "workstation", 150, (120, 34), theme="light"),
    Picture("details", "training", 120, (120, 40), ("i",)),
    Picture("help", "training", 120, (120, 40), ("f1",)),
    Picture("jobs", "training", 120, (120, 34), ("v", "v")),
    Picture("tree", "trouble", 60, (120, 32), ("t",), density=Density.COMPACT),
    Picture("process", "training", 120, (120, 44), ("down", "enter")),
    Picture("signal", "training", 120, (120, 40), ("down", "f9", "j")),
    Picture("filter", "training", 120, (120, 34), ("f4", *_typed("user:ann sm<97"))),
    Picture("setup", "training", 120, (120, 34), ("f2",)),
    Picture("fleet", "fleet", 0, (130, 36)),
)


class Clock:
    """A clock that is moved by hand; a hanging call of the simulated driver takes no time."""

    def __init__(self) -> None:
        self.now = START

    def __call__(self) -> float:
        """Return the monotonic time."""
        return self.now

    def wall(self) -> float:
        """Return the time of day."""
        return NOON + self.now - START


class Player:
    """A link to a box that does not change."""

    def __init__(self, box: Box) -> None:
        self._box = box

    def open(self, receive: Callable[[News], None]) -> None:
        """Store the receiver."""
        self.receive = receive

    def send(self, command: Command) -> None:
        """Answer questions about MIG layouts, processes and where they hang; ignore all other commands."""
        if isinstance(command, Inspect):
            inspector = Inspector(self._box.proc, self._box.users.get, clock_ticks=HERTZ, wall=lambda: NOON)
            self.receive(inspector.inspect(command))
        elif isinstance(command, Explain):
            explainer_of_box(self._box, lambda: NOON).explain(command, self.receive)
        elif isinstance(command, ReadMig):
            box = self._box
            gpus = partitioning_of_box(box.driver, box.proc, box.users.get).reader.all()
            self.receive(MigBox(id=command.id, gpus=gpus))

    def close(self) -> None:
        """Do nothing: there is nothing to close."""


def frames(picture: Picture) -> tuple[list[Frame], Box]:
    """Return a frame of the box per second, and the box in its last state."""
    clock = Clock()
    box = simulate(picture.box, clock, clock.wall, lambda _: None)
    source = MachineSource(
        Driver(box.driver),
        HostReader(box.proc, box.host),
        ProcessReader(box.proc, box.users.get, reports=box.reports, clock_ticks=HERTZ, page_bytes=PAGE),
        limits=Limits(patience_s=10.0),
        simulated=box.name,
        watches_events=False,
        clock=clock,
        wall=clock.wall,
    )
    source.open()
    judge = JudgeWithPast(Judge(made(detectors(), {})), picture.box, Selection())
    monitor = Monitor(source, judge)
    held = []
    for _ in range(picture.seconds):
        clock.now += 1.0
        held.append(monitor.step())
        judge.wait()
    return held, box


async def draw(picture: Picture) -> str:
    """Return the picture as SVG."""
    held, box = frames(picture)
    link = Player(box)
    player = None if picture.at_s is None else _player()
    options = ViewOptions(theme=picture.theme, density=picture.density, own_user="ann", player=player)
    app = GputopApp(link, options, clock=lambda: START)
    async with app.run_test(size=picture.size) as pilot:
        link.receive(held[0])
        await pilot.pause()
        for frame in held[1:-1]:
            app.view.history.remember(frame)
            app.view.tracks.remember(frame)
        link.receive(held[-1] if picture.at_s is None else Stretch(_playing(picture.at_s), shown=held[-1]))
        await pilot.pause()
        await pilot.press(*picture.keys)
        await pilot.pause()
        return _stable(app.export_screenshot(title=f"gputop · {picture.name}"))


async def draw_fleet(picture: Picture) -> str:
    """Return the picture of the simulated fleet as SVG."""
    source = SimulatedFleet(lambda: NOON)
    fleet = source.read()
    app = FleetApp(source, FleetOptions(keys=keymap("gputop"), theme=picture.theme))
    async with app.run_test(size=picture.size) as pilot:
        app.fleet_screen.show(fleet)
        await pilot.press(*picture.keys)
        await pilot.pause()
        return _stable(app.export_screenshot(title=f"gputop · {picture.name}"))


def _player() -> TapePlayer:
    """Return a player that never plays: the screen only shows its controls."""
    tape = open_tape(str(A_TAPE))
    if not isinstance(tape, Tape):
        raise SystemExit(tape.text)
    return TapePlayer(tape)


def _playing(at_s: float) -> Playing:
    return Playing(at_s=at_s, length_s=1800.0, number=int(at_s), frames=1800, is_playing=True)


def _stable(svg: str) -> str:
    """Replace the random part of the names in the picture."""
    return re.sub(r"terminal-\d+", "terminal", svg)


def main(words: list[str]) -> None:
    """Draw the pictures whose names contain one of the words; all if there is none."""
    os.environ["TZ"] = "UTC"  # the screen shows local time
    time.tzset()
    for picture in PICTURES:
        if not words or any(word in picture.name for word in words):
            path = HERE / f"{picture.name}.svg"
            drawn = draw_fleet(picture) if picture.box == "fleet" else draw(picture)
            path.write_text(asyncio.run(drawn) + "\n")
            print(path)


if __name__ == "__main__":
    main(sys.argv[1:])
