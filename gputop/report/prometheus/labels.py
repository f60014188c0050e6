"""Labels and numbers in Prometheus' text format 0.0.4. Values of labels come from outside: they are escaped."""

from collections.abc import Iterable
from typing import Final, TypeAlias

from gputop.core.text.text import excerpt

Labels: TypeAlias = tuple[tuple[str, str], ...]
Number: TypeAlias = bool | int | float

_MOST: Final = 128  # characters of a value
_ESCAPES: Final = str.maketrans({"\\": r"\\", '"': r"\"", "\n": r"\n"})


def rendered(labels: Iterable[tuple[str, str]]) -> str:
    """Return ``gpu="0",uuid="GPU-1"``. A label without a value is left out: it means the same to Prometheus."""
    return ",".join(f'{name}="{escaped(value)}"' for name, value in labels if value)


def escaped(value: str) -> str:
    """Return a value of a label as one clean line of bounded length, escaped."""
    return excerpt(value, _MOST).translate(_ESCAPES)


def number(value: Number) -> str:
    """Return a number as Prometheus reads it."""
    if isinstance(value, bool):
        return "1" if value else "0"
    if isinstance(value, int):
        return str(value)
    if value != value:  # noqa: PLR0124 - NaN differs from itself
        return "NaN"
    if value in (float("inf"), float("-inf")):
        return "+Inf" if value > 0 else "-Inf"
    return repr(value)
