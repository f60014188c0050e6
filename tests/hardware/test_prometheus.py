"""A real Prometheus and Alertmanager on the simulated driver: dashboards have data, and a fault reaches a webhook.

GPUTOP_REAL_DATA names the folder beside that of the queries of public dashboards; without it, those are not asked.
"""

import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Final

import pytest
from alertmanager import alertmanager, free_port
from commands import Run
from exported_boxes import Box, box
from http_receiver import HttpReceiver, http_receiver
from msgspec import Struct
from prometheus_server import PATIENCE_S, PROMETHEUS, result, started
from write_dashboards import DASHBOARDS

from gputop.report.prometheus.table import SERIES

pytestmark = [
    pytest.mark.skipif("NVML_MOCK_BOX" not in os.environ, reason="needs a driver that can be told to fall ill"),
    pytest.mark.skipif(PROMETHEUS is None, reason="there is no prometheus on this machine (Debian: prometheus)"),
]

PUBLIC: Final = Path(os.environ.get("GPUTOP_REAL_DATA", "/nowhere")).parent / "facts" / "dashboard_queries.json"
EIGHT: Final = "[box]\ngpus = 8\nmodel = h100\n"
PROCESS: Final = "[process]\npid = {pid}\nmem = 3GiB\nsm = 50\n"
OTHERS: Final = {
    "mig": "[box]\ngpus = 2\nmodel = h100\n[gpu 0]\nmig = 1\nmig.instances = 3g.40gb@4, 1g.10gb@0\n"
    f"{PROCESS}migdev = 0\n",
    "lost": f"[box]\ngpus = 4\nmodel = h100\n{PROCESS}",
    "consumer": f"[box]\ngpus = 1\nmodel = rtx4090\n{PROCESS}",
}
LOSING: Final = "[gpu 3]\nxid = 79 @ 0.1\nlost = after(1s)\n"
FULL: Final = "[gpu 2]\nmem.used = 78GiB\n"
ALERTS: Final = {("GputopGpuLost", "3"), ("GputopMemoryFull", "2")}
_CONFIG: Final = """\
global: {{scrape_interval: 1s, scrape_timeout: 1s, evaluation_interval: 1s}}
scrape_configs: [{{job_name: gputop, static_configs: [{{targets: [{targets}]}}]}}]
"""
_ALERTING: Final = """\
rule_files: [rules.yml]
alerting: {{alertmanagers: [{{static_configs: [{{targets: ["127.0.0.1:{alertmanager}"]}}]}}]}}
"""
_SELECTOR: Final = re.compile(rf"\b({'|'.join(row.name for row in SERIES)})\b(?:\{{([^}}]*)\}})?")
_PERIODS: Final = {"__range": "5m", "__interval": "1m", "__rate_interval": "5m", "interval": "5m"}


class Query(Struct, frozen=True):
    """A query of a dashboard, with all values of its variables chosen."""

    expr: str

    @property
    def selectors(self) -> list[str]:
        """The series that it asks for: of the names in the table of series."""
        return [found[0] for found in _SELECTOR.finditer(self.expr)]

    def on(self, instance: str) -> "Query":
        """Return the query for one exporter alone."""
        return Query(_SELECTOR.sub(lambda name: f'{name[1]}{{instance="{instance}",{name[2] or ""}}}', self.expr))


def queries() -> Iterator[Query]:
    """Yield the queries of our dashboards, and those of public ones that need the series of dcgm-exporter alone."""
    yield from (_chosen(panel.expr) for dashboard in DASHBOARDS for panel in dashboard.panels)
    for dashboard in json.loads(PUBLIC.read_text())["dashboards"] if PUBLIC.exists() else ():
        for query in dashboard["queries"]:
            if query["metrics"] and all(name.startswith("DCGM_") for name in query["metrics"]):
                yield _chosen(query["expr"].replace('="$', '=~"$'))


def _chosen(expr: str) -> Query:
    return Query(re.sub(r"\$\{?(\w+)(:\w+)?\}?", lambda name: _PERIODS.get(name[1], ".*"), expr))


@contextmanager
def crowded(folder: Path) -> Iterator[str]:
    """Yield the scenario of eight GPUs with 60 real processes, which live until the end of the block."""
    plain, written = folder / "plain.scn", folder / "crowded.scn"
    plain.write_text(EIGHT)
    command = [sys.executable, os.environ["NVML_MOCK_BOX"], "--scenario", str(plain), "--procs", "60"]
    with subprocess.Popen([*command, "--write", str(written), "--hold"], stdout=subprocess.PIPE, text=True) as child:
        try:
            assert child.stdout
            assert "NVML_MOCK_SCENARIO" in child.stdout.readline()
            yield written.read_text()
        finally:
            child.terminate()


@contextmanager
def prometheus(folder: Path, boxes: Iterable[Box], alerting: str = "") -> Iterator[str]:
    """Run a Prometheus that scrapes these boxes each second; yield its URL."""
    targets = ", ".join(f'"{each.instance}"' for each in boxes)
    (folder / "prometheus.yml").write_text(_CONFIG.format(targets=targets) + alerting)
    child, url = started(folder)
    try:
        yield url
    finally:
        child.kill()
        child.wait(PATIENCE_S)


def test_no_query_of_a_dashboard_is_empty_where_its_series_exist(tmp_path: Path) -> None:
    """A series of the table exists on a board if Prometheus has it from there: the exporter serves no other names."""
    with ExitStack() as stack:
        child = stack.enter_context(subprocess.Popen(["sleep", "600"]))
        stack.callback(child.kill)
        scenarios = {name: text.format(pid=child.pid) for name, text in OTHERS.items()}
        scenarios["eight"] = stack.enter_context(crowded(tmp_path))
        boxes = {name: _opened(stack, tmp_path / name, text) for name, text in scenarios.items()}
        boxes["lost"].exporter.until("DCGM_FI_DEV_GPU_TEMP{")
        boxes["lost"].write(scenarios["lost"] + LOSING)
        url = stack.enter_context(prometheus(tmp_path, boxes.values()))
        empty, unanswered = _left(url, {name: each.instance for name, each in boxes.items()})

    assert not empty
    assert not unanswered


def _opened(stack: ExitStack, folder: Path, scenario: str) -> Box:
    folder.mkdir()
    return stack.enter_context(box(folder, scenario, "--interval", "0.5", "--series", "dcgm,dcgm-more,gputop"))


def _left(url: str, instances: dict[str, str]) -> tuple[list[tuple[str, str]], set[str]]:
    """Return the queries that are empty although a box has their series, and those that no box answers.

    Rates need some scrapes, and a fault some seconds: what is empty is asked again until the patience ends.
    """
    pending = [(name, query) for query in dict.fromkeys(queries()) for name in instances]
    unanswered = {query.expr for _, query in pending}
    end = time.monotonic() + PATIENCE_S
    while True:
        empty = [(name, query) for name, query in pending if not result(url, query.on(instances[name]).expr)]
        unanswered -= {query.expr for _, query in set(pending) - set(empty)}
        pending = empty
        wrong = [(name, query.expr) for name, query in empty if _exists(url, query.on(instances[name]))]
        if not (wrong or unanswered) or time.monotonic() > end:
            return wrong, unanswered


def _exists(url: str, query: Query) -> bool:
    return all(result(url, selector) for selector in query.selectors)


def test_a_fault_reaches_the_webhook_through_the_rules_and_is_resolved_when_it_is_over(
    tmp_path: Path, run: Run
) -> None:
    (tmp_path / "rules.yml").write_text(re.sub(r"for: \w+", "for: 1s", run("rules").stdout))
    port = free_port()
    (tmp_path / "alertmanager").mkdir()
    with (
        crowded(tmp_path) as healthy,
        http_receiver() as hook,
        alertmanager(tmp_path / "alertmanager", port, hook.url),
        box(tmp_path, healthy, "--interval", "0.5") as running,
        prometheus(tmp_path, [running], _ALERTING.format(alertmanager=port)),
    ):
        running.write(f"{healthy}\n{LOSING}{FULL}")
        assert hook.until(lambda: arrived(hook, "firing") >= ALERTS)
        running.write(healthy)
        assert hook.until(lambda: arrived(hook, "resolved") >= ALERTS)

    assert {alert for alert in arrived(hook, "firing") if alert[0] in dict(ALERTS)} == ALERTS


def arrived(hook: HttpReceiver, status: str) -> set[tuple[str, str]]:
    """Return names and GPUs of the alerts with a status that the webhook got."""
    alerts = [one for message in hook.messages for one in message["alerts"] if one["status"] == status]
    return {(one["labels"]["alertname"], one["labels"].get("gpu", "")) for one in alerts}
