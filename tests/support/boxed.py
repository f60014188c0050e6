"""The screen on a simulated box: keys change its processes through the real control, and the next frame shows it."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

from app_driver import MIDDLE, Clock, FakeLink, Stage
from msgspec.structs import replace
from simulated import WALL_S, Time, box

from gputop.core.mig.answers import MigBox
from gputop.core.model.finding import Finding
from gputop.core.model.sample import Frame, HostProcess
from gputop.core.monitor import Monitor
from gputop.core.protocol.command import Change, Command, Inspect, ReadMig, ReadStatus
from gputop.machine.nvml.driver import Driver
from gputop.machine.proc.host import HostReader
from gputop.machine.processes.reader import ProcessReader
from gputop.machine.source import Limits, MachineSource
from gputop.simulator.control import control_of_box, partitioning_of_box
from gputop.simulator.procfiles import HERTZ, PAGE
from gputop.simulator.readers import inspector_of_box, process_status_of_box
from gputop.ui.app import GputopApp
from gputop.ui.options import ViewOptions
from gputop.ui.state.signal_targets import all_processes


class BoxLink(FakeLink):
    """Answers commands as the sampler of a simulated box does, at once."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.time = Time()
        self._box = made = box(name, self.time)
        self._control = control_of_box(made)
        source = MachineSource(
            Driver(made.driver),
            HostReader(made.proc, made.host),
            ProcessReader(made.proc, made.users.get, clock_ticks=HERTZ, page_bytes=PAGE),
            limits=Limits(patience_s=30.0),
            simulated=name,
            watches_events=False,
            clock=lambda: self.time.now,
            wall=lambda: WALL_S + self.time.now - 5000.0,
        )
        source.open()
        self._monitor = Monitor(source)

    def send(self, command: Command) -> None:
        super().send(command)
        assert self.receive is not None
        if isinstance(command, Change):
            self.receive(self._control.execute(command))
        elif isinstance(command, ReadStatus):
            self.receive(process_status_of_box(self._box).read(command))
        elif isinstance(command, ReadMig):
            partitioning = partitioning_of_box(self._box.driver, self._box.proc, self._box.users.get)
            self.receive(MigBox(id=command.id, gpus=partitioning.reader.all()))
        elif isinstance(command, Inspect):
            self.receive(inspector_of_box(self._box).inspect(command))

    def frame(self) -> Frame:
        """Return the frame of the next second."""
        self.time.now += 1.0
        return self._monitor.step()


class BoxStage(Stage):
    """A running screen on a simulated box. ``findings``: of every frame."""

    link: BoxLink
    findings: Sequence[Finding] = ()

    async def tick(self) -> Frame:
        """Deliver the frame of the next second."""
        self.clock.now += 1.0
        frame = replace(self.link.frame(), findings=tuple(self.findings))
        await self.deliver(frame)
        return frame

    def process(self, pid: int) -> HostProcess:
        """Return a process of the frame that is shown."""
        assert self.app.view.frame is not None
        return next(one for one in all_processes(self.app.view.frame).values() if one.pid == pid)

    async def running(self, *pids: int) -> list[int]:
        """Return those of these processes that still run when all lists of the driver have been read again."""
        await self.tick()
        frame = await self.tick()
        running = {one.pid for one in all_processes(frame).values()}
        return [pid for pid in pids if pid in running]

    async def select(self, pid: int) -> None:
        """Put the cursor on a process, as a click does."""
        assert self.app.main.processes.go_to(self.process(pid).id)
        await self.pilot.pause()


@asynccontextmanager
async def boxed(name: str, size: tuple[int, int] = MIDDLE, **options: Any) -> AsyncIterator[BoxStage]:
    link, clock = BoxLink(name), Clock()
    app = GputopApp(link, ViewOptions(**{"theme": "dark", "own_user": "root", **options}), clock)
    async with app.run_test(size=size) as pilot:
        stage = BoxStage(app, link, clock, pilot)
        await pilot.pause()
        await stage.tick()
        yield stage
