"""Labels and numbers in Prometheus' text format 0.0.4. Values of labels come from outside: they are escaped."""

from functools import lru_cache
from typing import Final, TypeAlias

from msgspec.json import Encoder

from gputop.core.text.text import excerpt

Labels: TypeAlias = tuple[tuple[str, str], ...]
Number: TypeAlias = bool | int | float

_MOST: Final = 320  # characters of a value: a namespace and a pod of Kubernetes have 317
_float: Final = Encoder().encode  # the shortest exact number, in half the time of repr
_ESCAPES: Final = str.maketrans({"\\": r"\\", '"': r"\"", "\n": r"\n"})


@lru_cache(8192)  # the same labels return with every scrape
def rendered(labels: Labels) -> str:
    """Return ``gpu="0",uuid="GPU-1"``. A label without a value is left out: it means the same to Prometheus."""
    return ",".join([f'{name}="{_escaped(value)}"' for name, value in labels if value])


def number(value: Number) -> str:
    """Return a number as Prometheus reads it."""
    kind = type(value)  # quicker than isinstance
    if kind is int:
        return str(value)
    if kind is bool:
        return "1" if value else "0"
    if value - value == 0:  # neither infinite nor NaN
        return _float(value).decode()
    return "+Inf" if value > 0 else "-Inf" if value < 0 else "NaN"


def _escaped(value: str) -> str:
    """Return a value of a label as one clean line of bounded length, escaped."""
    return excerpt(value, _MOST).translate(_ESCAPES)
