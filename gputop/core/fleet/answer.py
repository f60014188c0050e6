"""Answers of a Prometheus server's HTTP API. All of it is foreign text."""

from collections.abc import Mapping, Sequence
from typing import Final

from msgspec import Struct
from msgspec.json import Decoder

OK: Final = "success"


class Place(Struct, frozen=True, gc=False):
    """What a value belongs to. ``gpu``: empty for values of a whole host."""

    instance: str = ""
    gpu: str = ""


class Sample(Struct, frozen=True, gc=False):
    """A value. ``value``: Unix time of the evaluation, and the number, which may be NaN or infinite."""

    metric: Place
    value: tuple[float, float]


class Samples(Struct, frozen=True):
    """The data of an instant query for values."""

    result: list[Sample] = []


class Series(Struct, frozen=True, gc=False):
    """A series of which the labels matter most. ``value``: as of a `Sample`."""

    metric: dict[str, str]
    value: tuple[float, float] = (0.0, 0.0)


class AllSeries(Struct, frozen=True):
    """The data of an instant query for labels."""

    result: list[Series] = []


class Alert(Struct, frozen=True):
    """An alert of a rule. ``state``: pending or firing."""

    labels: dict[str, str]
    state: str
    annotations: dict[str, str] = {}

    @property
    def name(self) -> str:
        """Return the name of the rule."""
        return self.labels.get("alertname", "")


class Alerts(Struct, frozen=True):
    """The data of a question for alerts."""

    alerts: list[Alert] = []


class Curve(Struct, frozen=True):
    """Values over time, each with its Unix time."""

    values: list[tuple[float, float]] = []


class Curves(Struct, frozen=True):
    """The data of a query over time."""

    result: list[Curve] = []


class _Head(Struct, frozen=True, rename={"error_type": "errorType"}):
    """The head of every answer."""

    status: str
    error: str = ""
    error_type: str = ""
    warnings: list[str] = []


class ValueAnswer(_Head, frozen=True):
    """Values, by instance and GPU."""

    data: Samples = Samples()


class LabelAnswer(_Head, frozen=True):
    """Series with all their labels."""

    data: AllSeries = AllSeries()


class AlertAnswer(_Head, frozen=True):
    """Alerts."""

    data: Alerts = Alerts()


class CurveAnswer(_Head, frozen=True):
    """Values over time."""

    data: Curves = Curves()


VALUES: Final = Decoder(ValueAnswer, strict=False)  # numbers are text on the wire
LABELS: Final = Decoder(LabelAnswer, strict=False)
CURVES: Final = Decoder(CurveAnswer, strict=False)
ALERTS: Final = Decoder(AlertAnswer)


class Answers(Struct, frozen=True):
    """What a server says of a fleet, by query: values, and series of which only the labels matter."""

    values: Mapping[str, Sequence[Sample]] = {}
    labels: Mapping[str, Sequence[Series]] = {}
