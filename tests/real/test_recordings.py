"""No false alarm on recordings of real boards; they are read from the folder that GPUTOP_REAL_DATA names."""

import os
from collections import Counter
from pathlib import Path

import pytest
from judging import judge_of
from real.recordings import Recording

from gputop.core.model.finding import Stage

FOLDER = os.environ.get("GPUTOP_REAL_DATA")
PATHS = sorted(Path(FOLDER, "traces").glob("*.csv.xz")) if FOLDER else []

pytestmark = pytest.mark.skipif(not PATHS, reason="GPUTOP_REAL_DATA names no folder with recordings")


@pytest.mark.parametrize("has_cpu", [False, True])
@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.name.split(".")[0])
def test_a_real_load_raises_no_alarm_and_no_suspect(*, path: Path, has_cpu: bool) -> None:
    judge = judge_of()
    claims = Counter(
        (finding.code, finding.stage.name)
        for sample, jobs in Recording(path).samples(has_cpu=has_cpu)
        for finding in judge.judge(sample, jobs)
        if finding.stage is not Stage.OBSERVATION
    )

    assert claims == {}
