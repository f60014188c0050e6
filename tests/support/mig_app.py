"""The screen on a simulated box that answers questions about MIG and carries plans out, at once and in this process."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from app_driver import MIDDLE, Clock, FakeLink, Stage, text_on
from examples import GIB, NOW, frame, gpu, process
from mig_boards import H100, board
from simulated import box

from gputop.core.mig.answers import MigBox, MigProgress
from gputop.core.mig.model import Holders, MigGpu
from gputop.core.model.catalogue import (
    DRAM_ACTIVE,
    GRAPHICS_ACTIVE,
    MEMORY_TOTAL,
    MEMORY_USED,
    SM_ACTIVE,
    TENSOR_ACTIVE,
)
from gputop.core.model.owner import Owner, SlurmStep
from gputop.core.model.sample import Frame, Gpu, GpuInstance, MetricValue
from gputop.core.protocol.command import ChangeMig, Command, ReadMig
from gputop.core.protocol.outcome import Outcome
from gputop.simulator.control import partitioning_of_box
from gputop.ui.app import GputopApp
from gputop.ui.options import ViewOptions
from gputop.ui.screens.dialogs.dialog import Dialog
from gputop.ui.screens.mig.page import MigScreen

_CHANGING = ("nvmlDeviceCreateGpuInstanceWithPlacement", "nvmlGpuInstanceCreateComputeInstanceWithPlacement")


class Faulty:
    """A driver that creates nothing any more after so many instances."""

    def __init__(self, functions: Any, good: int) -> None:
        self.NVMLError = functions.NVMLError
        self._functions = functions
        self.good = good

    def __getattr__(self, name: str) -> Any:
        function = getattr(self._functions, name)
        return (lambda *args: self._create(function, *args)) if name in _CHANGING else function

    def _create(self, function: Any, *args: Any) -> Any:
        self.good -= 1
        if self.good == -1:
            raise self.NVMLError(999)
        return function(*args)


class BoxLink(FakeLink):
    """Answers as a sampler on the simulated box does. ``waits``: changes are held until `carry_out`."""

    def __init__(self, good: int = 1000, warnings: tuple[str, ...] = (), *, waits: bool = False) -> None:
        super().__init__()
        made = box("mig")
        driver = Faulty(made.driver, good)
        self.held = partitioning_of_box(driver, made.proc, made.users.get)
        self.warnings = warnings
        self.waits = waits

    @property
    def gpus(self) -> tuple[MigGpu, ...]:
        return self.held.reader.all()

    @property
    def mig_changes(self) -> list[ChangeMig]:
        return [one for one in self.sent if isinstance(one, ChangeMig)]

    def send(self, command: Command) -> None:
        super().send(command)
        if isinstance(command, ReadMig):
            self.answer(command)
        elif isinstance(command, ChangeMig) and not self.waits:
            self.carry_out(command)

    def answer(self, question: ReadMig) -> None:
        """Report the layout of the GPUs."""
        self.tell(MigBox(id=question.id, gpus=self.gpus, warnings=self.warnings))

    def carry_out(self, change: ChangeMig) -> None:
        """Carry out the requested change."""
        plan = change.plans[0]

        def step(done: int, total: int, text: str, is_back: bool) -> None:  # noqa: FBT001 - of the protocol
            told = MigProgress(id=change.id, index=plan.index, done=done, total=total, text=text, is_going_back=is_back)
            self.tell(told)

        result = self.held.partitioner.change(plan, step)
        self.tell(Outcome(id=change.id, what="MIG of GPU", results=(result,)))

    def tell(self, news: Any) -> None:
        assert self.receive is not None
        self.receive(news)


class SlowLink(BoxLink):
    """Answers questions only when a test wants it to."""

    def answer(self, question: ReadMig) -> None:
        """Keep the question."""

    def answer_all(self) -> None:
        """Answer the questions so far."""
        for one in self.sent:
            if isinstance(one, ReadMig):
                super().answer(one)


class OffLink(BoxLink):
    """Answers as the sampler of a GPU whose MIG mode is off, with these holders; with ``is_slow`` never of them."""

    def __init__(self, holders: Holders | None, *, is_slow: bool = False) -> None:
        super().__init__()
        self._holders = holders
        self._is_slow = is_slow

    @property
    def gpus(self) -> tuple[MigGpu, ...]:
        return (board(H100, is_on=False, is_on_next=False),)

    def answer(self, question: ReadMig) -> None:
        if question.holders_of and self._is_slow:
            return
        holders = self._holders if question.holders_of == self.gpus[0].uuid else None
        self.tell(MigBox(id=question.id, gpus=self.gpus, holders=holders))


def split_frame(gpus: tuple[MigGpu, ...]) -> Frame:
    """Return a frame with these GPUs: the instances of the last one tell what they do, those of the others do not."""
    pids = [user.pid for one in gpus for user in one.everyone]
    owner = Owner(slurm=SlurmStep(job="84213"), trusted=("slurm",))
    return frame(tuple(_gpu(one) for one in gpus), tuple(process(pid, 0, owner=owner) for pid in pids), time_s=NOW)


def _gpu(one: MigGpu) -> Gpu:
    activity: dict[str, MetricValue] = {
        GRAPHICS_ACTIVE.key: 91.0,
        SM_ACTIVE.key: 73.0,
        TENSOR_ACTIVE.key: 43.0,
        DRAM_ACTIVE.key: 57.0,
    }
    memory: dict[str, MetricValue] = {MEMORY_USED.key: 4 * GIB, MEMORY_TOTAL.key: 9 * GIB}
    instances = tuple(
        GpuInstance(
            id=each.id,
            profile=each.profile,
            metrics=memory | (activity if one.index == 2 else {}),
        )
        for each in one.instances
    )
    return gpu(one.index, uuid=one.uuid, name=one.name, instances=instances)


class MigStage(Stage):
    """A running screen on the box, and what a test sees of MIG on it."""

    box: BoxLink

    @property
    def mig(self) -> MigScreen:
        """The MIG page, wherever it is."""
        return next(screen for screen in self.app.screen_stack if isinstance(screen, MigScreen))

    @property
    def page(self) -> str:
        screen = self.app.screen
        assert isinstance(screen, MigScreen)
        return text_on(screen)

    @property
    def dialog(self) -> str:
        screen = self.app.screen
        assert isinstance(screen, Dialog)
        return text_on(screen)


@asynccontextmanager
async def mig_staged(
    link: BoxLink | None = None, size: tuple[int, int] = MIDDLE, **options: Any
) -> AsyncIterator[MigStage]:
    link, clock = link or BoxLink(), Clock()
    app = GputopApp(link, ViewOptions(**{"theme": "dark", **options}), clock)
    async with app.run_test(size=size) as pilot:
        stage = MigStage(app, link, clock, pilot)
        stage.box = link
        await pilot.pause()
        await stage.deliver(split_frame(link.gpus))
        yield stage
