"""The real Prometheus with the rules of gputop, and the real Alertmanager: a lost GPU reaches a webhook, and ends."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from alert_examples import finding
from alertmanager import alertmanager, free_port
from examples import frame, gpu
from http_receiver import HttpReceiver, http_receiver
from prometheus_server import PATIENCE_S, PROMETHEUS, started

from gputop.core.model.sample import Frame, GpuState
from gputop.core.usage.past import past_of
from gputop.report.prometheus.scene import Shape
from gputop.report.prometheus.table import of_frame
from gputop.report.rules import GPUTOP, to_yaml

CONFIG = """\
global: {{scrape_interval: 1s, scrape_timeout: 1s, evaluation_interval: 1s}}
rule_files: [rules.yml]
alerting: {{alertmanagers: [{{static_configs: [{{targets: ["127.0.0.1:{alertmanager}"]}}]}}]}}
scrape_configs: [{{job_name: gputop, static_configs: [{{targets: ["127.0.0.1:{exporter}"]}}]}}]
"""


LEAK = ("GputopLeak", "1", "firing")


class Exporter:
    """A page with the series of a frame."""

    def __init__(self, shown: Frame) -> None:
        self.show(shown)

    def show(self, shown: Frame) -> None:
        self.text = of_frame(shown, Shape(), past_of(shown)).encode()


@contextmanager
def served(exporter: Exporter) -> Iterator[int]:
    class Page(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/plain; version=0.0.4")
            self.send_header("Content-Length", str(len(exporter.text)))
            self.end_headers()
            self.wfile.write(exporter.text)

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Page)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield server.server_address[1]
    finally:
        server.shutdown()
        server.server_close()
        thread.join(PATIENCE_S)


def statuses(hook: HttpReceiver) -> set[tuple[str, str, str]]:
    alerts = [one for message in hook.messages for one in message["alerts"]]
    return {(one["labels"]["alertname"], one["labels"]["gpu"], one["status"]) for one in alerts}


@pytest.mark.skipif(PROMETHEUS is None, reason="Prometheus is not installed")
def test_a_lost_gpu_reaches_the_webhook_and_ends_when_it_is_back(tmp_path: Path) -> None:
    gpus = (gpu(0), gpu(1, state=GpuState.LOST))
    exporter = Exporter(frame(gpus, (), findings=(finding("leak.gpu", gpus[1].uuid), finding("memory.full"))))
    port = free_port()
    (tmp_path / "rules.yml").write_text(to_yaml(GPUTOP, "https://example.org/docs"))
    with http_receiver() as hook, alertmanager(tmp_path, port, hook.url), served(exporter) as exporter_port:
        (tmp_path / "prometheus.yml").write_text(CONFIG.format(alertmanager=port, exporter=exporter_port))
        prometheus, _ = started(tmp_path)
        try:
            assert hook.until(lambda: {("GputopGpuLost", "1", "firing"), LEAK} <= statuses(hook))
            exporter.show(frame((gpu(0), gpu(1)), ()))
            assert hook.until(lambda: ("GputopGpuLost", "1", "resolved") in statuses(hook))
        finally:
            prometheus.kill()
            prometheus.wait(PATIENCE_S)

    alerts = [one for message in hook.messages for one in message["alerts"]]
    annotations = next(one["annotations"] for one in alerts if one["labels"]["alertname"] == "GputopGpuLost")

    assert annotations["summary"] == f"GPU 1 of 127.0.0.1:{exporter_port} is lost"
    assert annotations["runbook_url"] == "https://example.org/docs/findings.md#hardware"
    assert {gpu_index for _, gpu_index, _ in statuses(hook)} == {"1"}
