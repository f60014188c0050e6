"""No false alarm on recordings of real boards; they are read from the folder that GPUTOP_REAL_DATA names."""

import os
from collections import Counter
from pathlib import Path
from typing import Final

import pytest
from judging import judge_of
from real.recordings import Recording

from gputop.core.model.finding import Stage

FOLDER = os.environ.get("GPUTOP_REAL_DATA")
PATHS = sorted(Path(FOLDER, "traces").glob("*.csv.xz")) if FOLDER else []
LEAST_HOURS: Final = 9.5  # of a GPU, in all recordings
MOST_HINTS: Final = 15.0  # in 24 GPU-hours
FACTS: Final = {"bound.compute", "bound.memory", "bound.communication"}  # no trouble
HINTS: Final = {  # the observations of trouble that a recording has; no other has any
    "h100-e2_telemetry": {"bound.input"},
    "h100-train-ckpt10": {"stuck.collective"},  # its ranks wait for a checkpoint after every step
    "titanx-2gpu_2025-12-05-02-37-06": {"bound.input"},
    "titanx-2gpu_with_burn_2025-12-03-22-47-14": {"stuck.kernel"},
    "titanx-2gpu_with_burn_2025-12-05-02-59-43": {"bound.input"},
}

pytestmark = pytest.mark.skipif(not PATHS, reason="GPUTOP_REAL_DATA names no folder with recordings")


def _name(path: Path) -> str:
    return path.name.split(".")[0]


@pytest.mark.parametrize("has_cpu", [False, True])
@pytest.mark.parametrize("path", PATHS, ids=_name)
def test_a_real_load_raises_an_alarm_a_suspect_or_a_new_hint(*, path: Path, has_cpu: bool) -> None:
    judge = judge_of()
    said = Counter(
        (finding.code, finding.stage)
        for sample, jobs in Recording(path).samples(has_cpu=has_cpu)
        for finding in judge.judge(sample, jobs)
    )
    claims = {(code, stage.name): count for (code, stage), count in said.items() if stage is not Stage.OBSERVATION}

    assert claims == {}
    assert {code for code, _ in said} - FACTS <= HINTS.get(_name(path), set())


def test_the_recordings_are_too_short_or_hints_too_frequent() -> None:
    hours = sum(Recording(path).hours for path in PATHS)

    assert hours >= LEAST_HOURS
    assert 24 * sum(map(len, HINTS.values())) / hours <= MOST_HINTS
