"""Memory nearly full, temperature near the board's own limit."""

from typing import Any

import pytest
from examples import GIB, frame, gpu
from looks import judge_of, watch

from gputop.core.finding import Finding, Stage
from gputop.core.metric import Metric, Missing
from gputop.core.metrics import MEMORY_USED, TEMPERATURE, TEMPERATURE_MARGIN, TEMPERATURE_SLOWDOWN


def found(values: dict[Metric[Any], Any], **dials: dict[str, float]) -> tuple[Finding, ...]:
    return watch(judge_of("pressure", **dials), [0], lambda _: frame((gpu(0, values),)))[0]


@pytest.mark.parametrize(("used", "stage"), [(40, None), (75, Stage.OBSERVATION), (79, Stage.SUSPECT)])
def test_memory_is_worth_a_line_above_90_percent_and_a_look_above_97(used: int, stage: Stage | None) -> None:
    assert [one.stage for one in found({MEMORY_USED: used * GIB})] == ([stage] if stage else [])


def test_a_threshold_can_be_set() -> None:
    assert found({MEMORY_USED: 41 * GIB}, pressure={"memory_percent": 50.0})[0].code == "memory.full"


def test_the_margin_that_the_board_reports_wins_over_its_threshold() -> None:
    near = {TEMPERATURE: 60, TEMPERATURE_SLOWDOWN: 89, TEMPERATURE_MARGIN: 3}

    assert [(one.code, one.stage) for one in found(near)] == [("temperature.gpu", Stage.SUSPECT)]


def test_at_the_limit_is_an_alarm() -> None:
    assert found({TEMPERATURE: 90})[0].stage is Stage.ALARM


def test_without_a_limit_nothing_is_said() -> None:
    assert found({TEMPERATURE: 95, TEMPERATURE_SLOWDOWN: Missing.UNSUPPORTED}) == ()
