"""Dials as a struct of limits."""

from collections.abc import Mapping
from typing import TypeVar

from msgspec import Struct

T = TypeVar("T", bound=Struct)


def limits_from(kind: type[T], dials: Mapping[str, float], **given: object) -> T:
    """Build a struct of limits: a field takes the dial of its name, or that in percent as a share of 1.

    ``given``: the fields that are not a dial.
    """
    for name in kind.__struct_fields__:
        if name not in given:
            given[name] = dials[name] if name in dials else dials[f"{name}_percent"] / 100
    return kind(**given)
