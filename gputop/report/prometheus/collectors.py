"""The collectors of dcgm-exporter: a file with a field, its type and its help per line, which chooses the series."""

import csv
from collections.abc import Iterator
from functools import lru_cache
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from gputop.core.text.suggest import nearest
from gputop.core.text.text import excerpt
from gputop.report.prometheus.dcgm import ABSENT, DCGM
from gputop.report.prometheus.dcgm_fields import FIELDS, TEXTS
from gputop.report.prometheus.series import Choice, Rows, Type

_ROWS: Final = {row.name: row for row in (*DCGM, *FIELDS)}
_REASONS: Final = {absent.name: absent.why for absent in ABSENT}
_TYPES: Final[dict[str, Type]] = {"gauge": "gauge", "counter": "counter"}
_LABEL: Final = "label"
_PARTS: Final = 3


class Collectors(Struct, frozen=True):
    """The chosen series and the names of label fields. ``remarks``: about lines that choose nothing."""

    series: tuple[Choice, ...] = ()
    labels: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()


class CollectorsError(ValueError):
    """The file is not one of dcgm-exporter."""


def collectors_of(text: str) -> Collectors:
    """Return what a file chooses. Raises CollectorsError."""
    series: dict[str, Choice] = {}
    labels: set[str] = set()
    remarks: list[str] = []
    for line, (name, kind, about) in _records(text):
        if name in series or name in labels:
            remarks.append(f"line {line}: {excerpt(name)} is in the file twice; the first counts")
        elif kind == _LABEL and name in TEXTS:
            labels.add(name)
        elif kind in _TYPES and name in _ROWS:
            series[name] = Choice(name, _TYPES[kind], excerpt(about))
        elif kind in _TYPES or kind == _LABEL:
            remarks.append(f"line {line}: {_why_not(name, kind)}")
        else:
            raise CollectorsError(f"line {line}: type {excerpt(kind)!r} is not gauge, counter or label")
    return Collectors(tuple(series.values()), tuple(sorted(labels)), tuple(remarks))


@lru_cache(1)
def rows_of(choices: tuple[Choice, ...]) -> Rows:
    """Return the rows of chosen series."""
    return tuple(replace(_ROWS[one.name], type=one.type, help=one.help) for one in choices)


def _records(text: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the number and the parts of each line that is not a comment."""
    reader = csv.reader(("" if line.startswith("#") else line for line in text.splitlines()), skipinitialspace=True)
    try:
        for record in reader:
            parts = [part.strip() for part in record]
            if not any(parts):
                continue
            if len(parts) != _PARTS:
                raise CollectorsError(
                    f"line {reader.line_num}: expected FIELD, TYPE, HELP; a comma in HELP needs quotes"
                )
            yield reader.line_num, parts
    except csv.Error as error:
        raise CollectorsError(f"line {reader.line_num}: {error}") from None


def _why_not(name: str, kind: str) -> str:
    shown = f"no series {excerpt(name)}" if kind != _LABEL else f"no label {excerpt(name)}"
    if name in _REASONS:
        return f"{shown}: {_REASONS[name]}"
    known = TEXTS if kind == _LABEL else _ROWS
    if name in TEXTS or name in _ROWS:
        return f"{shown}: gputop serves this field as a {'label' if name in TEXTS else 'series'} only"
    words = {known_name.lower(): known_name for known_name in known}
    hint = words.get(nearest(name, words) or "")
    return f"{shown}: gputop does not read this field" + (f". Did you mean {hint}?" if hint else "")
