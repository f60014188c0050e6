"""The shape of a frame as JSON Schema, with every metric of the catalogue: type, unit, label, help."""

from typing import Any, Final, get_args

from gputop.core.model import catalogue as metrics
from gputop.core.model.metric import Metric, Missing
from gputop.core.model.sample import SCHEMA_VERSION, Frame, Presence

_TYPES: Final[dict[Any, dict[str, Any]]] = {
    bool: {"type": ["boolean", "null"]},
    int: {"type": ["integer", "null"]},
    float: {"type": ["number", "null"]},
    str: {"type": ["string", "null"]},
    tuple[str, ...]: {"type": ["array", "null"], "items": {"type": "string"}},
}


def schema() -> dict[str, Any]:
    """Return the JSON Schema (2020-12) of one frame: a line of a stream, a tape, or ``gputop snapshot --json``.

    Keys that a newer gputop adds are valid, as those who read a frame are to ignore what they do not know.
    """
    from msgspec.json import schema as shape  # noqa: PLC0415 - only this command needs it

    made = shape(Frame)
    parts: dict[str, Any] = made["$defs"]
    described = {"title": "A frame of gputop", "description": _DESCRIPTION.format(version=SCHEMA_VERSION)}
    parts["Metrics"] = _metrics(parts["Gpu"]["properties"]["metrics"]["additionalProperties"])
    for name in ("Gpu", "GpuInstance"):
        parts[name]["properties"]["metrics"] = {"$ref": "#/$defs/Metrics", "default": {}}
    for members in (Missing, Presence):
        parts[members.__name__] = _worded(parts[members.__name__], {m.value: m.text for m in members})
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **described, **made}


_DESCRIPTION: Final = (
    "Everything that gputop knows at one instant, version {version}. Base units: bytes, watts, °C, seconds, hertz, "
    "percent. A value that could not be read is null, and `missing` beside it names the reason under the same key. "
    "In an owner, and in its container, pod and Slurm step, a key is absent where it would be null."
)


def _metrics(any_value: dict[str, Any]) -> dict[str, Any]:
    types = _value_types()
    rows = {metric.key: _row(metric, types.get(metric.key)) for metric in metrics.CATALOGUE}
    return {
        "title": "Metrics",
        "description": "What was read, by metric. A GPU that never answered has none of them.",
        "type": "object",
        "properties": rows,
        "additionalProperties": any_value,  # of a plugin, or of a newer version
    }


def _value_types() -> dict[str, Any]:
    """Return the T of each ``NAME: Final[Metric[T]]`` of the catalogue."""
    held = {name: value for name, value in vars(metrics).items() if isinstance(value, Metric)}
    return {metric.key: get_args(get_args(metrics.__annotations__[name])[0])[0] for name, metric in held.items()}


def _row(metric: Metric[Any], value_type: Any) -> dict[str, Any]:  # noqa: ANN401 - a type
    row = {"title": metric.label, "description": metric.help, **_TYPES.get(value_type, {})}  # a plugin's has none
    unit = metric.unit
    if unit.low is not None and value_type in {int, float}:
        row |= {"minimum": unit.low, "maximum": unit.high}
    return row | {"unit": unit.sign} if unit.sign else row


def _worded(part: dict[str, Any], texts: dict[str, str]) -> dict[str, Any]:
    """Say of each member of an enumeration what it means."""
    bare = {key: value for key, value in part.items() if key != "enum"}
    return bare | {"oneOf": [{"const": value, "description": text or value} for value, text in texts.items()]}
