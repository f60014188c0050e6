"""Curves and their integrals agree, and a delayed sensor shows what it must."""

import pytest

from gputop.simulator.curve import Curve, Pulse, Ramp, Wave, noise

CURVES = [
    Curve(3.0),
    Curve(3.0, (Wave(2.0, 7.0, 1.0),)),
    Curve(0.5, (Pulse(4.0, 1.5, 6.0, 2.0),)),
    Curve(5.0, (Pulse(-4.0, 1.5, 6.0, 2.0), Ramp(2.0, 5.0, 1.0))),
    Curve(9.0, noise(4.0, 3)),
]


@pytest.mark.parametrize("curve", CURVES)
def test_the_mean_is_the_mean_of_the_values(curve: Curve) -> None:
    start, end, steps = 1000.3, 1013.9, 20_000
    width = (end - start) / steps
    summed = sum(curve.at(start + (n + 0.5) * width) for n in range(steps)) * width

    assert curve.mean(start, end) * (end - start) == pytest.approx(summed, rel=1e-3)


@pytest.mark.parametrize("curve", CURVES[:3])
def test_a_delayed_sensor_follows_its_differential_equation(curve: Curve) -> None:
    lag_s, step_s = 3.0, 0.001
    slow = curve.lagged(500.0, lag_s)
    for n in range(20_000):
        slow += (curve.at(500.0 + n * step_s) - slow) * step_s / lag_s

    assert curve.lagged(520.0, lag_s) == pytest.approx(slow, rel=0.01)


def test_noise_stays_within_its_amplitude() -> None:
    curve = Curve(0.0, noise(2.0, 5))

    assert all(-2.0 <= curve.at(n * 0.37) <= 2.0 for n in range(2000))


def test_a_scaled_sum_is_the_sum_of_the_scaled() -> None:
    one, other = CURVES[1], CURVES[2]

    assert ((one + other) * 0.5).at(77.7) == pytest.approx(one.at(77.7) / 2 + other.at(77.7) / 2)
