"""The queries of public dashboards for dcgm-exporter, asked of a real Prometheus that scrapes gputop.

They are read from the folder beside the one that GPUTOP_REAL_DATA names.
"""

import json
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest
from gputop_exports import exports
from prometheus_server import PROMETHEUS, result, until

FILE: Final = Path(os.environ.get("GPUTOP_REAL_DATA", "/nowhere")).parent / "facts" / "dashboard_queries.json"
_BOXES: Final = ("training", "mig")

pytestmark = [
    pytest.mark.skipif(not FILE.exists(), reason="GPUTOP_REAL_DATA names no folder beside facts"),
    pytest.mark.skipif(PROMETHEUS is None, reason="there is no prometheus on this machine (Debian: prometheus)"),
]


def _queries() -> list[dict[str, Any]]:
    """Return the queries that need only the series of dcgm-exporter, and of Prometheus itself."""
    dashboards = json.loads(FILE.read_text())["dashboards"] if FILE.exists() else []
    queries = [query for dashboard in dashboards for query in dashboard["queries"]]
    return [
        query for query in queries if query["metrics"] and all(name.startswith("DCGM_") for name in query["metrics"])
    ]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with exports(tmp_path_factory.mktemp("prometheus"), _BOXES, "--series", "dcgm,dcgm-more") as url:
        until(lambda: len(result(url, "count by (instance) (rate(DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION[5m]))")) == 2)
        yield url


def test_each_query_of_the_public_dashboards_returns_data(server: str) -> None:
    empty = []
    for query in _queries():
        chosen = query["expr"].replace('="$', '=~"$')  # all values of a choice
        asked = re.sub(r"\$\{?(\w+)(:\w+)?\}?", _value, chosen)
        if not result(server, asked):
            empty.append((query["panel"], asked))
    assert not empty


def _value(variable: re.Match[str]) -> str:
    return {"__range": "5m", "__interval": "1m", "__rate_interval": "5m", "interval": "5m"}.get(variable[1], ".*")
