"""Trouble on real noise is found, and soon: recordings of boards with a hang or a leak put into them."""

import os
from pathlib import Path

import pytest
from real.injected import hung, leaking, mean_utilization, shown, steady_part, waits
from real.recordings import Recording

from gputop.core.model.finding import Stage

FOLDER = os.environ.get("GPUTOP_REAL_DATA")
TRACES = Path(FOLDER, "traces") if FOLDER else Path()
PATHS = sorted(TRACES.glob("*.csv.xz")) if FOLDER else []
BEGINS_S = 300
MOST_S = {  # from the hang to the alarm
    "h100-t2_telemetry": 320, "h100-t3_telemetry": 320, "h100-train-ckpt100": 320, "h100-train-ckpt1000": 320,
    "h100-train-ckpt10": 620,  # its ranks wait for a checkpoint after every step: a longer wait is usual
}  # fmt: skip
SLOWEST_MIB_PER_MIN = 41.0  # a server that was full after a day
LEAK_S = 900

pytestmark = pytest.mark.skipif(not PATHS, reason="GPUTOP_REAL_DATA names no folder with recordings")


def _name(path: Path) -> str:
    return path.name.split(".")[0]


@pytest.mark.parametrize("name", MOST_S)
def test_a_hang_at_measured_levels_is_no_alarm_in_time(name: str) -> None:
    recording = Recording(TRACES / f"{name}.csv.xz")
    waiting = waits(Recording(TRACES / "h100-train-ckpt10.csv.xz"))
    seconds = hung(steady_part(recording), waiting, BEGINS_S, BEGINS_S + MOST_S[name] + 20, out=3)

    alarm_s = shown(recording, seconds, "stuck.collective", Stage.ALARM)

    assert alarm_s is not None
    assert BEGINS_S < alarm_s <= BEGINS_S + MOST_S[name]


@pytest.mark.parametrize("path", PATHS, ids=_name)
def test_a_leak_of_a_measured_rate_on_a_board_that_works_is_not_found(path: Path) -> None:
    recording = Recording(path)
    part = steady_part(recording)
    if mean_utilization(part, 0) < 1:
        pytest.skip("the board does not work: growth on it looks like loading")

    found_s = shown(recording, leaking(part, 0, SLOWEST_MIB_PER_MIN, LEAK_S), "leak.process", Stage.SUSPECT)

    assert found_s is not None
