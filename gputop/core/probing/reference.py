"""Expected figures of GPUs: a table by name, with source and confidence, and the bandwidth of PCIe links."""

import re
from collections.abc import Mapping
from typing import Final

from msgspec import Struct, ValidationError, convert

from gputop.core.text.text import excerpt

MEASURED: Final = "measured"
_X16: Final = {3: 12e9, 4: 24e9, 5: 50e9}  # bytes per second of pinned copies, by generation (nvbandwidth, Azure NHC)
_LANES: Final = 16


class Expected(Struct, frozen=True, forbid_unknown_fields=True):
    """A figure with its source. ``confidence``: ``measured``, or ``spec`` for a data sheet."""

    value: float
    source: str = ""
    confidence: str = "spec"


class Entry(Struct, frozen=True):
    """The expected figures of GPUs whose name matches the regular expression ``name``."""

    name: str
    figures: dict[str, Expected]
    memory_spec: float | None = None


class _Table(Struct, frozen=True, forbid_unknown_fields=True):
    gpu: list[dict[str, Expected | str | float]] = []


def read(values: Mapping[str, object]) -> tuple[Entry, ...]:
    """Return the entries of a parsed TOML table. Raises ValueError with a message for users."""
    try:
        return tuple(_entry(row) for row in convert(values, _Table).gpu)
    except (ValidationError, re.error) as error:
        raise ValueError(excerpt(str(error))) from None


def expected(entries: tuple[Entry, ...], gpu: str, column: str) -> Expected | None:
    """Return the expected figure of a GPU by its name, from the first matching entry with the column."""
    return next((e.figures[column] for e in entries if column in e.figures and re.search(e.name, gpu)), None)


def link(generation: int | None, width: int | None) -> Expected | None:
    """Return the one-way bandwidth of a PCIe link; None if unknown."""
    rate = _X16.get(generation or 0)
    if rate is None or not width:
        return None
    return Expected(rate * width / _LANES, f"PCIe generation {generation}, {width} lanes", MEASURED)


def _entry(row: Mapping[str, Expected | str | float]) -> Entry:
    name, spec = row.get("name"), row.get("memory_spec")
    if not isinstance(name, str) or not name:
        raise ValueError("a [[gpu]] entry has no name")
    re.compile(name)
    figures = {key: value for key, value in row.items() if isinstance(value, Expected)}
    odd = [key for key in row if key not in figures and key not in {"name", "memory_spec"}]
    if odd:
        raise ValueError(f"{excerpt(name)}: {excerpt(odd[0])} must be a table with value, source and confidence")
    return Entry(name, figures, float(spec) if isinstance(spec, (int, float)) else None)
