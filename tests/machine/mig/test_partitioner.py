"""Plans carried out on a simulated box: failure at every step, and everything is as it was before."""

import json
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace
from simulated import box

from gputop.core.mig.answers import MigProgress
from gputop.core.mig.explain import answer
from gputop.core.mig.model import Layout, MigGpu, User, layout
from gputop.core.mig.request import read_request
from gputop.core.mig.steps import Plan, StepKind
from gputop.core.model.metric import Missing
from gputop.core.protocol.command import ChangeMig
from gputop.core.protocol.outcome import Result, Status
from gputop.machine.control.audit import Audit
from gputop.machine.control.mig import MigControl
from gputop.machine.mig.layout import LayoutReader
from gputop.machine.mig.lock import LockedError, mig_lock
from gputop.machine.mig.partitioner import Partitioner, Surroundings
from gputop.machine.mig.rights import Right
from gputop.machine.nvml.driver import Driver, NoDriverError

CHANGING = (
    "nvmlDeviceSetMigMode", "nvmlDeviceCreateGpuInstanceWithPlacement", "nvmlGpuInstanceDestroy",
    "nvmlGpuInstanceCreateComputeInstanceWithPlacement", "nvmlComputeInstanceDestroy",
)  # fmt: skip
UNKNOWN, NO_PERMISSION, IN_USE = 999, 4, 19


class Faulty:
    """A driver whose changing calls fail: those of these numbers, counted from 0. ``calls``: how many there were."""

    def __init__(self, functions: Any, *numbers: int, code: int = UNKNOWN) -> None:
        self.NVMLError = functions.NVMLError
        self._functions = functions
        self._numbers = numbers
        self._code = code
        self.calls = 0
        self.lies = False

    def fail(self, *numbers: int) -> None:
        """Have these calls fail."""
        self._numbers = numbers

    def __getattr__(self, name: str) -> Any:
        function = getattr(self._functions, name)
        return (lambda *args: self._change(function, *args)) if name in CHANGING else function

    def _change(self, function: Callable[..., Any], *args: Any) -> Any:
        number, self.calls = self.calls, self.calls + 1
        if number in self._numbers:
            raise self.NVMLError(self._code)
        return 0 if self.lies else function(*args)


class Bench:
    """A simulated box, its third GPU, and what changes it."""

    def __init__(self, *numbers: int, code: int = UNKNOWN, **around: Any) -> None:
        self.functions = box("mig").driver
        self.faulty = Faulty(self.functions, *numbers, code=code)
        self.told: list[str] = []
        self.index = 2
        driver = Driver(self.faulty)
        self.reader = LayoutReader(driver, lambda pid: User(pid=pid, how=f"end {pid}"))
        self.partitioner = Partitioner(driver, self.reader, Surroundings(**({"lock": no_lock} | around)))

    @property
    def board(self) -> Any:
        return self.functions.nvmlDeviceGetHandleByIndex(self.index)

    @property
    def gpu(self) -> MigGpu:
        return self.reader.read(self.index, self.board)

    @property
    def now(self) -> Layout:
        return layout(self.gpu.instances)

    def plan(self, text: str, *, is_forced: bool = False) -> Plan:
        found = answer(self.gpu, read_request(text, self.gpu), is_forced=is_forced)
        assert isinstance(found, Plan)
        return found

    def change(self, text_or_plan: "str | Plan", *, is_forced: bool = False) -> Result:
        plan = text_or_plan if isinstance(text_or_plan, Plan) else self.plan(text_or_plan)
        return self.partitioner.change(plan, self._tell, is_forced=is_forced)

    def end(self, *pids: int) -> None:
        """End processes of the box."""
        self.hold([(process, use) for process, use in self.board.uses if process.pid not in pids])

    def hold(self, uses: list[Any]) -> list[Any]:
        """Have the processes of the box on the GPU be these; return those that were."""
        before = list(self.board.uses)
        self.board.uses[:] = uses
        self.board.follow()
        return before

    def _tell(self, done: int, total: int, text: str, is_going_back: bool) -> None:  # noqa: FBT001
        self.told.append(f"{'back ' if is_going_back else ''}{done + 1}/{total} {text}")


@contextmanager
def no_lock(_: str) -> Iterator[None]:
    yield


def test_an_instance_is_changed_beside_busy_ones_and_the_steps_are_told() -> None:
    bench = Bench()
    bench.end(41_911)  # the notebook on 1g.10gb@6
    result = bench.change("4g.40gb/2c+2c,1g.20gb,1g.10gb+me")

    assert result.status is Status.DONE
    assert [target.text for target in bench.now] == ["4g.40gb@0", "1g.20gb@4", "1g.10gb+me@6"]
    assert bench.told == [
        "1/4 destroy compute instance 1c@0 in 1g.10gb@6",
        "2/4 destroy 1g.10gb@6",
        "3/4 create 1g.10gb+me@6",
        "4/4 create compute instance 1c@0 in 1g.10gb+me@6",
    ]
    assert (result.gpu, result.before) == (2, "4g.40gb@0 1g.20gb@4 1g.10gb@6")


WISHES = ("3g.40gb,1g.10gb/none,2g.20gb", "all=1g", "off", "2x3g.40gb/2c+1c", "4g.40gb/1c+1c+2c,2x1g.10gb")


@pytest.mark.parametrize("text", WISHES)
def test_a_failure_at_any_step_leaves_everything_as_it_was(text: str) -> None:
    count = len(idle().plan(text).steps)
    assert count > 3
    for number in range(count):
        bench = idle(number)
        before = bench.now
        result = bench.change(text)

        assert result.status is Status.FAILED
        assert "The layout is as before" in result.detail
        assert f"step {number + 1} of {count}" in result.detail
        assert bench.now == before
        assert bench.gpu.is_on


@pytest.mark.parametrize("text", WISHES)
def test_a_second_failure_says_what_is_and_what_was_meant(text: str) -> None:
    count = len(idle().plan(text).steps)
    second_failures = 0
    for number in range(1, count):
        bench = idle(number, number + 1, keep=lambda _: "/state/before.json")
        before, meant = bench.now, bench.plan(text).after
        result = bench.change(text)
        if bench.now == before:
            continue  # going back took no further call

        second_failures += 1
        assert result.status is Status.FAILED
        assert "The rollback failed too" in result.detail
        assert all(target.text in result.detail for target in (*bench.now, *before, *meant))
        assert "gputop mig restore /state/before.json" in result.remedy
    assert second_failures > 0


def test_a_driver_that_says_yes_and_does_nothing_is_found_out() -> None:
    bench = idle()
    plan = bench.plan("none")
    bench.faulty.lies = True
    result = bench.change(plan)

    assert result.status is Status.FAILED
    assert "the driver accepted every step, but then reported: 4g.40gb@0" in result.detail


def test_a_plan_for_another_layout_is_refused() -> None:
    bench = idle()
    plan = bench.plan("all=1g")
    bench.change("3g.40gb")
    result = bench.change(plan)

    assert (result.status, result.remedy) == (Status.REFUSED, "Plan again.")
    assert "the layout has changed since the plan: 3g.40gb@4" in result.detail
    assert [target.text for target in bench.now] == ["3g.40gb@4"]


def test_a_process_that_came_after_the_plan_keeps_its_instance() -> None:
    bench = Bench()
    uses = bench.hold([])
    plan = bench.plan("none")
    bench.hold(uses)
    result = bench.change(plan)

    assert result.status is Status.REFUSED
    assert "in use: 41007, 41218, 41530, 41911" in result.detail
    assert result.remedy == "To end them: end 41007; end 41218; end 41530; end 41911"
    assert bench.faulty.calls == 0


def test_force_leaves_it_to_the_driver_which_refuses_and_everything_is_as_before() -> None:
    bench = Bench(holders=lambda _: (User(pid=7, command="nv-hostengine", how="sudo systemctl stop nvidia-dcgm"),))
    before = bench.now
    result = bench.change(bench.plan("7g", is_forced=True), is_forced=True)

    assert result.status is Status.FAILED
    assert "the driver reports that it is in use by 41007" in result.detail
    assert "7 nv-hostengine" in result.detail
    assert "sudo systemctl stop nvidia-dcgm" in result.remedy
    assert bench.now == before


def test_without_the_right_it_is_said_which_one_is_missing() -> None:
    bench = idle(0, code=NO_PERMISSION, right=lambda kind: Right(f"no right to {kind.value}", "Ask root."))
    result = bench.change("none")

    assert (result.status, result.remedy) == (Status.NOT_PERMITTED, "Ask root.")
    assert "no right to destroy_compute" in result.detail


@pytest.mark.parametrize("number", [1, 2, 3, 4])
def test_a_failure_after_the_mode_was_turned_on_turns_it_off_again(number: int) -> None:
    bench = idle()
    bench.change("off")
    bench.faulty.fail(bench.faulty.calls + number)
    result = bench.change("3g,4g")

    assert "The layout is as before" in result.detail
    assert (bench.gpu.is_on, bench.gpu.is_on_next) == (False, False)


def test_the_mode_of_hopper_goes_off_and_on() -> None:
    bench = idle()

    assert bench.change("off").after == "MIG off"
    assert (bench.gpu.is_on, bench.gpu.instances) == (False, ())
    assert bench.change("7g").status is Status.DONE
    assert [target.text for target in bench.now] == ["7g.80gb@0"]


def test_the_mode_of_ampere_waits_for_a_reset_and_the_result_says_how() -> None:
    bench = Bench()
    bench.index = 1
    bench.hold([])
    result = bench.change("3g,3g")

    assert result.status is Status.PENDING
    assert "sudo nvidia-smi -i 1 --gpu-reset" in result.remedy
    assert "the other 4 steps" in result.remedy
    assert (bench.gpu.is_on, bench.gpu.is_on_next) == (False, True)
    assert bench.change("off").status is Status.DONE  # takes it back
    assert (bench.gpu.is_on, bench.gpu.is_on_next) == (False, False)
    bench.change("3g,3g")
    bench.board.partition.reset()
    assert bench.change("3g,3g").status is Status.DONE


def test_a_mode_that_waits_for_processes_is_taken_back() -> None:
    bench = Bench()
    bench.index = 1
    uses = bench.hold([])
    plan = bench.plan("on")
    bench.hold(uses)
    result = bench.change(plan, is_forced=True)

    assert result.status is Status.FAILED
    assert "18020" in result.detail
    assert (bench.gpu.is_on, bench.gpu.is_on_next) == (False, False)


def test_an_interruption_goes_back() -> None:
    bench = idle()
    before = bench.now

    def interrupt(done: int, _: int, __: str, is_going_back: bool) -> None:  # noqa: FBT001
        if done == 3 and not is_going_back:
            raise KeyboardInterrupt

    result = bench.partitioner.change(bench.plan("all=1g"), interrupt)

    assert result.detail.startswith("interrupted at step 4")
    assert bench.now == before


def test_one_of_two_is_told_that_somebody_else_is_at_it() -> None:
    bench = idle(lock=mig_lock)
    with mig_lock(bench.gpu.uuid):
        result = bench.change("none")

    assert result.status is Status.REFUSED
    assert "is changing this GPU right now" in result.detail
    assert bench.change("none").status is Status.DONE


def test_without_a_lock_nothing_is_begun() -> None:
    def no_lock_here(_: str) -> Any:
        raise OSError(1, "Operation not permitted")

    result = idle(lock=no_lock_here).change("none")

    assert (result.status, result.detail) == (
        Status.FAILED, "cannot lock the GPU against a second gputop: Operation not permitted",
    )  # fmt: skip


def test_the_lock_names_who_has_it() -> None:
    with mig_lock("GPU-of-a-test"), pytest.raises(LockedError) as taken, mig_lock("GPU-of-a-test"):
        pytest.fail("two have it")

    assert taken.value.pid == os.getpid()


def test_without_rights_to_read_nothing_is_begun() -> None:
    bench = idle()
    plan = bench.plan("none")
    inner = bench.reader.read

    class Blind(LayoutReader):
        def read(self, index: int, handle: Any) -> MigGpu:
            return replace(inner(index, handle), missing={"placements": Missing.FORBIDDEN})

    blind = Blind(Driver(bench.faulty), lambda pid: User(pid=pid))
    result = Partitioner(Driver(bench.faulty), blind, Surroundings(lock=no_lock)).change(plan, lambda *_: None)

    assert result.status is Status.NOT_PERMITTED
    assert "/dev/nvidia-caps/nvidia-cap1" in result.detail


def test_several_gpus_are_changed_one_after_the_other_until_one_fails(tmp_path: Path) -> None:
    class Half:
        """Fails on GPU 1."""

        def change(self, plan: Plan, tell: Callable[[int, int, str, bool], None], *, is_forced: bool = False) -> Result:
            tell(0, 1, "a step", is_forced)
            return Result(gpu=plan.index, status=Status.FAILED if plan.index == 1 else Status.DONE)

    told: list[MigProgress] = []
    plans = tuple(
        Plan(gpu=f"GPU-{n}", index=n, was_on=True, is_on=True, before=(), after=(), steps=()) for n in range(3)
    )
    control = MigControl(Half, told.append)
    audit = Audit(str(tmp_path / "state"), "root")
    change = ChangeMig(id="5", plans=plans)
    audit.begin(change)
    results = control.settle(change, audit)
    audit.end()

    assert [result.status for result in results] == [Status.DONE, Status.FAILED, Status.REFUSED]
    assert results[2].detail == "not started, because GPU 1 failed"
    assert [step.line for step in told] == ["GPU 0: 1/1 a step", "GPU 1: 1/1 a step"]
    lines = [json.loads(line) for line in (tmp_path / "state/audit.jsonl").read_text().splitlines()]
    assert [(line["event"], line["index"], line.get("status")) for line in lines] == [
        ("intent", 0, None), ("outcome", 0, "done"), ("intent", 1, None), ("outcome", 1, "failed"),
    ]  # fmt: skip
    assert lines[0]["what"] == "MIG of GPUs 0-2"


def test_a_driver_that_does_not_start_is_a_result(tmp_path: Path) -> None:
    def no_driver() -> Any:
        raise NoDriverError("no driver here")

    plan = Plan(gpu="GPU-0", index=0, was_on=True, is_on=True, before=(), after=(), steps=())
    audit = Audit(str(tmp_path / "state"), "root")
    (result,) = MigControl(no_driver, lambda _: None).settle(ChangeMig(id="5", plans=(plan,)), audit)

    assert (result.status, result.detail) == (Status.FAILED, "no driver here")


def test_every_kind_of_step_is_exercised_by_the_failures_above() -> None:
    kinds = {step.kind for text in WISHES for step in idle().plan(text).steps} | {StepKind.ENABLE}

    assert kinds == set(StepKind)


def idle(*numbers: int, **around: Any) -> Bench:
    bench = Bench(*numbers, **around)
    bench.hold([])
    return bench
