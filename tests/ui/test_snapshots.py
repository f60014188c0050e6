"""What the screen looks like: compared with SVGs that a person has looked at."""

from collections.abc import Callable, Sequence
from math import sin
from typing import Any

import pytest
from app_driver import MIDDLE, SMALL, WIDE, FakeLink
from examples import GIB, NOW, frame, gpu, process
from msgspec.structs import replace
from textual.pilot import Pilot

from gputop.core.model.catalogue import (
    CLOCK_MEMORY,
    CLOCK_SM,
    EVENT_REASONS,
    GPU_UTILIZATION,
    MEMORY_USED,
    NVLINK_RX,
    NVLINK_TX,
    PCIE_RX,
    PCIE_TX,
    POWER_AVERAGE,
    PSTATE,
    SM_ACTIVE,
    TEMPERATURE,
)
from gputop.core.model.metric import Metric
from gputop.core.model.sample import ComputeInstance, DriverInfo, Frame, Gpu, GpuInstance, GpuState, Presence
from gputop.core.protocol.link import Down, News
from gputop.ui.app import GputopApp
from gputop.ui.options import ViewOptions

Compare = Callable[..., bool]


def busy(index: int, second: int, **fields: Any) -> Gpu:
    load = round(70 + 28 * sin(second / 6 + index))
    reasons = ("hardware thermal",) if index == 1 else ("power cap",) if load > 95 else ()
    values: dict[Metric[Any], Any] = {
        GPU_UTILIZATION: load, MEMORY_USED: (8 + 9 * index % 70) * GIB, TEMPERATURE: 40 + load // 2 + 3 * (index == 1),
        POWER_AVERAGE: 80.0 + 6 * load, SM_ACTIVE: load * 0.8, CLOCK_SM: 1_980_000_000 - load * 1_000_000,
        CLOCK_MEMORY: 2_619_000_000, PSTATE: 0, EVENT_REASONS: reasons, PCIE_RX: load * 5e7, PCIE_TX: load * 1e6,
        NVLINK_RX: load * 2e9, NVLINK_TX: load * 1.9e9,
    }  # fmt: skip
    return gpu(index, values, **fields)


def moving(gpus: int, *, seconds: int = 100) -> list[Frame]:
    jobs = [
        process(20_000 + n, n % gpus, cpu_percent=n * 37 % 400 * 1.0, user=("ann", "bob", "eve")[n % 3])
        for n in range(40)
    ]
    jobs[3] = replace(jobs[3], presence=Presence.GONE, command="")
    jobs[6] = replace(jobs[6], command="训练 --批量 16 模型")
    simulated = DriverInfo(version="570.124.06", cuda_version="12.8", simulated="dgx-h100")
    base = frame(gpus, tuple(jobs), driver=simulated)
    return [replace(base, gpus=tuple(busy(n, second) for n in range(gpus))) for second in range(seconds)]


def split(index: int) -> Gpu:
    instances = tuple(
        GpuInstance(
            id=n,
            profile="1g.10gb" if n < 5 else "2g.20gb",
            metrics={"memory_total_bytes": 10 * GIB, "memory_used_bytes": n * GIB, "sm_active_percent": 12.0 * n},
            compute_instances=(ComputeInstance(id=0, uuid=f"MIG-{n}", name="1c"),),
        )
        for n in (1, 2, 3, 5, 6)
    )
    return gpu(index, instances=instances)


def lost(of: Frame) -> Frame:
    gone = gpu(2, metrics={}, missing={}, state=GpuState.LOST, read_s=NOW - 61)
    hung = gpu(5, metrics={}, missing={}, state=GpuState.HUNG, read_s=NOW - 5)
    return replace(of, gpus=(*of.gpus[:2], gone, *of.gpus[3:5], hung, *of.gpus[6:]))


@pytest.fixture
def looks(snap_compare: Compare) -> Callable[..., bool]:
    """Fill the history, play news to the screen, press keys, and compare."""

    def compare(
        before: Sequence[Frame], news: Sequence[News], size: tuple[int, int], keys: Sequence[str] = (), **options: Any
    ) -> bool:
        link = FakeLink()
        app = GputopApp(link, ViewOptions(**{"theme": "dark", "own_user": "ann", **options}), clock=lambda: 100.0)

        async def play(pilot: Pilot[Down]) -> None:
            await pilot.pause()
            for ago, early in zip(range(len(before), 0, -1), before, strict=True):
                app.view.history.remember(replace(early, time_s=early.time_s - ago))
            for each in news:
                assert link.receive is not None
                link.receive(each)
                await pilot.pause()
            await pilot.press(*keys)
            await pilot.pause()

        return snap_compare(app, terminal_size=size, run_before=play)

    return compare


@pytest.mark.parametrize(
    ("gpus", "size"),
    [(1, SMALL), (8, SMALL), (16, SMALL), (8, MIDDLE), (16, MIDDLE), (1, WIDE), (8, WIDE), (16, WIDE)],
)
def test_as_many_gpus_as_fit(looks: Callable[..., bool], gpus: int, size: tuple[int, int]) -> None:
    frames = moving(gpus)

    assert looks(frames[:-1], frames[-1:], size, ("down", "down"))


def test_gpu_instances(looks: Callable[..., bool]) -> None:
    assert looks([], [replace(frame(2), gpus=(split(0), busy(1, 0)))], MIDDLE)


def test_gpus_that_do_not_answer(looks: Callable[..., bool]) -> None:
    frames = moving(8)

    assert looks(frames[:-1], [frames[-1], lost(frames[-1])], MIDDLE)


def test_the_sampler_down(looks: Callable[..., bool]) -> None:
    frames = moving(8)

    assert looks(frames[:-1], [frames[-1], Down("killed by signal 9", 5.0)], MIDDLE)


def test_monochrome(looks: Callable[..., bool]) -> None:
    assert looks([], moving(8)[-1:], SMALL, ("down",), theme="monochrome")


def test_plain_ascii(looks: Callable[..., bool]) -> None:
    frames = moving(2)

    assert looks(frames[:-1], frames[-1:], SMALL, is_ascii=True)


def seconds_apart(frames: Sequence[Frame]) -> list[Frame]:
    return [replace(each, time_s=each.time_s - len(frames) + n) for n, each in enumerate(frames)]


@pytest.mark.parametrize(
    ("size", "keys"),
    [(SMALL, ("3", "b", "left")), (MIDDLE, ("b", "tab", "1", "2")), (SMALL, ("i",)), (MIDDLE, ("i",)), (SMALL, ("3",))],
)
def test_one_gpu_over_time(looks: Callable[..., bool], size: tuple[int, int], keys: tuple[str, ...]) -> None:
    assert looks([], seconds_apart(moving(8)), size, keys)
