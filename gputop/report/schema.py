"""JSON Schemas: of a frame with every metric of the catalogue, a diagnosis with every check, and an explanation."""

from typing import Any, Final, get_args

from msgspec.json import schema as schema_of

from gputop.core.doctor.table import CHECKS
from gputop.core.doctor.verdict import Diagnosis, Severity
from gputop.core.insight.explanation import ClaimKind, Explanation, SourceState
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


_FRAME: Final = (
    f"Everything that gputop knows at one instant, version {SCHEMA_VERSION}. Base units: bytes, watts, °C, seconds, "
    "hertz, percent. A value that could not be read is null, and `missing` beside it names the reason under the same "
    "key. An owner, its container, pod and Slurm step omit a key in place of null."
)
_DIAGNOSIS: Final = (
    "All checks of a host, the gravest first. Codes and severities are stable; texts are for people and may change. "
    "gputop executed nothing of `fix`; a line of it that begins with `$ ` is a command to type."
)
_EXPLANATION: Final = (
    "What the sources know about processes that make no progress; `verdict` is a sentence for people. Keys with "
    "their default values can be absent. A source that cannot answer says why in `note`, and in `remedy` what would "
    "make it available."
)
_CLAIMS: Final = {
    ClaimKind.MOVES: "they make progress now",
    ClaimKind.STANDS: "they made no progress between two readings",
    ClaimKind.BEHIND: "they have not entered an operation that others have entered",
    ClaimKind.WAITS: "they have entered the operation and wait in it",
    ClaimKind.MISSING: "they are dead or do not answer",
    ClaimKind.STOPPED: "a signal or a debugger has stopped them",
    ClaimKind.AT: "they are at a place in the program",
    ClaimKind.FAILED: "they cannot work, because of what `operation` says",
}
_SOURCES: Final = {
    SourceState.ASKED: "it has not answered yet",
    SourceState.ANSWERED: "it has answered",
    SourceState.UNAVAILABLE: "it cannot answer, for the reason in `note`",
}
_SEVERITIES: Final = {
    Severity.FAIL: "act now",
    Severity.WARN: "not as it should be",
    Severity.UNKNOWN: "could not be checked, for the reason in the summary; never the same as ok",
    Severity.INFO: "worth knowing, and no fault",
    Severity.OK: "well",
    Severity.NOT_APPLICABLE: "the host does not have the thing to check",
}


def schema() -> dict[str, Any]:
    """Return the JSON Schema (2020-12) of a frame: a line of a stream, a recording, or ``gputop snapshot --json``.

    Keys that a newer gputop adds are valid: readers of a frame ignore keys that they do not know.
    """
    made = schema_of(Frame)
    parts: dict[str, Any] = made["$defs"]
    parts["Metrics"] = _metrics(parts["Gpu"]["properties"]["metrics"]["additionalProperties"])
    for name in ("Gpu", "GpuInstance"):
        parts[name]["properties"]["metrics"] = {"$ref": "#/$defs/Metrics", "default": {}}
    for members in (Missing, Presence):
        parts[members.__name__] = _worded(parts[members.__name__], {m.value: m.text for m in members})
    return _document("A frame of gputop", _FRAME, made)


def doctor_schema() -> dict[str, Any]:
    """Return the JSON Schema (2020-12) of ``gputop doctor --json``. Keys that a newer gputop adds are valid."""
    made = schema_of(Diagnosis)
    parts: dict[str, Any] = made["$defs"]
    parts["Severity"] = _worded(parts["Severity"], {one.value: _SEVERITIES[one] for one in Severity})
    known = [{"const": check.code, "description": check.question} for check in CHECKS]
    parts["Checked"]["properties"]["code"] = {"anyOf": [*known, {"type": "string"}]}
    return _document("A diagnosis of gputop", _DIAGNOSIS, made)


def explanation_schema() -> dict[str, Any]:
    """Return the JSON Schema (2020-12) of ``gputop explain --json``. Keys that a newer gputop adds are valid."""
    made = schema_of(Explanation)
    parts: dict[str, Any] = made["$defs"]
    parts["ClaimKind"] = _worded(parts["ClaimKind"], {one.value: _CLAIMS[one] for one in ClaimKind})
    parts["SourceState"] = _worded(parts["SourceState"], {one.value: _SOURCES[one] for one in SourceState})
    return _document("An explanation of gputop", _EXPLANATION, made)


def _document(title: str, description: str, made: dict[str, Any]) -> dict[str, Any]:
    head = {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": title, "description": description}
    return head | made


def _metrics(any_value: dict[str, Any]) -> dict[str, Any]:
    types = _value_types()
    rows = {metric.key: _row(metric, types.get(metric.key)) for metric in metrics.CATALOGUE}
    return {
        "title": "Metrics",
        "description": "The readings, by metric. A GPU that never responded has none.",
        "type": "object",
        "properties": rows,
        "additionalProperties": any_value,  # of a plugin, or of a newer version
    }


def _value_types() -> dict[str, Any]:
    """Return the T of each ``NAME: Final[Metric[T]]`` of the catalogue."""
    held = {name: value for name, value in vars(metrics).items() if isinstance(value, Metric)}
    return {metric.key: get_args(get_args(_evaluated(name))[0])[0] for name, metric in held.items()}


def _evaluated(name: str) -> Any:  # noqa: ANN401 - a type
    """Return the annotation of a row: the catalogue leaves it as text, to be imported sooner."""
    return eval(metrics.__annotations__[name], vars(metrics))  # noqa: S307 - gputop's own text


def _row(metric: Metric[Any], value_type: Any) -> dict[str, Any]:  # noqa: ANN401 - a type
    row = {"title": metric.label, "description": metric.help, **_TYPES.get(value_type, {})}  # a plugin's has none
    unit = metric.unit
    if unit.low is not None and value_type in {int, float}:
        row |= {"minimum": unit.low, "maximum": unit.high}
    return row | {"unit": unit.sign} if unit.sign else row


def _worded(part: dict[str, Any], texts: dict[str, str]) -> dict[str, Any]:
    """Describe each member of an enumeration."""
    bare = {key: value for key, value in part.items() if key != "enum"}
    return bare | {"oneOf": [{"const": value, "description": text or value} for value, text in texts.items()]}
