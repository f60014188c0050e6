"""What makes a board sick, and what does not: idle links, gaps, counters that reset, GPUs that come and go."""

from collections.abc import Callable, Iterable
from typing import Any

import pytest
from examples import NOW, frame, gpu
from judging import at, judge_of, watch

from gputop.core.model.catalogue import (
    ECC_VOLATILE_CORRECTED,
    ECC_VOLATILE_UNCORRECTED,
    GPU_UTILIZATION,
    MIG_MODE,
    MIG_MODE_PENDING,
    NVLINK_CRC,
    NVLINK_LINKS,
    NVLINK_LINKS_DOWN,
    NVLINK_RECOVERIES,
    NVLINK_REPLAYS,
    PCIE_GENERATION,
    PCIE_GENERATION_MAX,
    PCIE_REPLAYS,
    PCIE_WIDTH,
    PCIE_WIDTH_MAX,
    PSTATE,
    RECOVERY_ACTION,
    REMAPPED_ROWS_FAILED,
    REMAPPED_ROWS_PENDING,
    REMAPPED_ROWS_UNCORRECTABLE,
    RETIRED_PAGES_DOUBLE,
    RETIRED_PAGES_PENDING,
    RETIRED_PAGES_SINGLE,
)
from gputop.core.model.finding import Finding, Stage
from gputop.core.model.metric import Metric, Missing
from gputop.core.model.sample import DriverInfo, Frame, GpuState, XidEvent

Values = dict[Metric[Any], Any]
LINK: Values = {PCIE_GENERATION: 5, PCIE_GENERATION_MAX: 5, PCIE_WIDTH: 16, PCIE_WIDTH_MAX: 16, PSTATE: 0}


def one(values: Values, **fields: Any) -> Frame:
    return frame((gpu(0, values, **fields),))


def shown(made_at: Callable[[int], Frame], seconds: Iterable[int] = (0,), **dials: dict[str, float]) -> list[Finding]:
    """Return the findings of the last second."""
    return list(watch(judge_of("hardware", **dials), seconds, made_at)[-1])


def told(found: Iterable[Finding]) -> list[tuple[str, Stage]]:
    return [(finding.code, finding.stage) for finding in found]


def always(values: Values, **fields: Any) -> Callable[[int], Frame]:
    return lambda _: one(values, **fields)


def test_a_healthy_board_says_nothing_for_ten_minutes() -> None:
    well: Values = LINK | {
        ECC_VOLATILE_UNCORRECTED: 0, ECC_VOLATILE_CORRECTED: 3, RECOVERY_ACTION: "none", REMAPPED_ROWS_PENDING: False,
        REMAPPED_ROWS_FAILED: False, REMAPPED_ROWS_UNCORRECTABLE: 1, MIG_MODE: False, MIG_MODE_PENDING: False,
        NVLINK_LINKS: 18, NVLINK_LINKS_DOWN: 0, NVLINK_REPLAYS: 7, NVLINK_RECOVERIES: 1, NVLINK_CRC: 0, PCIE_REPLAYS: 9,
    }  # fmt: skip

    assert not any(watch(judge_of("hardware"), range(600), always(well)))


@pytest.mark.parametrize(
    ("values", "code", "stage"),
    [
        ({ECC_VOLATILE_UNCORRECTED: 2}, "ecc.uncorrected", Stage.ALARM),
        ({REMAPPED_ROWS_FAILED: True}, "remap.failed", Stage.ALARM),
        ({REMAPPED_ROWS_PENDING: True}, "remap.pending", Stage.SUSPECT),
        ({REMAPPED_ROWS_UNCORRECTABLE: 512}, "remap.many", Stage.ALARM),
        ({RETIRED_PAGES_PENDING: True}, "retired.pending", Stage.SUSPECT),
        ({RETIRED_PAGES_SINGLE: 60, RETIRED_PAGES_DOUBLE: 3}, "retired.many", Stage.ALARM),
        ({RETIRED_PAGES_SINGLE: 20, RETIRED_PAGES_DOUBLE: 3}, "retired.many", Stage.OBSERVATION),
        ({RECOVERY_ACTION: "reset GPU"}, "gpu.recovery", Stage.ALARM),
        ({MIG_MODE: False, MIG_MODE_PENDING: True}, "mig.pending", Stage.OBSERVATION),
    ],
)
def test_what_can_be_told_at_once(values: Values, code: str, stage: Stage) -> None:
    assert told(shown(always(values))) == [(code, stage)]


def test_uncorrected_errors_that_come_while_one_watches_are_told_apart() -> None:
    (found,) = shown(lambda second: one({ECC_VOLATILE_UNCORRECTED: 2 if second < 50 else 5}), range(60))

    assert "5 uncorrectable memory errors" in found.summary
    assert "3 of them in the last 59s" in found.summary


def test_many_corrected_errors_are_worth_a_line_and_a_high_old_count_is_not() -> None:
    old = shown(always({ECC_VOLATILE_CORRECTED: 10**6}), range(60))
    new = shown(lambda second: one({ECC_VOLATILE_CORRECTED: 10**6 + 2 * second}), range(60))

    assert old == []
    assert told(new) == [("ecc.corrected", Stage.OBSERVATION)]


def test_pages_that_become_more_while_one_watches_are_an_alarm() -> None:
    found = shown(lambda second: one({RETIRED_PAGES_SINGLE: 2, RETIRED_PAGES_DOUBLE: 16 + second // 30}), range(60))

    assert told(found) == [("retired.many", Stage.ALARM)]


# --- state -----------------------------------------------------------------------------------------------------------
def test_a_lost_gpu_is_an_alarm_at_once_and_its_absent_values_are_no_findings() -> None:
    found = shown(always({}, state=GpuState.LOST, metrics={}, missing={}))

    assert told(found) == [("gpu.lost", Stage.ALARM)]


def test_a_lost_gpu_is_lost_until_it_is_back_also_when_the_driver_no_longer_lists_it() -> None:
    def made_at(second: int) -> Frame:
        if second < 20:
            return frame((gpu(0), gpu(1)))
        if second < 50:
            return frame((gpu(0), gpu(1, state=GpuState.LOST)))
        return frame((gpu(0),)) if second < 4000 else frame((gpu(0), gpu(1)))

    assert told(shown(made_at, range(3000))) == [("gpu.lost", Stage.ALARM)]
    assert shown(made_at, [*range(3000), *range(4000, 4020)]) == []


def test_a_gpu_that_vanishes_from_the_list_between_two_samples_is_no_longer_missed() -> None:
    def made_at(second: int) -> Frame:
        return frame((gpu(0),)) if 20 <= second < 600 else frame((gpu(0), gpu(1)))

    assert shown(made_at, range(45)) == []
    assert [code for code, _ in told(shown(made_at, range(500)))] == ["gpu.lost"]
    assert shown(made_at, range(620)) == []


def test_a_driver_that_lists_no_gpu_at_all_has_lost_them() -> None:
    def made_at(second: int) -> Frame:
        return frame((gpu(0), gpu(1)) if second < 20 else ())

    assert shown(made_at, range(200)) == []


def test_a_gpu_that_is_lost_and_comes_back_leaves_nothing_behind() -> None:
    def made_at(second: int) -> Frame:
        if 10 <= second < 20:
            return one({}, state=GpuState.LOST, metrics={}, missing={})
        before = second < 10
        return one(LINK | {PCIE_REPLAYS: 10**6 if before else 0, ECC_VOLATILE_CORRECTED: 0 if before else 10**6})

    assert shown(made_at, range(60)) == []


def test_silence_is_a_suspect_and_after_ten_seconds_an_alarm() -> None:
    found = watch(judge_of("hardware"), range(10), always({}, state=GpuState.HUNG, metrics={}, missing={}))

    assert [now[0].stage for now in found] == [Stage.SUSPECT] * 7 + [Stage.ALARM] * 3


def test_a_clock_that_jumps_does_not_lengthen_the_silence() -> None:
    found = shown(always({}, state=GpuState.HUNG, metrics={}, missing={}), (0, 1, 90_000, 90_001))

    assert told(found) == [("gpu.hung", Stage.SUSPECT)]


def test_a_driver_that_never_answered_is_told() -> None:
    silent = frame((), driver=DriverInfo(missing=dict.fromkeys(("version", "cuda_version"), Missing.HUNG)))

    assert told(shown(lambda _: silent, range(8))) == [("driver.hung", Stage.ALARM)]


def test_what_is_wrong_with_the_reading_is_a_finding() -> None:
    late = frame(1, problems=("/proc has not answered for 12s: processes are shown as they were",))
    (found,) = shown(lambda _: late)

    assert (found.code, found.stage) == ("reading.incomplete", Stage.SUSPECT)
    assert "12s" in found.summary


# --- Xids ------------------------------------------------------------------------------------------------------------
def xids(*numbers: int, since: int = 0) -> Callable[[int], Frame]:
    """Return a GPU whose driver reports one error a second from a second on."""

    def made_at(second: int) -> Frame:
        held = [XidEvent(time_s=NOW + since + n, xid=xid) for n, xid in enumerate(numbers) if since + n <= second]
        return one({}, xids=tuple(held))

    return made_at


@pytest.mark.parametrize(
    ("xid", "code", "stage"),
    [
        (79, "xid.grave", Stage.ALARM),
        (48, "xid.grave", Stage.ALARM),
        (31, "xid.application", Stage.SUSPECT),
        (63, "xid.note", Stage.OBSERVATION),
        (45, "xid.note", Stage.OBSERVATION),
        (9999, "xid.note", Stage.OBSERVATION),
    ],
)
def test_an_xid_has_the_gravity_of_its_row(xid: int, code: str, stage: Stage) -> None:
    (found,) = shown(xids(xid), range(5))

    assert (found.code, found.stage) == (code, stage)
    assert f"Xid {xid}" in found.summary
    assert found.remedy


def test_the_remedy_names_the_gpu() -> None:
    assert "--gpu-reset -i 0" in shown(xids(48))[0].remedy


def test_the_xid_that_follows_every_other_is_not_told_beside_it() -> None:
    assert [finding.code for finding in shown(xids(31, 45), range(5))] == ["xid.application"]


def test_several_errors_are_one_finding_with_a_count_each() -> None:
    (found,) = shown(xids(13, 31, 31), range(10))

    assert found.summary.startswith("Xid 31 (7s ago, 3 errors in 9s): ")
    assert {entry.name: entry.value for entry in found.evidence} == {"xid_13": 1, "xid_31": 2}


def test_an_xid_of_an_application_is_forgotten_sooner_than_a_grave_one() -> None:
    both = xids(31, 79)

    assert {finding.code for finding in shown(both, range(0, 700, 2))} == {"xid.grave"}


def test_an_xid_is_as_old_as_its_sight_and_not_as_the_clock_says() -> None:
    assert [finding.code for finding in shown(xids(31), (0, 1, 90_000, 90_001))] == ["xid.application"]


# --- links -----------------------------------------------------------------------------------------------------------
NARROW: Values = LINK | {PCIE_WIDTH: 8}
SLOW: Values = LINK | {PCIE_GENERATION: 1}


@pytest.mark.parametrize(("values", "words"), [(NARROW, "8 of 16 lanes"), (SLOW, "PCIe generation 1 of 5")])
def test_a_link_below_its_best_counts_after_a_busy_minute(values: Values, words: str) -> None:
    before = shown(always(values), range(60))
    (found,) = shown(always(values), range(62))

    assert before == []
    assert (found.code, found.stage) == ("pcie.link", Stage.SUSPECT)
    assert f"slow PCIe link: {words} for 1m" in found.summary
    assert [(one.name, one.normal) for one in found.evidence] == [("pcie_width", 16), ("pcie_generation", 5)]


@pytest.mark.parametrize("idle", [{GPU_UTILIZATION: 3}, {PSTATE: 8}, {GPU_UTILIZATION: Missing.UNSUPPORTED}])
def test_a_link_is_never_judged_while_the_gpu_is_idle(idle: Values) -> None:
    assert shown(always(SLOW | idle), range(300)) == []


def test_a_link_that_wakes_up_within_a_minute_is_well() -> None:
    assert shown(lambda second: one(SLOW if second % 60 < 35 else LINK), range(600)) == []


def test_minutes_that_nobody_watched_do_not_count_for_a_link() -> None:
    assert shown(always(SLOW), [*range(40), *range(900, 920)]) == []


def test_a_box_that_is_read_every_five_seconds_counts_seconds_and_not_looks() -> None:
    assert [finding.code for finding in shown(always(SLOW), range(0, 66, 5))] == ["pcie.link"]


def test_replays_count_by_lanes_and_generation() -> None:
    def growing(a_minute: int) -> Callable[[int], Frame]:
        return lambda second: one(LINK | {PCIE_REPLAYS: 1000 + a_minute * second // 60})

    assert shown(growing(30), range(130)) == []
    assert told(shown(growing(34), range(130))) == [("pcie.replays", Stage.SUSPECT)]


def test_a_counter_that_goes_back_starts_again() -> None:
    reset = shown(lambda second: one(LINK | {PCIE_REPLAYS: 10**9 if second % 50 < 25 else 0}), range(300))

    assert reset == []


def test_replays_from_before_a_gap_are_nobodys() -> None:
    found = shown(
        lambda second: one(LINK | {PCIE_REPLAYS: 0 if second < 100 else 10**6}), [*range(90), *range(4000, 4100)]
    )

    assert found == []


def test_a_replay_of_nvlink_a_minute_is_an_alarm_and_many_crc_errors_are_a_suspect() -> None:
    links: Values = {NVLINK_REPLAYS: 0, NVLINK_RECOVERIES: 0, NVLINK_CRC: 0}
    replays = shown(lambda second: one(links | {NVLINK_REPLAYS: second // 30}), range(130))
    crc = shown(lambda second: one(links | {NVLINK_CRC: 150 * second}), range(130))

    assert told(replays) == [("nvlink.errors", Stage.ALARM)]
    assert told(crc) == [("nvlink.errors", Stage.SUSPECT)]


def test_one_old_replay_of_nvlink_is_none() -> None:
    assert shown(always({NVLINK_REPLAYS: 1, NVLINK_RECOVERIES: 4, NVLINK_CRC: 10**6}), range(130)) == []


def pair(first: int, second: int) -> Frame:
    return frame(tuple(gpu(n, {NVLINK_LINKS: 18, NVLINK_LINKS_DOWN: down}) for n, down in enumerate((first, second))))


def test_a_link_that_its_sibling_has_is_down_and_boards_without_a_bridge_are_well() -> None:
    (found,) = shown(lambda _: pair(0, 1))

    assert (found.code, found.stage, found.subject.label) == ("nvlink.down", Stage.SUSPECT, "GPU 1")
    assert shown(lambda _: pair(18, 18)) == []


def test_a_link_that_goes_down_while_one_watches_is_an_alarm_even_without_siblings() -> None:
    found = shown(lambda second: one({NVLINK_LINKS: 18, NVLINK_LINKS_DOWN: int(second > 5)}), range(10))

    assert told(found) == [("nvlink.down", Stage.ALARM)]


# --- coming and going ------------------------------------------------------------------------------------------------
def test_a_gpu_that_goes_away_and_comes_back_later_starts_anew() -> None:
    def made_at(second: int) -> Frame:
        replays = 0 if second < 100 else 10**6
        return frame(() if 100 <= second < 200 else (gpu(0, LINK | {PCIE_REPLAYS: replays}),), processes=())

    assert shown(made_at, range(400)) == []


def test_a_snapshot_that_is_taken_once_tells_what_can_be_known() -> None:
    sick = one({ECC_VOLATILE_UNCORRECTED: 1})

    assert [found.code for found in judge_of("hardware").judge(at(sick, 0), ())] == ["ecc.uncorrected"]
