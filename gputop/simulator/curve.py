"""Curves over time with exact integrals, so that a gauge and its counter always agree.

A curve is a level plus waves, pulses and ramps. All times are seconds since the boot of the simulated box.
"""

from math import atan, cos, exp, floor, inf, pi, sin, sqrt

from msgspec import Struct
from msgspec.structs import replace

_NOISE_PERIODS = (2.3, 3.7, 6.1, 11.9)
_NOISE_PARTS = (0.3, 0.3, 0.25, 0.15)  # the sum is 1, so that noise never exceeds its amplitude
_GOLDEN = 0.618033988749895


class Wave(Struct, frozen=True):
    """A sine around 0."""

    height: float
    period_s: float
    phase_s: float = 0.0

    def at(self, time_s: float) -> float:
        """Return the value."""
        return self.height * sin(2 * pi * (time_s - self.phase_s) / self.period_s)

    def integral(self, time_s: float) -> float:
        """Return the integral up to ``time_s``, from a fixed instant."""
        turns = 2 * pi / self.period_s
        return -self.height / turns * cos(turns * (time_s - self.phase_s))

    def lagged(self, time_s: float, lag_s: float) -> float:
        """Return the value behind a first-order delay."""
        slowness = 2 * pi * lag_s / self.period_s
        return self.at(time_s - atan(slowness) * self.period_s / (2 * pi)) / sqrt(1 + slowness**2)


class Pulse(Struct, frozen=True):
    """``height`` for ``width_s`` in every period, else 0."""

    height: float
    width_s: float
    period_s: float
    phase_s: float = 0.0

    def at(self, time_s: float) -> float:
        """Return the value."""
        return self.height if (time_s - self.phase_s) % self.period_s < self.width_s else 0.0

    def integral(self, time_s: float) -> float:
        """Return the integral up to ``time_s``, from a fixed instant."""
        periods = floor((time_s - self.phase_s) / self.period_s)
        into = (time_s - self.phase_s) - periods * self.period_s
        return self.height * (periods * self.width_s + min(into, self.width_s))

    def lagged(self, time_s: float, lag_s: float) -> float:
        """Return the value behind a first-order delay."""
        rise, fall = exp(-self.width_s / lag_s), exp(-(self.period_s - self.width_s) / lag_s)
        lowest = fall * (1 - rise) / (1 - fall * rise)
        into = (time_s - self.phase_s) % self.period_s
        if into < self.width_s:
            return self.height * (1 - (1 - lowest) * exp(-into / lag_s))
        highest = 1 - (1 - lowest) * rise
        return self.height * highest * exp(-(into - self.width_s) / lag_s)


class Ramp(Struct, frozen=True):
    """Grows from 0 to ``height`` in every period, then falls back."""

    height: float
    period_s: float
    phase_s: float = 0.0

    def at(self, time_s: float) -> float:
        """Return the value."""
        return self.height * ((time_s - self.phase_s) % self.period_s) / self.period_s

    def integral(self, time_s: float) -> float:
        """Return the integral up to ``time_s``, from a fixed instant."""
        periods, into = divmod(time_s - self.phase_s, self.period_s)
        return self.height * (periods * self.period_s + into**2 / self.period_s) / 2

    def lagged(self, time_s: float, lag_s: float) -> float:
        """Return the value ``lag_s`` ago: exact enough for ramps that take much longer."""
        return self.at(time_s - lag_s)


class Stretch(Struct, frozen=True):
    """A curve from one instant until another; 0 before and after."""

    curve: "Curve"
    start_s: float = -inf
    end_s: float = inf

    def at(self, time_s: float) -> float:
        """Return the value."""
        return self.curve.at(time_s) if self.start_s <= time_s < self.end_s else 0.0

    def integral(self, time_s: float) -> float:
        """Return the integral up to ``time_s``, from ``start_s`` if there is one."""
        before = 0.0 if self.start_s == -inf else self.curve.integral(self.start_s)
        return self.curve.integral(min(max(time_s, self.start_s), self.end_s)) - before

    def lagged(self, time_s: float, lag_s: float) -> float:
        """Return the value behind a first-order delay: it rises from 0 at the start and decays after the end."""
        if time_s < self.start_s:
            return 0.0
        until_s = min(time_s, self.end_s)
        missed = 0.0 if self.start_s == -inf else self.curve.lagged(self.start_s, lag_s)
        risen = self.curve.lagged(until_s, lag_s) - missed * exp((self.start_s - until_s) / lag_s)
        return risen * exp((until_s - time_s) / lag_s)


class Curve(Struct, frozen=True):
    """A level plus its variations."""

    level: float = 0.0
    parts: tuple[Wave | Pulse | Ramp | Stretch, ...] = ()

    def __add__(self, other: "Curve") -> "Curve":
        return Curve(self.level + other.level, self.parts + other.parts)

    def __mul__(self, factor: float) -> "Curve":
        return Curve(self.level * factor, tuple(_scaled(part, factor) for part in self.parts) if factor else ())

    def until(self, end_s: float) -> "Curve":
        """Return this curve up to an instant, and 0 after it."""
        return self if self == ZERO else Curve(0.0, (Stretch(self, end_s=end_s),))

    def since(self, start_s: float) -> "Curve":
        """Return 0 up to an instant, and this curve after it."""
        return self if self == ZERO else Curve(0.0, (Stretch(self, start_s=start_s),))

    def at(self, time_s: float) -> float:
        """Return the value at an instant."""
        return self.level + sum(part.at(time_s) for part in self.parts)

    def integral(self, time_s: float) -> float:
        """Return the integral up to ``time_s``, from a fixed instant."""
        return self.level * time_s + sum(part.integral(time_s) for part in self.parts)

    def mean(self, start_s: float, end_s: float) -> float:
        """Return the mean between two instants; the value itself if they are equal."""
        if not self.parts:
            return self.level
        if end_s - start_s < 1e-3:
            return self.at(end_s)
        return (self.integral(end_s) - self.integral(start_s)) / (end_s - start_s)

    def lagged(self, time_s: float, lag_s: float) -> float:
        """Return the output of a sensor with a first-order delay that has always followed this curve."""
        return self.level + sum(part.lagged(time_s, lag_s) for part in self.parts)


ZERO = Curve()


def total(*curves: Curve) -> Curve:
    """Return the sum of curves."""
    return Curve(sum(c.level for c in curves), tuple(part for c in curves for part in c.parts))


def spread(number: int) -> float:
    """Return a number in 0-1 that differs for each ``number``, and as much as possible from its neighbours'."""
    return number * _GOLDEN % 1


def noise(amplitude: float, seed: int = 0) -> tuple[Wave, ...]:
    """Return waves that look random at 1 Hz, within ± ``amplitude``."""
    return tuple(
        Wave(amplitude * part, period * (1 + 0.1 * spread(seed)), period * spread(seed * 7 + n))
        for n, (period, part) in enumerate(zip(_NOISE_PERIODS, _NOISE_PARTS, strict=True))
    )


def _scaled(part: Wave | Pulse | Ramp | Stretch, factor: float) -> Wave | Pulse | Ramp | Stretch:
    if isinstance(part, Stretch):
        return replace(part, curve=part.curve * factor)
    return replace(part, height=part.height * factor)
