"""Ceilings for heat and power: what is above them, and what cannot be told."""

import pytest
from examples import gpu

from gputop.core.model.catalogue import POWER_AVERAGE, TEMPERATURE
from gputop.core.model.metric import Missing
from gputop.core.probing.limits import Ceiling

WARM = gpu(values={TEMPERATURE: 84, POWER_AVERAGE: 412.0})


@pytest.mark.parametrize(
    ("ceiling", "code"),
    [
        (Ceiling(), None), (Ceiling(temperature_c=84, power_w=412), None), (Ceiling(power_w=411), "guard.power"),
        (Ceiling(temperature_c=83.5), "guard.temperature"),
        (Ceiling(temperature_c=80, power_w=400), "guard.temperature"),
    ],
)  # fmt: skip
def test_what_is_above_its_ceiling_is_told_and_what_reaches_it_is_not(ceiling: Ceiling, code: str | None) -> None:
    found = ceiling.over(WARM)

    assert (found[0] if found else None) == code


def test_it_is_told_with_both_figures() -> None:
    found = Ceiling(temperature_c=80).over(WARM)

    assert found is not None
    assert found[1] == "temperature 84 °C exceeds the limit of 80 °C"


def test_a_reading_that_is_missing_is_below_no_ceiling_and_its_reason_is_told() -> None:
    silent = gpu(values={TEMPERATURE: Missing.UNSUPPORTED})
    ceiling = Ceiling(temperature_c=80)

    assert ceiling.over(silent) is None
    assert ceiling.unenforceable(silent) == "cannot enforce the temperature limit: " + Missing.UNSUPPORTED.text
    assert Ceiling().unenforceable(silent) == ceiling.unenforceable(WARM) == ""


def test_a_gpu_that_is_above_its_ceiling_before_any_load_is_not_loaded() -> None:
    assert Ceiling(temperature_c=80).against(WARM) == "temperature 84 °C exceeds the limit of 80 °C before any load"
    assert Ceiling(temperature_c=90).against(WARM) == ""
    assert "cannot enforce" in Ceiling(power_w=90).against(gpu(values={POWER_AVERAGE: Missing.FORBIDDEN}))
