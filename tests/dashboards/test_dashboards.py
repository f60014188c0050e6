"""The Grafana dashboards: written as the script says, and each query answered by a real Prometheus."""

import json
import re
from collections.abc import Iterator
from typing import Final

import pytest
from gputop_exports import exports
from msgspec import structs
from prometheus_server import PROMETHEUS, result, until
from write_dashboards import DASHBOARDS, FOLDER, HOST, Dashboard, Panel, Variable, written

_WITH_USERS: Final = 2
_LATE: Final = (
    "rate(gputop_user_gpu_seconds_total[5m])", 'gputop_finding{stage!="observation"}',
    "increase(gputop_gpu_xid_errors_total[1h])",
)  # fmt: skip
_BOXES: Final = ("training", "trouble", "dying")  # jobs; findings; a lost GPU, with its Xid


def test_the_files_are_what_the_script_writes() -> None:
    for dashboard in DASHBOARDS:
        assert (FOLDER / f"{dashboard.name}.json").read_text() == written(dashboard), "run: make generate"


def test_no_panels_overlap_and_each_has_a_title_and_a_query() -> None:
    for dashboard in DASHBOARDS:
        taken: set[tuple[int, int]] = set()
        for panel in json.loads(written(dashboard))["panels"]:
            place = panel["gridPos"]
            cells = {
                (x, y)
                for x in range(place["x"], place["x"] + place["w"])
                for y in range(place["y"], place["y"] + place["h"])
            }
            assert not cells & taken, panel["title"]
            assert place["x"] + place["w"] <= 24
            taken |= cells
            assert panel["title"]
            assert panel["targets"][0]["expr"]


@pytest.mark.parametrize(
    "wrong",
    [
        structs.replace(HOST, panels=(Panel("sum(gputop_gpu_power_wats)"),)),
        structs.replace(HOST, panels=(Panel("DCGM_FI_DEV_GPU_TEMP / DCGM_FI_DEV_GPU_WARMTH"),)),
        structs.replace(HOST, variables=(Variable("job_id", "gputop_jobs"),)),
        structs.replace(HOST, variables=(Variable("colour", "gputop_user_gpus"),)),
    ],
    ids=["own", "dcgm", "variable", "label"],
)
def test_a_name_that_the_table_of_series_lacks_is_not_written_into_a_dashboard(wrong: Dashboard) -> None:
    with pytest.raises(ValueError, match="does not have"):
        written(wrong)


def test_a_panel_says_what_the_table_of_series_says() -> None:
    (panel,) = json.loads(written(structs.replace(HOST, panels=(Panel("gputop_gpu_sm_active_ratio"),))))["panels"]

    assert panel["title"] == "GPU SM active"
    assert panel["fieldConfig"]["defaults"]["unit"] == "percentunit"
    assert panel["description"].startswith("gputop_gpu_sm_active_ratio: Mean share of SMs")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    if PROMETHEUS is None:
        pytest.skip("there is no prometheus on this machine (Debian: prometheus)")
    with exports(tmp_path_factory.mktemp("prometheus"), _BOXES) as url:
        until(lambda: len(result(url, "count by (instance) (gputop_user_gpus)")) >= _WITH_USERS)
        for query in _LATE:
            until(lambda query=query: bool(result(url, query)))  # type: ignore[misc]
        yield url


def test_each_query_of_our_dashboards_returns_data(server: str) -> None:
    empty = []
    for dashboard in DASHBOARDS:
        for panel in dashboard.panels:
            query = re.sub(r"\$(instance|user|job_id)\b", ".*", panel.expr).replace("$__range", "5m")
            if not result(server, query):
                empty.append((dashboard.name, query))
    assert not empty
