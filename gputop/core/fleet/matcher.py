"""The part of a query that selects series by their labels."""

import re
from collections.abc import Mapping, Sequence
from typing import Final

_RE2: Final = re.compile(r"([\\.+*?()|\[\]{}^$])")


def matcher(labels: Mapping[str, str], instances: Sequence[str] = ()) -> str:
    """Return what selects the series with these labels, of one of these instances; empty for all series."""
    parts = [f'{name}="{_quoted(value)}"' for name, value in labels.items()]
    parts += [f'instance=~"{_quoted("|".join(_RE2.sub(_escaped, one) for one in instances))}"'] if instances else []
    return "{" + ",".join(parts) + "}" if parts else ""


def _escaped(found: "re.Match[str]") -> str:
    return f"\\{found[1]}"


def _quoted(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
