"""Expected figures of GPUs by name: a table with a source and a confidence for each, and what a PCIe link carries."""

import re
from collections.abc import Mapping
from typing import Final

from msgspec import Struct, ValidationError, convert

MEASURED: Final = "measured"
_X16: Final = {3: 12e9, 4: 24e9, 5: 50e9}  # bytes per second of pinned copies, by generation (nvbandwidth, Azure NHC)
_LANES: Final = 16


class Expected(Struct, frozen=True, forbid_unknown_fields=True):
    """A figure, where it is from, and whether somebody measured it (``measured``) or not (``spec``)."""

    value: float
    source: str = ""
    confidence: str = "spec"


class Entry(Struct, frozen=True):
    """What is known of the GPUs whose name holds the regular expression ``name``."""

    name: str
    figures: dict[str, Expected]
    memory_spec: float | None = None


class _Table(Struct, frozen=True, forbid_unknown_fields=True):
    gpu: list[dict[str, Expected | str | float]] = []


def read(values: Mapping[str, object]) -> tuple[Entry, ...]:
    """Return the entries of a table as TOML has it. Raises ValueError in words."""
    try:
        return tuple(_entry(row) for row in convert(values, _Table).gpu)
    except (ValidationError, re.error) as error:
        raise ValueError(str(error)) from None


def expected(entries: tuple[Entry, ...], gpu: str, column: str) -> Expected | None:
    """Return what is expected of a GPU of this name; the first entry that fits and has the column holds."""
    return next((e.figures[column] for e in entries if column in e.figures and re.search(e.name, gpu)), None)


def link(generation: int | None, width: int | None) -> Expected | None:
    """Return what a PCIe link carries one way; None where that is not known."""
    rate = _X16.get(generation or 0)
    if rate is None or not width:
        return None
    return Expected(rate * width / _LANES, f"PCIe generation {generation}, {width} lanes", MEASURED)


def _entry(row: Mapping[str, Expected | str | float]) -> Entry:
    name, spec = row.get("name"), row.get("memory_spec")
    if not isinstance(name, str) or not name:
        raise ValueError("a [[gpu]] has no name")
    re.compile(name)
    figures = {key: value for key, value in row.items() if isinstance(value, Expected)}
    odd = [key for key in row if key not in figures and key not in {"name", "memory_spec"}]
    if odd:
        raise ValueError(f"{name}: {odd[0]} must be a table with value, source and confidence")
    return Entry(name, figures, float(spec) if isinstance(spec, (int, float)) else None)
