"""The row of a series: its name, type, unit, help and labels, and the function that returns its value."""

from collections.abc import Callable, Iterable, Sequence
from enum import Enum
from typing import Any, Final, Generic, Literal, TypeAlias, TypeVar

from msgspec import Struct

from gputop.report.prometheus.labels import Labels, Number, number, rendered

E = TypeVar("E", bound="Entity")

Type: TypeAlias = Literal["gauge", "counter"]
Labelled: TypeAlias = tuple[Labels, Number]
Value: TypeAlias = Number | list[Labelled] | None
EntityClass: TypeAlias = type[E]


class Group(str, Enum):
    """The part of the table that a user can request. DCGM_MORE: commented out in dcgm-exporter's configuration.

    DCGM_FIELDS: not in it; only a file of collectors chooses them.
    """

    DCGM = "dcgm"
    DCGM_MORE = "dcgm-more"
    DCGM_FIELDS = "dcgm-fields"
    GPUTOP = "gputop"
    PROCESSES = "processes"


class Choice(Struct, frozen=True):
    """The choice of a series of dcgm by its name, with the type and help that the user wants."""

    name: str
    type: Type
    help: str


USUAL: Final = (Group.DCGM, Group.GPUTOP)


class Entity(Struct):
    """A thing that has series, such as a GPU or a user. ``labels``: its labels in the text format, without braces."""

    labels: str

    def labels_with(self, more: Labels) -> str:
        """Return the labels with those of a single sample."""
        return f"{self.labels},{rendered(more)}" if self.labels else rendered(more)


class Series(Struct, Generic[E], frozen=True, kw_only=True):
    """A row of the table of series.

    ``unit``: for people; ``labels``: names, in their order, also those that only some samples have. ``of``: the kind of
    entity that has this series. ``value``: of an entity: a number, None if there is no sample, or several samples with
    labels of their own. ``note``: differences from the series of dcgm-exporter; empty if there are none.
    """

    name: str
    type: Type
    unit: str
    help: str
    labels: tuple[str, ...]
    of: EntityClass[E]
    value: Callable[[E], Value]
    group: Group = Group.GPUTOP
    note: str = ""


Rows: TypeAlias = "tuple[Series[Any], ...]"
Scene: TypeAlias = "dict[type[Entity], Sequence[Entity]]"


def lines(rows: Iterable["Series[Any]"], scene: "Scene") -> list[str]:
    """Return the lines of all series with samples: HELP and TYPE, then the samples of the series together."""
    found: list[str] = []
    for row in rows:
        samples = _samples(row, scene.get(row.of, ()))
        if samples:
            found += (f"# HELP {row.name} {_help(row.help)}", f"# TYPE {row.name} {row.type}", *samples)
    return found


def _samples(row: "Series[Any]", entities: Sequence[Entity]) -> list[str]:
    found: list[str] = []
    name, read = row.name, row.value
    for entity in entities:
        value = read(entity)
        if value is None:
            continue
        if isinstance(value, list):
            found += [f"{name}{{{entity.labels_with(more)}}} {number(each)}" for more, each in value]
        else:
            found.append(f"{name}{{{entity.labels}}} {number(value)}" if entity.labels else f"{name} {number(value)}")
    return found


def _help(text: str) -> str:
    return text.replace("\\", r"\\").replace("\n", r"\n")
