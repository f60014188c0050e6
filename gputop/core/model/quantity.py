"""Quantities that people write, in base units: 10GiB, 5%, 1h30m."""

import re
from math import isfinite
from typing import Final

from gputop.core.model.metric import Unit

_NUMBER: Final = r"(\d+(?:\.\d*)?(?:e[+-]?\d+)?|\.\d+)"
_SIGNED: Final = re.compile(rf"([+-]?){_NUMBER}([a-z%]*)", re.ASCII | re.IGNORECASE)
_SPAN: Final = re.compile(r"(?:\d+(?:\.\d+)?[a-z]+)+", re.ASCII | re.IGNORECASE)
_PART: Final = re.compile(r"(\d+(?:\.\d+)?)([a-z]+)", re.ASCII | re.IGNORECASE)
_LETTERS: Final = "kmgtp"
_BYTES: Final = (
    {"": 1.0, "b": 1.0}
    | {letter: 1024.0**power for power, letter in enumerate(_LETTERS, 1)}
    | {f"{letter}ib": 1024.0**power for power, letter in enumerate(_LETTERS, 1)}
    | {f"{letter}b": 1000.0**power for power, letter in enumerate(_LETTERS, 1)}
)
_SECONDS: Final = {"": 1.0, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86_400.0, "w": 604_800.0}
_JOULES: Final = {"": 1.0, "j": 1.0, "kj": 1000.0, "wh": 3600.0, "kwh": 3.6e6}
_FACTORS: Final = {
    Unit.BYTES: _BYTES, Unit.SECONDS: _SECONDS, Unit.PERCENT: {"": 1.0, "%": 1.0}, Unit.JOULES: _JOULES,
}  # fmt: skip
_EXPECTED: Final = {
    Unit.BYTES: "a size: 512MiB, 10G (KiB MiB GiB TiB and K M G T are powers of 1024, KB MB GB TB of 1000)",
    Unit.SECONDS: "a time: 90s, 5m, 2h, 1h30m, 3d",
    Unit.PERCENT: "a percentage: 5, 99.5, 5%",
    Unit.JOULES: "an energy: 500J, 2Wh, 1.5kWh",
}


def quantity(text: str, unit: Unit) -> float | None:
    """Return the number in base units; None if the text is not a finite number in this unit."""
    factors = _FACTORS.get(unit, {"": 1.0})
    found = _SIGNED.fullmatch(text)
    if found is None:
        return _span(text) if unit is Unit.SECONDS else None
    sign, number, suffix = found.groups()
    factor = factors.get(suffix.lower())
    if factor is None:
        return None
    value = float(number) * factor
    return None if not isfinite(value) else -value if sign == "-" else value


def expected(unit: Unit) -> str:
    """Return how to write a number in this unit."""
    return _EXPECTED.get(unit, "a number")


def _span(text: str) -> float | None:
    """Return the seconds of 1h30m."""
    if not _SPAN.fullmatch(text):
        return None
    parts = [(float(number), _SECONDS.get(suffix.lower())) for number, suffix in _PART.findall(text)]
    if any(factor is None for _, factor in parts):
        return None
    total = sum(number * (factor or 0) for number, factor in parts)
    return total if isfinite(total) else None
