"""How cost grows: the exponent says whether by more than what it depends on."""

import pytest
from growth import Curve, Point


def curve(*costs: float) -> Curve:
    return Curve("processes", "ms", [Point(str(2**n), 2.0**n, cost) for n, cost in enumerate(costs)])


@pytest.mark.parametrize(
    ("costs", "exponent"),
    [((5.0, 5.0, 5.0), 0.0), ((1.0, 2.0, 4.0), 1.0), ((1.0, 4.0, 16.0), 2.0), ((3.0, 3.0, 6.0), 1.0)],
)
def test_the_exponent_is_that_of_the_last_step(costs: tuple[float, ...], exponent: float) -> None:
    assert curve(*costs).exponent == pytest.approx(exponent)


@pytest.mark.parametrize("costs", [(), (1.0,), (0.0, 1.0)])
def test_too_little_is_known_for_an_exponent(costs: tuple[float, ...]) -> None:
    assert curve(*costs).exponent is None
