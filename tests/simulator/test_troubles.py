"""What goes wrong on a simulated box by itself: processes end, memory stays, links are narrow, Xids come."""

from typing import Any

from msgspec.structs import replace
from simulated import WALL_S, Time

from gputop.machine.processes.progress import Reporter
from gputop.simulator.boxes import training
from gputop.simulator.clock import BoxClock
from gputop.simulator.curve import Curve
from gputop.simulator.driver import Driver
from gputop.simulator.plan import BoxPlan, Fault, GpuPlan, Outage, Steps
from gputop.simulator.proc import SimulatedProc
from gputop.simulator.progress import SimulatedReports
from gputop.simulator.script import Script

RANK, LAUNCHER = 48_276, 48_211
MIB = 1024**2


class Stage:
    """A box, a hundred seconds before its simulation begins."""

    def __init__(self, plan: BoxPlan) -> None:
        self.time = Time()
        self.clock = BoxClock(plan.uptime_s, lambda: self.time.now, lambda: WALL_S, self.time.sleep, 100.0)
        self.proc = SimulatedProc(plan, self.clock)
        self.driver = Driver("training", plan, self.clock)
        self.driver.nvmlInit()
        self.script = Script(plan, self.proc, self.driver, self.clock)

    def pids(self) -> list[int]:
        gpu = self.driver.nvmlDeviceGetHandleByIndex(0)
        return [entry[0] for entry in self.driver.nvmlDeviceGetComputeRunningProcesses(gpu)]


def with_first_gpu(**fields: Any) -> BoxPlan:
    plan = training.plan()
    first: GpuPlan = replace(plan.gpus[0], **fields)
    return replace(plan, gpus=(first, *plan.gpus[1:]))


def with_process(pid: int, **fields: Any) -> BoxPlan:
    plan = training.plan()
    return replace(plan, processes=tuple(replace(p, **fields) if p.pid == pid else p for p in plan.processes))


def test_before_its_beginning_a_box_has_run_for_less_than_nothing() -> None:
    stage = Stage(training.plan())

    assert stage.clock.running() == -100.0
    assert stage.clock.now() == stage.clock.uptime_s - 100.0


def test_a_process_ends_when_its_time_has_come_and_init_adopts_its_children() -> None:
    stage = Stage(with_process(LAUNCHER, ends_s=-50.0))
    stage.script.follow()
    before = stage.proc.read(f"{RANK}/stat").split()[3]
    stage.time.now += 60
    stage.script.follow()

    assert int(before) == LAUNCHER
    assert int(stage.proc.read(f"{RANK}/stat").split()[3]) == 1
    assert str(LAUNCHER) not in stage.proc.list("")


def test_one_that_ends_is_no_longer_listed_by_the_driver() -> None:
    stage = Stage(with_process(RANK, ends_s=-50.0))
    before = stage.pids()
    stage.time.now += 60
    stage.script.follow()

    assert RANK in before
    assert RANK not in stage.pids()


def test_memory_of_nobody_is_used() -> None:
    plain, odd = Stage(training.plan()), Stage(with_first_gpu(unowned=Curve(512.0 * MIB)))
    used = [
        stage.driver.nvmlDeviceGetMemoryInfo(stage.driver.nvmlDeviceGetHandleByIndex(0), 2).used
        for stage in (plain, odd)
    ]

    assert used[1] - used[0] == 512 * MIB


def test_a_link_may_be_narrow() -> None:
    driver = Stage(with_first_gpu(pcie_width=8)).driver
    gpu = driver.nvmlDeviceGetHandleByIndex(0)

    assert (driver.nvmlDeviceGetCurrPcieLinkWidth(gpu), driver.nvmlDeviceGetMaxPcieLinkWidth(gpu)) == (8, 16)


def test_xids_come_when_they_are_due() -> None:
    stage = Stage(with_first_gpu(faults=(Fault(31, Outage(20.0, 0.0, 1e9)),)))
    driver, gpu = stage.driver, stage.driver.nvmlDeviceGetHandleByIndex(0)
    events = driver.nvmlEventSetCreate()
    driver.nvmlDeviceRegisterEvents(gpu, 0x8, events)
    stage.time.now += 130

    assert driver.nvmlEventSetWait(events, 0) == (gpu.uuid, 0x8, 31)


def test_a_job_reports_its_steps_until_it_stops() -> None:
    plan = with_process(RANK, steps=Steps(total=1000, per_s=2.0, began_s=-100.0, stops_s=-20.0))
    stage = Stage(plan)
    reports = SimulatedReports(plan, stage.clock)
    steps = []
    for _ in range(4):
        stage.time.now += 40
        reports.read_new((), 0.0)
        found = reports.of(Reporter(pid=RANK, uid=1, start_ticks=1, started_s=0.0))
        steps.append(found and found.step)

    assert steps == [80, 160, 160, 160]
