"""Processes that are stopped, traced, or blocked in the kernel."""

from examples import frame, process
from judging import judge_of, watch

from gputop.core.detectors.registry import instant
from gputop.core.model.finding import Finding, Stage
from gputop.core.model.sample import Frame


def box(state: str, cpu: float = 0.0, pid: int = 4711) -> Frame:
    return frame(1, (process(pid, 0, state=state, cpu_percent=cpu),))


def seen(seconds: range, state: str, cpu: float = 0.0) -> list[tuple[Finding, ...]]:
    return watch(judge_of("stopped"), seconds, lambda _: box(state, cpu))


def test_a_stopped_process_is_a_suspect_at_once_and_an_alarm_after_5_s() -> None:
    held = seen(range(7), "T")

    assert [found[0].stage for found in held] == [Stage.SUSPECT] * 5 + [Stage.ALARM] * 2
    assert held[0][0].summary == "stopped by a signal (state T); holds 10.0GiB on GPU 0"
    assert held[-1][0].summary == "stopped for 6s by a signal (state T); holds 10.0GiB on GPU 0"
    assert "kill -CONT 4711" in held[-1][0].remedy


def test_a_snapshot_asks_it_as_well() -> None:
    assert "stopped" in [kind.name for kind, _ in instant()]


def test_it_ends_when_the_process_goes_on() -> None:
    held = watch(judge_of("stopped"), range(20), lambda second: box("T" if second < 10 else "R"))

    assert held[9]
    assert not held[13]


def test_a_traced_process_is_an_observation() -> None:
    assert seen(range(60), "t")[-1][0].stage is Stage.OBSERVATION


def test_blocked_without_cpu_is_a_suspect_after_30_s_and_an_alarm_after_2_minutes() -> None:
    held = seen(range(130), "D")

    assert [bool(found) for found in held].index(True) == 30
    assert [bool(found) and found[0].stage is Stage.ALARM for found in held].index(True) == 120
    assert held[-1][0].code == "process.blocked"


def test_who_reads_from_slow_storage_and_gets_on_is_not_blocked() -> None:
    assert seen(range(300), "D", cpu=3.0)[-1] == ()


def test_a_gap_neither_counts_nor_starts_the_time_again() -> None:
    held = watch(judge_of("stopped"), [*range(25), *range(1000, 1025)], lambda _: box("D"))

    assert [bool(found) for found in held].index(True) == 31


def test_the_next_owner_of_a_pid_is_somebody_else() -> None:
    judge = judge_of("stopped")
    watch(judge, range(29), lambda _: box("D"))
    held = watch(judge, range(29, 58), lambda _: frame(1, (process(4711, 0, state="D", cpu_percent=0, start_ticks=9),)))

    assert held[-1] == ()
