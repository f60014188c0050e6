"""Quantities as text of a stable width: units of a fixed width, at most four significant digits."""

from math import isnan

from gputop.core.model.metric import Unit

NOTHING = "–"
_BINARY = ("B", "KiB", "MiB", "GiB", "TiB", "PiB")
_MINUTE, _HOUR, _DAY = 60, 3600, 86_400


def bytes_text(value: float | None) -> str:
    """Return 3.2GiB, 512MiB: at most three digits before the unit."""
    if value is None:
        return NOTHING
    power, number = 0, float(value)
    while abs(number) >= 999.5 and power < len(_BINARY) - 1:
        number, power = number / 1024, power + 1
    digits = 0 if power == 0 or number >= 99.95 else 1
    return f"{number:.{digits}f}{_BINARY[power]}"


def rate_text(value: float | None) -> str:
    """Return 3.2GiB/s."""
    return NOTHING if value is None else bytes_text(value) + "/s"


def duration_text(seconds: float | None) -> str:
    """Return 12s, 3m07, 1h07, 2d03h."""
    if seconds is None:
        return NOTHING
    whole = max(0, int(seconds))
    if whole < _MINUTE:
        return f"{whole}s"
    if whole < _HOUR:
        return f"{whole // _MINUTE}m{whole % _MINUTE:02d}"
    if whole < _DAY:
        return f"{whole // _HOUR}h{whole % _HOUR // _MINUTE:02d}"
    return f"{whole // _DAY}d{whole % _DAY // _HOUR:02d}h"


def percent_text(value: float | None) -> str:
    """Return 87%."""
    return NOTHING if value is None else f"{value:.0f}%"


def number_text(value: float | None) -> str:
    """Return a plain number without a fraction."""
    return NOTHING if value is None else f"{value:.0f}"


def share(used: float | None, total: float | None) -> float | None:
    """Return the percentage of the total; None if either is unknown or the total is 0."""
    return None if used is None or not total else used * 100 / total


def value_text(value: object, unit: Unit) -> str:
    """Return the value of a metric with its unit; a dash if it is missing."""
    match value:
        case None:
            return NOTHING
        case bool():
            return "on" if value else "off"
        case tuple():
            return ", ".join(str(item) for item in value) or "none"
        case int() | float() if not isnan(value):
            return _number_with_unit(value, unit)
        case float():
            return NOTHING
        case _:
            return str(value)


def _number_with_unit(value: float, unit: Unit) -> str:
    match unit:
        case Unit.BYTES:
            return bytes_text(value)
        case Unit.BYTES_PER_S:
            return rate_text(value)
        case Unit.SECONDS:
            return duration_text(value)
        case Unit.HERTZ:
            return f"{value / 1e6:.0f}MHz"
        case Unit.JOULES:
            return f"{value / 3.6e6:.2f}kWh" if value >= 36_000 else f"{value:.0f}J"
        case _:
            return f"{value:.0f}{unit.sign}"
