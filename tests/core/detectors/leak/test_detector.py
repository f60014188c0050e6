"""Memory that grows: what is said of it, when, of whom; and what gaps, clocks and reused pids must not do."""

from collections.abc import Callable, Iterable
from typing import Any

import pytest
from examples import GIB, NOW, frame, gpu, process
from judging import at, judge_of
from msgspec.structs import replace

from gputop.core.model.catalogue import MEMORY_FREE, MEMORY_TOTAL, MEMORY_USED, SM_ACTIVE
from gputop.core.model.finding import Finding, Stage
from gputop.core.model.metric import Missing
from gputop.core.model.progress import Progress, TorchMemory
from gputop.core.model.sample import Frame, GpuInstance, GpuProcess, HostProcess

MIB = 1024**2
Memory = Callable[[float], float]


def box(gib: float | None, free_gib: float = 40.0, used_gib: float = 40.0, **fields: Any) -> Frame:
    """Return a box with one process that holds so much; None: the driver does not tell."""
    held = None if gib is None else int(gib * GIB)
    use = GpuProcess(gpu="GPU-00000000", gpu_index=0, type="C", memory_bytes=held, sm_percent=80.0)
    given: dict[str, Any] = {"started_s": NOW, "gpus": (use,)} | fields
    memory = {MEMORY_USED: int(used_gib * GIB), MEMORY_FREE: int(free_gib * GIB), MEMORY_TOTAL: 80 * GIB}
    return frame((gpu(0, memory),), (process(4711, **given),))


def watched(frames: Iterable[tuple[float, Frame]], **dials: dict[str, float]) -> list[tuple[Finding, ...]]:
    """Return the findings after each frame. A frame comes with its second."""
    judge = judge_of("leak", **dials)
    return [judge.judge(at(made, second), ()) for second, made in frames]


def grown(memory: Memory, seconds: Iterable[float], **dials: dict[str, float]) -> list[tuple[Finding, ...]]:
    return watched(((second, box(memory(second))) for second in seconds), **dials)


def leaking(second: float) -> float:
    """Return 10 GiB and a MiB a second."""
    return 10 + second / 1024


def stages(found: list[tuple[Finding, ...]]) -> list[Stage]:
    """Return the stages in the order in which they were first seen."""
    return list(dict.fromkeys(one.stage for now in found for one in now))


def test_a_leak_is_an_alarm_after_ten_minutes_and_nothing_is_said_before() -> None:
    found = grown(leaking, range(720))

    first = next(n for n, now in enumerate(found) if now and now[0].stage is Stage.ALARM)
    assert 600 <= first < 720
    assert not any(found[:600])


def test_a_leak_says_how_much_how_fast_and_how_long_it_was_watched_and_what_to_do() -> None:
    leak = grown(leaking, range(720))[-1][0]

    evidence = {one.name: one.value for one in leak.evidence}
    assert (leak.code, leak.subject.process) == ("leak.process", process(4711).id)
    assert evidence["rate_bytes_per_s"] == pytest.approx(MIB, rel=0.05)
    assert evidence["grown_bytes"] == pytest.approx(float(str(evidence["span_s"])) * MIB, rel=0.1)
    assert "(60.0MiB/min); its memory never fell" in leak.summary
    assert leak.summary.startswith("leak, GPU full in ")
    assert "gputop signal SIGTERM --pid 4711" in leak.remedy
    assert leak.since_s < NOW + 400


def test_what_rises_says_why_it_cannot_tell_yet() -> None:
    rising = grown(lambda second: 10 + 4 * second / 1024, range(700))[-1][0]

    assert rising.stage is Stage.OBSERVATION
    assert "could be loading or a buffer that fills" in rising.summary
    assert "memory grows: +" in rising.summary


def test_weights_that_arrive_from_a_slow_disk_are_called_a_leak() -> None:
    def loads(second: int) -> Frame:
        made = box(10 + 60 * second / 1024)
        use = replace(made.processes[0].gpus[0], sm_percent=3.0 if second % 5 == 0 else 0.0)
        return replace(made, processes=(replace(made.processes[0], gpus=(use,)),))

    assert not any(watched((second, loads(second)) for second in range(900)))


def test_a_few_adapters_that_are_loaded_on_demand_are_called_a_leak() -> None:
    times = (90, 160, 250, 370, 420, 560, 640, 790, 850, 960, 1100)

    found = grown(lambda second: 10 + 0.3 * sum(at_s <= second for at_s in times), range(2400))

    assert not any(found)


def test_fast_growth_at_a_busy_gpu_waits_for_half_an_hour() -> None:
    found = grown(lambda second: 10 + 48 * max(0, second - 60) / 1024, range(1000))

    assert found[-1][0].stage is not Stage.OBSERVATION


def test_a_model_that_loads_from_the_start_of_a_busy_program_is_a_suspect() -> None:
    found = grown(lambda second: 10 + 48 * second / 1024, range(1000))

    assert stages(found) == [Stage.OBSERVATION]


def test_an_arena_that_doubles_over_a_steady_leak_is_missed_while_the_next_step_fits() -> None:
    def pool(second: float) -> float:
        size = 0.5
        while size < second * 10 / 1024:
            size *= 2
        return size

    found = grown(pool, range(1700))

    assert found[-1][0].stage is Stage.SUSPECT
    assert "ever larger steps, at a steady rate on the whole" in found[-1][0].summary
    assert not any(found[:1600])


def test_how_soon_the_gpu_is_full_is_a_range_by_all_that_grow_on_it() -> None:
    def both(second: int) -> Frame:
        use = GpuProcess(gpu="GPU-00000000", gpu_index=0, type="C", memory_bytes=int(leaking(second) * GIB))
        one, other = (process(pid, started_s=NOW, gpus=(replace(use, sm_percent=80.0),)) for pid in (1, 2))
        return frame((gpu(0, {MEMORY_FREE: 20 * GIB}),), (one, other))

    leak = watched((second, both(second)) for second in range(720))[-1][0]

    soon = next(one.value for one in leak.evidence if one.name == "full_in_s")
    assert soon == pytest.approx(20 * 1024 / 2, rel=0.1)  # two processes, a MiB a second each
    assert "full in about 3 h" in leak.summary


@pytest.mark.parametrize("free_gib", [2.0, 40.0])
def test_a_sure_leak_is_an_alarm_however_much_memory_is_left(free_gib: float) -> None:
    found = watched((second, box(leaking(second), free_gib)) for second in range(800))

    assert found[-1][0].stage is Stage.ALARM


def test_a_leak_of_an_old_process_is_as_sure_as_that_of_a_young_one() -> None:
    def old(second: int) -> Frame:
        made = box(leaking(second), 40.0)
        return replace(made, processes=(replace(made.processes[0], started_s=NOW - 40_000),))

    assert watched((second, old(second)) for second in range(1000))[-1][0].stage is Stage.ALARM


def test_without_utilization_a_leak_is_never_more_than_medium_and_says_what_is_missing() -> None:
    def blind(second: int) -> Frame:
        made = box(leaking(second), 2.0)
        use = replace(made.processes[0].gpus[0], sm_percent=None)
        return replace(made, processes=(replace(made.processes[0], gpus=(use,)),))

    leak = watched((second, blind(second)) for second in range(800))[-1][0]

    assert leak.stage is Stage.SUSPECT
    assert leak.confidence is not None
    assert leak.confidence <= 0.6
    assert any("SM utilization" in signal for signal in leak.lacking)


def test_on_an_instance_its_own_activity_tells_work_from_loading() -> None:
    def split(second: int, active: float) -> Frame:
        memory = {MEMORY_USED.key: 5 * GIB, MEMORY_FREE.key: 5 * GIB, MEMORY_TOTAL.key: 10 * GIB}
        inside = GpuInstance(id=3, profile="1g.10gb", metrics={**memory, SM_ACTIVE.key: active})
        use = GpuProcess(
            gpu="GPU-00000000", gpu_index=0, type="C", gpu_instance=3, memory_bytes=int(leaking(second) * GIB)
        )
        return frame((gpu(0, instances=(inside,)),), (process(4711, started_s=NOW, gpus=(use,)),))

    works, loads = ([(second, split(second, active)) for second in range(720)] for active in (40.0, 0.0))

    assert stages(watched(works))[-1] is Stage.ALARM
    assert stages(watched(loads)) == []


def test_a_pool_of_a_server_is_said_to_hide_what_is_inside() -> None:
    found = watched((second, box(leaking(second), command="vllm serve m")) for second in range(720))

    assert any("preallocates" in signal for signal in found[-1][0].lacking)


def test_a_leak_ends_when_half_of_it_came_back() -> None:
    found = grown(lambda second: leaking(second) if second < 800 else 10.1, range(900))

    assert found[799]
    assert found[-1] == ()


def test_a_leak_that_no_longer_grows_says_so_and_then_ends() -> None:
    found = grown(lambda second: leaking(min(second, 800)), range(4000))

    assert "no growth for" in found[1250][0].summary
    assert found[-1] == ()


def test_growth_that_ends_before_it_was_called_a_leak_is_worth_a_line() -> None:
    assert not any(grown(lambda second: leaking(min(second, 400)), range(1500)))


def test_a_buffer_that_is_full_before_it_was_called_a_leak_is_forgotten() -> None:
    found = grown(lambda second: 10 + 4 * min(second, 800) / 1024, range(2400))

    assert stages(found) == [Stage.OBSERVATION]
    assert found[-1] == ()


@pytest.mark.parametrize(
    "memory",
    [
        lambda _: 10.0,
        lambda second: min(40.0, second / 4),  # loaded in less than three minutes
        lambda second: 10 + 8 * (1 - 0.99**second),  # warm-up
        lambda second: 10 + 4 * (second % 61) / 61,  # teeth
        lambda second: 10 if second < 60 else 65,  # a pool
    ],
    ids=["flat", "loading", "warm-up", "teeth", "pool"],
)
def test_what_is_usual_is_no_leak(memory: Memory) -> None:
    assert Stage.SUSPECT not in stages(grown(memory, range(1200)))


# --- what must not make a finding ----------------------------------------------------------------------------------
def test_a_suspended_machine_is_no_growth() -> None:
    found = grown(lambda second: 10 if second < 500 else 14, [*range(400), *range(40_000, 41_000)])

    assert not any(found)


def test_steps_over_gaps_are_no_steady_growth() -> None:
    """A sampler that stops again and again, and memory that is higher each time: nobody saw how it grew."""
    seconds = [start + second for start in range(0, 40_000, 4000) for second in range(30)]

    assert Stage.SUSPECT not in stages(grown(lambda second: 10 + second // 4000, seconds))


def test_a_clock_that_jumps_changes_nothing() -> None:
    there = [*range(400), *range(-5000, -4600), *range(90_000, 90_400)]
    usual = grown(lambda _: 10.0, there)
    judge = judge_of("leak")
    leak = [judge.judge(at(box(leaking(count)), second), ()) for count, second in enumerate(there)]

    assert not any(usual)
    assert leak[-1][0].stage is Stage.ALARM


def test_a_pid_that_is_used_again_begins_anew() -> None:
    """Short jobs that get the same pid, each a bit larger than the one before, are no leak."""

    def run(second: int) -> tuple[int, Frame]:
        nth = second // 60
        return second, box(2 + nth * 0.2, start_ticks=nth, started_s=NOW + nth * 60)

    assert not any(watched(run(second) for second in range(1500)))


def test_a_process_that_is_gone_for_a_moment_is_the_same_and_after_a_minute_it_is_forgotten() -> None:
    def seen(gone: range) -> list[tuple[Finding, ...]]:
        none = frame((gpu(0),), ())
        return watched((second, none if second in gone else box(leaking(second))) for second in range(720))

    assert seen(range(300, 305))[-1][0].stage is Stage.ALARM
    assert stages(seen(range(300, 420))) == []


@pytest.mark.parametrize("every_s", [0.5, 2.0, 5.0, 10.0])
def test_a_leak_is_found_at_every_interval(every_s: float) -> None:
    frames = ((n * every_s, replace(box(leaking(n * every_s)), interval_s=every_s)) for n in range(int(800 / every_s)))

    assert watched(frames)[-1][0].stage is Stage.ALARM


def test_on_a_crowded_box_a_leak_is_found_among_two_thousand() -> None:
    others = tuple(process(pid) for pid in range(10_000, 12_000))
    judge = judge_of("leak")

    def crowd(second: int) -> Frame:
        made = box(leaking(second))
        return replace(made, processes=(*others, *made.processes))

    found = [judge.judge(at(crowd(second), second), ()) for second in range(0, 1000, 2)]

    assert [(one.stage, one.subject.process) for one in found[-1]] == [(Stage.ALARM, process(4711).id)]


# --- where the driver does not tell whose memory it is ---------------------------------------------------------------
def silent(second: float, *, pids: tuple[int, ...] = (1, 2), told_gib: float = 0.0) -> Frame:
    use = GpuProcess(
        gpu="GPU-00000000", gpu_index=0, type="C", missing={"memory_bytes": Missing.UNSUPPORTED}, sm_percent=50.0
    )
    held = tuple(process(pid, gpus=(use,)) for pid in pids)
    known: tuple[HostProcess, ...] = ()
    if told_gib:
        known = (process(99, gpus=(replace(use, memory_bytes=int(told_gib * GIB)),)),)
    used = leaking(second) + told_gib
    memory = {MEMORY_USED: int(used * GIB), MEMORY_FREE: int((80 - used) * GIB)}
    return frame((gpu(0, memory),), held + known)


def test_memory_that_nobody_owns_to_is_judged_of_this_gpu() -> None:
    leak = watched((second, silent(second)) for second in range(720))[-1][0]

    assert (leak.code, leak.stage, leak.subject.label) == ("leak.gpu", Stage.ALARM, "GPU 0")
    assert leak.subject.process is None
    assert any("which process grows" in signal for signal in leak.lacking)


def test_memory_of_which_it_is_known_whose_it_is_is_not_counted_twice() -> None:
    found = watched((second, silent(0, told_gib=leaking(second) - 5)) for second in range(720))

    assert [one.code for one in found[-1]] == ["leak.process"]


def test_processes_that_come_explain_why_a_gpu_holds_more() -> None:
    found = watched((second, silent(second, pids=tuple(range(2 + second // 60)))) for second in range(1200))

    assert not any(found)


# --- dials -----------------------------------------------------------------------------------------------------------
def test_less_growth_than_is_asked_for_is_not_worth_a_line() -> None:
    assert not any(grown(leaking, range(720), leak={"least_growth_bytes": 4.0 * GIB}))


def test_the_time_to_watch_can_be_set() -> None:
    found = grown(leaking, range(1350), leak={"observed_s": 1200.0})

    assert not any(found[:1200])
    assert found[-1][0].stage is Stage.ALARM


def _reporting(allocated_gib: Memory) -> list[tuple[Finding, ...]]:
    """Return the findings of growth in a process that reports how much PyTorch has allocated."""

    def reported(second: float) -> Frame:
        reserved, allocated = int(leaking(second) * GIB), int(allocated_gib(second) * GIB)
        memory = TorchMemory(device=0, allocated=allocated, reserved=reserved, peak=allocated)
        return box(leaking(second), progress=Progress(time_s=NOW + second, torch=(memory,)))

    return watched((second, reported(second)) for second in range(0, 1800, 10))


def test_growth_that_pytorch_may_only_cache_is_no_alarm() -> None:
    found = _reporting(lambda _: 5.0)
    (last,) = found[-1]

    assert Stage.ALARM not in stages(found)
    assert any("the growth may be cached and unused: 5.0GiB allocated" in one.text for one in last.evidence)


def test_growth_that_pytorch_has_allocated_is_an_alarm() -> None:
    found = _reporting(lambda second: leaking(second) - 0.1)
    (last,) = found[-1]

    assert last.stage is Stage.ALARM
    assert any("the cache of PyTorch is smaller than the growth" in one.text for one in last.evidence)
