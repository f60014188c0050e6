"""The shape of a diagnosis as JSON Schema, with the codes of all checks."""

from typing import Any, Final

from gputop.core.doctor.table import CHECKS
from gputop.core.doctor.verdict import Diagnosis, Severity

_SEVERITIES: Final = {
    Severity.FAIL: "act now",
    Severity.WARN: "not as it should be",
    Severity.UNKNOWN: "it could not be checked, for the reason in the summary; never the same as ok",
    Severity.INFO: "worth knowing, and no fault",
    Severity.OK: "well",
    Severity.NOT_APPLICABLE: "the box does not have what is asked about",
}
_DESCRIPTION: Final = (
    "All checks of a box, the gravest first. Codes and severities are stable; texts are for people and may change. "
    "Nothing of `fix` was executed; a line of it that begins with `$ ` is a command to type."
)


def doctor_schema() -> dict[str, Any]:
    """Return the JSON Schema (2020-12) of ``gputop doctor --json``. Keys that a newer gputop adds are valid."""
    from msgspec.json import schema as shape  # noqa: PLC0415 - only this command needs it

    made = shape(Diagnosis)
    parts: dict[str, Any] = made["$defs"]
    bare = {key: value for key, value in parts["Severity"].items() if key != "enum"}
    parts["Severity"] = bare | {"oneOf": [{"const": one.value, "description": _SEVERITIES[one]} for one in Severity]}
    known = [{"const": check.code, "description": check.question} for check in CHECKS]
    parts["Checked"]["properties"]["code"] = {"anyOf": [*known, {"type": "string"}]}
    described = {"title": "A diagnosis of gputop", "description": _DESCRIPTION}
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **described, **made}
