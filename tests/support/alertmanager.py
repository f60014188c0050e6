"""The real Alertmanager on loopback."""

import http.client
import json
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

PATIENCE_S = 60.0
_PAUSE_S = 0.05


class Alertmanager:
    """A server that runs on a port of loopback."""

    def __init__(self, port: int) -> None:
        self.port = port

    def alerts(self) -> list[dict[str, Any]]:
        return list(json.loads(self._get("/api/v2/alerts") or b"[]"))

    def until_ready(self) -> None:
        until = time.monotonic() + PATIENCE_S
        while self._get("/-/ready") is None:
            assert time.monotonic() < until, "Alertmanager does not start"
            time.sleep(_PAUSE_S)

    def _get(self, path: str) -> bytes | None:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE_S)
        try:
            connection.request("GET", path)
            answer = connection.getresponse()
            body = answer.read()
        except OSError:
            return None
        finally:
            connection.close()
        return body if answer.status == 200 else None


@contextmanager
def alertmanager(tmp_path: Path, port: int, hook: str) -> Iterator[Alertmanager]:
    """Run an Alertmanager that sends to a webhook at once; skip the test where it is not installed."""
    program = shutil.which("prometheus-alertmanager") or shutil.which("alertmanager")
    if program is None:
        pytest.skip("Alertmanager is not installed")
    config = tmp_path / "alertmanager.yml"
    config.write_text(
        "route: {receiver: hook, group_by: [alertname], group_wait: 0s, group_interval: 1s, repeat_interval: 1h}\n"
        f"receivers: [{{name: hook, webhook_configs: [{{url: '{hook}', send_resolved: true}}]}}]\n"
    )
    command = [
        program, f"--config.file={config}", f"--storage.path={tmp_path}/data", "--cluster.listen-address=",
        f"--web.listen-address=127.0.0.1:{port}", "--log.level=error",
    ]  # fmt: skip
    with (tmp_path / "log").open("w") as log, subprocess.Popen(command, stdout=log, stderr=log) as process:
        try:
            server = Alertmanager(port)
            server.until_ready()
            yield server
        finally:
            process.terminate()
            process.wait(PATIENCE_S)


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])
