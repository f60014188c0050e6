"""The screen on a link that a test plays, with a clock that a test moves."""

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Any

from textual.pilot import Pilot
from textual.screen import Screen

from gputop.core.protocol.command import Command, ProcessChange, ReadStatus
from gputop.core.protocol.link import Down, News
from gputop.core.protocol.process_status import ProcessStatus, ProcessStatuses
from gputop.ui.app import GputopApp
from gputop.ui.options import ViewOptions
from gputop.ui.render.line import Line
from gputop.ui.screens.dialogs.dialog import Dialog
from gputop.ui.screens.dialogs.modal import KeyedScreen

WIDE, MIDDLE, SMALL = (200, 60), (120, 40), (80, 24)


class FakeLink:
    """Delivers the news of the test, and keeps the commands that were sent."""

    def __init__(self) -> None:
        self.receive: Callable[[News], None] | None = None
        self.sent: list[Command] = []
        self.is_closed = False

    def open(self, receive: Callable[[News], None]) -> None:
        self.receive = receive

    def send(self, command: Command) -> None:
        self.sent.append(command)

    def close(self) -> None:
        self.is_closed = True


class Clock:
    """Seconds that only a test moves."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


class Stage:
    """A running screen, with the actions of a test."""

    def __init__(self, app: GputopApp, link: FakeLink, clock: Clock, pilot: Pilot[Down]) -> None:
        self.app, self.link, self.clock, self.pilot = app, link, clock, pilot

    async def deliver(self, *news: News) -> None:
        for each in news:
            assert self.link.receive is not None
            self.link.receive(each)
            await self.pilot.pause()

    async def press(self, *keys: str) -> None:
        """Press keys one after the other, each when what the one before brought up listens."""
        for key in keys:
            await self.pilot.press(key)
            await self.pilot.pause()
            screen = self.app.screen
            while isinstance(screen, Dialog) and not screen.is_listening:
                await self.pilot.pause()

    @property
    def changes(self) -> list[ProcessChange]:
        """What was asked of the sampler but questions."""
        return [one for one in self.link.sent if isinstance(one, ProcessChange)]

    async def answer(self, *living: int, **told: Any) -> None:
        """Answer the last question who runs; ``told``: of those that do."""
        asked = [one for one in self.link.sent if isinstance(one, ReadStatus)][-1]
        seen = [
            ProcessStatus(
                pid=one.pid,
                start_ticks=one.start_ticks,
                is_running=one.pid in living,
                **(told if one.pid in living else {}),
            )
            for one in asked.targets
        ]
        await self.deliver(ProcessStatuses(id=asked.id, statuses=tuple(seen)))

    async def age(self, seconds: float) -> None:
        self.clock.now += seconds
        self.app.check_age()
        await self.pilot.pause()

    @property
    def messages(self) -> list[str]:
        """All messages so far, the first one first."""
        return [said.text for said in reversed(self.app.messages.past)]

    @property
    def header(self) -> str:
        return text_of(self.app.main.header.lines)

    @property
    def gpus(self) -> str:
        return text_of(self.app.main.gpus.lines)

    @property
    def host(self) -> str:
        return text_of(self.app.main.host.lines)

    @property
    def footer(self) -> str:
        return text_of(self.app.main.footer.lines)

    @property
    def processes(self) -> list[str]:
        return [text_of([line]) for line in self.app.main.processes.lines]

    @property
    def cursor(self) -> str | None:
        """The line under the cursor, if it is in the window."""
        marked = [line for line in self.app.main.processes.lines if line.base == "cursor"]
        return text_of(marked) if marked else None


def text_of(lines: Sequence[Line]) -> str:
    return "\n".join("".join(text for text, _ in line.spans) for line in lines)


def text_on(screen: Screen[Any]) -> str:
    """Return what a page or dialog shows: its title, its field, the part of its page that is in view, its keys."""
    assert isinstance(screen, KeyedScreen)
    field = [] if screen.field is None else [screen.field.value]
    lines = screen.body.lines[screen.top : screen.top + max(1, screen.frame.size.height - len(field))]
    return "\n".join([screen.title_line(), *field, text_of(lines), screen.keys_line()])


@asynccontextmanager
async def staged(*news: News, size: tuple[int, int] = MIDDLE, **options: Any) -> AsyncIterator[Stage]:
    link, clock = FakeLink(), Clock()
    app = GputopApp(link, ViewOptions(**{"theme": "dark", **options}), clock)
    async with app.run_test(size=size) as pilot:
        stage = Stage(app, link, clock, pilot)
        await pilot.pause()
        await stage.deliver(*news)
        yield stage
