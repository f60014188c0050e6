"""What processes used since gputop saw them."""

from typing import Any

import pytest
from examples import NOW, frame, gpu, process

from gputop.core.metric import Metric, Missing
from gputop.core.metrics import ENERGY, GPU_UTILIZATION, POWER_AVERAGE, POWER_LIMIT
from gputop.core.monitor import Monitor
from gputop.core.sample import GpuProcess, GpuState, HostProcess, Sample
from gputop.core.totals import Totals


class Box:
    """A GPU of 700 W that idles at 100 W, and the processes on it; each reading comes a second after the one before."""

    def __init__(self) -> None:
        self.totals = Totals()
        self.now = NOW
        self.energy: float | Missing = 1000.0

    def read(
        self,
        *processes: HostProcess,
        watts: float | Missing = 500.0,
        seconds: float = 1.0,
        utilization: int | None = None,
        **fields: Any,
    ) -> tuple[HostProcess, ...]:
        self.now += seconds
        if not isinstance(self.energy, Missing) and not isinstance(watts, Missing):
            self.energy += watts * seconds
        values: dict[Metric[Any], Any] = {
            POWER_AVERAGE: watts,
            POWER_LIMIT: 700.0,
            ENERGY: self.energy,
            GPU_UTILIZATION: utilization,
        }
        board = gpu(0, values, **{"read_s": self.now} | fields)
        return self.totals.add(frame((board,), processes, time_s=self.now))

    def idle(self) -> None:
        self.read(watts=100.0)


def busy(pid: int, sm: float | None, **fields: Any) -> HostProcess:
    use = GpuProcess(gpu="GPU-00000000", gpu_index=0, type="C", sm_percent=sm)
    return process(pid, **{"gpus": (use,)} | fields)


def seconds(row: HostProcess) -> float | None:
    return row.gpus[0].gpu_seconds


def joules(row: HostProcess) -> float | None:
    return row.gpus[0].energy_j


def test_time_adds_up_from_zero_by_the_share_in_which_kernels_ran() -> None:
    box = Box()

    assert [seconds(box.read(busy(1, sm))[0]) for sm in (50.0, 50.0, 100.0, 0.0)] == [0.5 - 0.5, 0.5, 1.5, 1.5]


def test_energy_over_idle_is_split_by_the_shares_of_time() -> None:
    box = Box()
    box.idle()
    box.read(busy(1, 60.0), busy(2, 20.0), watts=100.0)

    first, second = box.read(busy(1, 60.0), busy(2, 20.0), watts=500.0)

    assert (joules(first), joules(second)) == (300.0, 100.0)


def test_what_somebody_else_used_is_nobodys_share_here() -> None:
    box = Box()
    box.idle()
    box.read(busy(1, 20.0), watts=100.0)
    (row,) = box.read(busy(1, 20.0), watts=500.0, utilization=80)

    assert joules(row) == 100.0


def test_a_gpu_that_was_never_idle_is_taken_to_idle_at_a_third_of_its_limit() -> None:
    box = Box()
    box.read(busy(1, 100.0), watts=600.0)

    assert joules(box.read(busy(1, 100.0), watts=600.0)[0]) == pytest.approx(600.0 - 0.3 * 700.0)


def test_without_a_counter_of_energy_the_power_tells() -> None:
    box = Box()
    box.energy = Missing.UNSUPPORTED
    box.idle()
    box.read(busy(1, 100.0), watts=100.0)

    assert joules(box.read(busy(1, 100.0), watts=350.0)[0]) == 250.0


def test_without_power_there_is_no_energy_and_the_reason_is_told() -> None:
    box = Box()
    (row,) = box.read(busy(1, 50.0), watts=Missing.UNSUPPORTED)

    assert (seconds(row), joules(row)) == (0.0, None)
    assert row.gpus[0].missing == {"energy_j": Missing.UNSUPPORTED}


def test_of_a_process_whose_use_is_not_told_nothing_is_invented() -> None:
    use = GpuProcess(gpu="GPU-00000000", gpu_index=0, type="C", missing={"sm_percent": Missing.UNSUPPORTED})
    (row,) = Box().read(busy(1, None, gpus=(use,)))

    assert (seconds(row), joules(row)) == (None, None)
    assert {row.gpus[0].missing[name] for name in ("gpu_seconds", "energy_j")} == {Missing.UNSUPPORTED}


def test_a_value_that_fails_once_does_not_lose_the_sum() -> None:
    box = Box()
    box.read(busy(1, 100.0))
    box.read(busy(1, 100.0))

    assert seconds(box.read(busy(1, None))[0]) == 1.0
    assert seconds(box.read(busy(1, 100.0))[0]) == 2.0


def test_a_late_answer_counts_the_time_that_it_is_about() -> None:
    box = Box()
    box.read(busy(1, 100.0))

    assert seconds(box.read(busy(1, 100.0), read_s=box.now)[0]) == 0.0
    assert seconds(box.read(busy(1, 100.0))[0]) == 2.0


@pytest.mark.parametrize("gap", [3600.0, -3600.0])
def test_a_gap_or_a_clock_that_was_set_counts_nothing(gap: float) -> None:
    box = Box()
    box.read(busy(1, 100.0))

    assert seconds(box.read(busy(1, 100.0), seconds=gap)[0]) == 0.0
    assert seconds(box.read(busy(1, 100.0))[0]) == 1.0


def test_a_lost_gpu_adds_nothing() -> None:
    box = Box()
    box.read(busy(1, 100.0))

    assert seconds(box.read(busy(1, 100.0), state=GpuState.LOST)[0]) == 0.0


def test_a_driver_that_was_loaded_again_gives_no_negative_energy() -> None:
    box = Box()
    box.read(busy(1, 100.0))
    box.energy = 0.0

    held = joules(box.read(busy(1, 100.0))[0])

    assert held is not None
    assert held >= 0.0


@pytest.mark.parametrize("start", [10, 11])
def test_a_process_that_goes_is_forgotten_and_its_pid_inherits_nothing(start: int) -> None:
    box = Box()
    box.read(busy(1, 100.0, start_ticks=10))
    box.read(busy(1, 100.0, start_ticks=10))
    if start == 10:
        box.read()

    assert seconds(box.read(busy(1, 0.0, start_ticks=start))[0]) == 0.0


def test_an_idle_process_is_the_same_object_from_frame_to_frame() -> None:
    box, resting = Box(), busy(1, 0.0)
    box.read(resting)

    assert box.read(resting)[0] is box.read(resting)[0]


class Source:
    interval_s = 1.0

    def __init__(self) -> None:
        self.time_s = NOW

    def read(self) -> Sample:
        self.time_s += 1
        held = frame((gpu(0, read_s=self.time_s),), (busy(1, 50.0), process(2, 0, 1)), time_s=self.time_s)
        return Sample(**{name: getattr(held, name) for name in Sample.__struct_fields__})


def test_a_frame_has_totals_and_jobs() -> None:
    monitor = Monitor(Source())
    monitor.step()
    held = monitor.step()

    assert [use.gpu_seconds for one in held.processes for use in one.gpus][:2] == [0.5, 0.8]
    assert [[one.pid for one in job.members] for job in held.jobs] == [[2]]
