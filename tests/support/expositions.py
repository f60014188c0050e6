"""Readers of Prometheus' text format: Prometheus' own client library and promtool."""

import shutil
import subprocess

import pytest
from msgspec import Struct


class Read(Struct, frozen=True):
    """A sample as the client library reads it."""

    family: str
    type: str
    name: str
    labels: dict[str, str]
    value: float


def read(text: str) -> list[Read]:
    """Parse an exposition; skip without prometheus_client. It adds ``_total`` to names of counters: undo that."""
    parser = pytest.importorskip("prometheus_client.parser", reason="prometheus_client is not installed")
    served = {line.partition("{")[0].partition(" ")[0] for line in text.splitlines()}
    return [
        Read(
            family.name,
            family.type,
            sample.name if sample.name in served else family.name,
            dict(sample.labels),
            sample.value,
        )
        for family in parser.text_string_to_metric_families(text)
        for sample in family.samples
    ]


def promtool(text: str) -> str:
    """Return what `promtool check metrics` complains about; skip without promtool."""
    if shutil.which("promtool") is None:
        pytest.skip("promtool is not installed (Debian: prometheus)")
    done = subprocess.run(
        ["promtool", "check", "metrics"], input=text, capture_output=True, check=False, text=True, timeout=60
    )
    assert done.returncode in (0, 3), done.stderr  # 3: complaints about style
    return done.stderr
