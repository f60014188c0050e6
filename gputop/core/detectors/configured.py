"""The thresholds of detectors in a configuration."""

from collections.abc import Mapping
from typing import Final, TypeAlias

from gputop.core.detection.detector import Dial, Kind
from gputop.core.detection.judge import DIALS, GENERAL
from gputop.core.detectors.registry import ENABLED, detectors
from gputop.core.text.suggest import nearest
from gputop.core.text.text import excerpt

Wrong: TypeAlias = tuple[str, str, str | None]  # place, problem, suggestion

_GENERAL: Final = {dial.key: dial for dial in DIALS}
_TABLE: Final = "must be a table: [detectors.leak] with lines such as enabled = false"


def read_dials(given: object) -> tuple[dict[str, dict[str, float]], list[Wrong]]:
    """Return the valid values by detector and dial, and the problems. ``enabled`` counts as a dial, 0 or 1."""
    found: dict[str, dict[str, float]] = {}
    wrong: list[Wrong] = []
    kinds = {kind.name: kind for kind, _ in detectors()}
    if not isinstance(given, Mapping):
        return {}, [("detectors", _TABLE, None)]
    for name, dials in given.items():
        path = f"detectors.{name}"
        if name in _GENERAL:
            _take(found.setdefault(GENERAL, {}), _GENERAL[name], path, dials, wrong)
        elif name not in kinds and not isinstance(dials, Mapping):
            wrong.append((path, "unknown threshold", nearest(name, _GENERAL)))
        elif name not in kinds:
            wrong.append((path, "unknown detector", nearest(name, kinds)))
        elif not isinstance(dials, Mapping):
            wrong.append((path, _TABLE, None))
        else:
            found[name] = _settled(path, kinds[name], dials, wrong)
    return found, wrong


def _settled(path: str, kind: Kind, given: Mapping[str, object], wrong: list[Wrong]) -> dict[str, float]:
    found: dict[str, float] = {}
    dials = {dial.key: dial for dial in kind.dials}
    for key, value in given.items():
        if key == ENABLED and isinstance(value, bool):
            found[key] = float(value)
        elif key == ENABLED:
            wrong.append((f"{path}.{key}", f"{excerpt(repr(value))} is neither true nor false", None))
        elif key not in dials:
            wrong.append((f"{path}.{key}", "unknown threshold", nearest(key, [*dials, ENABLED])))
        else:
            _take(found, dials[key], f"{path}.{key}", value, wrong)
    return found


def _take(found: dict[str, float], dial: Dial, path: str, value: object, wrong: list[Wrong]) -> None:
    if isinstance(value, (int, float)) and not isinstance(value, bool) and dial.least <= value <= dial.most:
        found[dial.key] = float(value)
    else:
        wrong.append((path, f"{excerpt(repr(value))} is not a number from {dial.least:g} to {dial.most:g}", None))
