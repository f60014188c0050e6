"""The dashboards as Grafana's own models of its schema read them; no package index has the server itself."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

FOLDER = Path(__file__).parents[2] / "dashboards"


def as_read(dashboard: dict[str, Any]) -> dict[str, Any]:
    """Return a dashboard as Grafana's models read and write it; they drop what the schema does not have."""
    encoder, plugins, model = (
        pytest.importorskip(f"grafana_foundation_sdk.{name}", reason="grafana-foundation-sdk is not installed")
        for name in ("cog.encoder", "cog.plugins", "models.dashboard")
    )
    plugins.register_default_plugins()
    read: dict[str, Any] = json.loads(encoder.JSONEncoder(sort_keys=True).encode(model.Dashboard.from_json(dashboard)))
    return read


def unknown(written: object, read: object, path: str = "") -> Iterator[str]:
    """Yield the fields that are lost or changed."""
    if isinstance(written, dict):
        for name, value in written.items():
            yield from unknown(value, read.get(name) if isinstance(read, dict) else None, f"{path}.{name}")
    elif isinstance(written, list):
        others = read if isinstance(read, list) and len(read) == len(written) else [None] * len(written)
        for at, (value, other) in enumerate(zip(written, others, strict=True)):
            yield from unknown(value, other, f"{path}[{at}]")
    elif written != read:
        yield path


@pytest.mark.parametrize("file", sorted(FOLDER.glob("*.json")), ids=lambda file: file.stem)
def test_grafana_knows_every_field_of_a_dashboard(file: Path) -> None:
    dashboard = json.loads(file.read_text())

    assert list(unknown(dashboard, as_read(dashboard))) == []


def test_a_field_that_grafana_does_not_know_is_found() -> None:
    dashboard = json.loads((FOLDER / "host.json").read_text())
    dashboard["panels"][1]["colour"] = "red"
    dashboard["panels"][1]["targets"][0]["query_text"] = "up"

    assert list(unknown(dashboard, as_read(dashboard))) == [".panels[1].targets[0].query_text", ".panels[1].colour"]
