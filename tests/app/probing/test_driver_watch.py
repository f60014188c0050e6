"""What is read of the driver while workers run, with a driver that tells what it is told to."""

import os
import sys
from collections.abc import Mapping
from typing import Any

import pytest
from examples import NOW, gpu, process
from msgspec.structs import replace

from gputop.app.probing.devices import Device
from gputop.app.probing.driver_watch import DriverWatch
from gputop.app.probing.guard import Guard
from gputop.core.model.catalogue import (
    PCIE_GENERATION,
    PCIE_GENERATION_MAX,
    PCIE_REPLAYS,
    PCIE_WIDTH_MAX,
    POWER_AVERAGE,
    TEMPERATURE,
)
from gputop.core.model.metric import Metric, Missing
from gputop.core.model.sample import DriverInfo, Host, HostProcess, Sample
from gputop.core.probing.events import End, Start
from gputop.core.probing.limits import Ceiling
from gputop.core.probing.plan import PlannedTest, WorkerPlan
from gputop.core.probing.result import DeviceResult, TestStatus
from gputop.core.query.selection import Selection
from gputop.machine.nvml.driver import Driver
from gputop.machine.probe.child import Child
from gputop.machine.probe.runner import Limits, Task, WorkerJob
from gputop.simulator import running
from gputop.simulator.source import source_of_box

UUID = gpu().uuid
DEVICES = (Device(label="GPU 0", uuid=UUID, name="H", kind="cuda", index=0, gpu=UUID),)


class Told:
    """A source that says what it is told; slow readings only when they are hastened. ``values``: of GPU 0."""

    def __init__(self) -> None:
        source = source_of_box(running("training"), Selection(), 1.0, is_once=True)
        source.open()
        self._driver = source.driver
        self.values: dict[Metric[Any], Any] = {PCIE_REPLAYS: 0, PCIE_GENERATION_MAX: 5, PCIE_WIDTH_MAX: 16}
        self.slow: dict[Metric[Any], Any] = {}
        self.processes: tuple[HostProcess, ...] = ()
        self.seconds = 0.0

    @property
    def driver(self) -> Driver:
        return self._driver

    def refresh_layout(self, _: str) -> None:
        self.values |= self.slow

    def read(self) -> Sample:
        self.seconds += 1
        return Sample(
            time_s=NOW, interval_s=1, driver=DriverInfo(), host=Host(name="box"), processes=self.processes,
            gpus=(gpu(values=self.values, read_s=NOW + self.seconds),),
        )  # fmt: skip


class Play:
    """A worker that runs one test after another, looked at each second."""

    def __init__(self, *tests: str, gives_way: bool = True, ceiling: Ceiling | None = None) -> None:
        self.source = Told()
        before = self.source.read()
        self.guard = Guard(before, DEVICES, ceiling or Ceiling(), gives_way=gives_way)
        self.watch = DriverWatch(self.source, before, DEVICES, self.guard)
        plan = WorkerPlan(device="cuda", uuid=UUID, index=0, tests=tuple(PlannedTest(key, 1.0) for key in tests))
        task = Task(label="GPU 0", command=(sys.executable,), plan=plan, environment={})
        self.job = WorkerJob(task, Limits(), lambda: self.seconds)
        self.seconds = 10.0

    def look(self, times: int = 1) -> None:
        for _ in range(times):
            self.seconds += 1
            self.watch.update([self.job], self.seconds)

    def test(self, key: str, *, looks: int = 3, slow: Mapping[Metric[Any], Any] | None = None) -> None:
        self.job.record.take(Start(id=key))
        self.source.slow |= slow or {}
        self.look(looks)
        self.job.record.take(End(id=key, status="pass"))
        self.look()

    def start(self) -> None:
        """Have a process that ends when it is asked to."""
        self.job.child = Child([sys.executable, "-c", "import sys; sys.stdin.read()"], {}, b"")

    def end(self) -> None:
        """Wait for its end."""
        while not self.job.is_over:
            self.job.step()
        self.job.close()

    def result(self) -> DeviceResult:
        self.watch.finish()
        device = DeviceResult(label="GPU 0", uuid=UUID, name="H", kind="cuda", tests=self.job.record.results())
        return self.watch.completed(device)


def test_counters_are_read_anew_when_a_test_ends_though_they_are_slow() -> None:
    play = Play("a", "b", "c")
    play.test("a")
    play.test("b", slow={PCIE_REPLAYS: 90})
    play.test("c")
    found = play.result().tests[-1]

    assert (found.key, found.status) == ("counters", TestStatus.FAIL)
    assert found.findings[0].text == "pcie_replays rose by 90 during the probe: b +90"


def test_what_is_seen_under_the_soak_is_kept_and_judged_and_nothing_else() -> None:
    play = Play("a", "soak")
    play.source.values |= {POWER_AVERAGE: 100.0, TEMPERATURE: 40}
    play.test("a")
    play.source.values |= {POWER_AVERAGE: 690.0, TEMPERATURE: 70}
    play.test("soak", looks=9)
    found = play.result()
    soak = found.tests[1]

    assert len(found.samples["time_s"]) == 9
    assert set(found.samples["power_average_w"]) == {690.0}
    assert {figure.name: round(figure.value) for figure in soak.figures}["power_reached"] == 99
    assert found.tests[0].figures == ()


def test_the_link_is_read_while_it_carries_copies() -> None:
    play = Play("bandwidth.h2d")
    play.test("bandwidth.h2d", slow={PCIE_GENERATION: 3})
    found = play.result().tests[0]

    assert play.watch.links() == {UUID: (3, 16)}
    assert [(finding.code, finding.status) for finding in found.findings] == [("link.generation", TestStatus.WARN)]


def test_who_comes_while_a_gpu_is_tested_is_told_once() -> None:
    play = Play("a")
    play.source.processes = (process(4711), process(7, parent_pid=os.getpid()))
    play.test("a")

    assert list(play.guard.newcomers) == [UUID]
    assert [line.split(",")[0] for line in play.guard.newcomers[UUID]] == ["pid 4711"]


def test_the_probe_makes_way_for_who_comes_and_stays() -> None:
    play = Play("a", "b")
    play.source.processes = (process(4711),)
    play.look(2)
    short = play.job.is_over
    play.look()

    assert (short, play.job.is_over) == (False, True)
    assert [test.status for test in play.job.record.results()] == [TestStatus.INCONCLUSIVE] * 2
    assert "stopped for a new process: pid 4711, ann" in play.job.record.results()[0].reason


def test_who_looks_in_and_goes_stops_nothing_and_neither_does_anybody_where_it_is_forced() -> None:
    brief, forced = Play("a"), Play("a", gives_way=False)
    for _ in range(4):
        brief.source.processes = (process(4711),)
        brief.look(2)
        brief.source.processes = ()
        brief.look()
    forced.source.processes = (process(4711),)
    forced.look(9)

    assert (brief.job.is_over, forced.job.is_over) == (False, False)


@pytest.mark.parametrize(
    ("metric", "value", "code"), [(TEMPERATURE, 91, "guard.temperature"), (POWER_AVERAGE, 701.0, "guard.power")]
)
def test_a_gpu_above_its_ceiling_loses_its_load_and_fails(metric: Metric[Any], value: float, code: str) -> None:
    play = Play("a", "soak", "b", ceiling=Ceiling(temperature_c=90, power_w=700))
    play.source.values |= {TEMPERATURE: 90, POWER_AVERAGE: 700.0}
    play.test("a", looks=9)
    play.start()
    play.job.record.take(Start(id="soak"))
    play.look()
    calm = [test.status for test in play.job.record.results()]
    play.source.values |= {metric: value}
    play.look()
    play.end()
    found = play.job.record.results()

    assert calm == [TestStatus.PASS, TestStatus.ERROR]  # the one that runs has not ended
    assert [test.status for test in found] == [TestStatus.PASS, TestStatus.FAIL, TestStatus.SKIP]
    assert [finding.code for finding in found[1].findings] == [code]


def test_a_ceiling_that_cannot_be_kept_any_more_ends_it_as_an_error() -> None:
    play = Play("a", "b", ceiling=Ceiling(temperature_c=90))
    play.source.values |= {TEMPERATURE: 60}
    play.start()
    play.job.record.take(Start(id="a"))
    play.look()
    play.source.values |= {TEMPERATURE: Missing.HUNG}
    play.look(2)
    brief = play.job.is_over
    play.look()
    play.end()

    assert not brief
    assert [test.status for test in play.job.record.results()] == [TestStatus.ERROR, TestStatus.SKIP]
    assert "cannot enforce" in play.job.record.results()[0].reason


def test_temperature_and_power_are_told_while_it_runs() -> None:
    play = Play("a")
    play.source.values |= {POWER_AVERAGE: 688.6, TEMPERATURE: 71}
    before = play.watch.heat(UUID)
    play.test("a")

    assert (before, play.watch.heat(UUID), play.watch.heat("GPU-other")) == ("60°C 500W", "71°C 689W", "")


def test_a_gpu_that_is_lost_meanwhile_has_its_tests_and_no_counters() -> None:
    play = Play("a")
    play.test("a")
    before = play.result()
    empty = DeviceResult(label="x", uuid="GPU-other", name="H", kind="cuda", tests=before.tests[:1])

    assert [test.key for test in play.watch.completed(empty).tests] == ["a"]
    assert play.watch.completed(replace(empty, tests=())).tests == ()
