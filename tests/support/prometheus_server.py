"""A real Prometheus on loopback that scrapes the given targets."""

import asyncio
import json
import shutil
import socket
import subprocess
import time
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import Thread
from typing import Any, Final
from urllib.error import HTTPError
from urllib.parse import urlencode

import fleet_exporters

PROMETHEUS: Final = shutil.which("prometheus")
VICTORIA: Final = shutil.which("victoria-metrics")
PATIENCE_S: Final = 120.0
_ATTEMPTS: Final = 3
_STARTING: Final = 503
_CONFIG: Final = """\
global: {{scrape_interval: 1s, scrape_timeout: 1s}}
scrape_configs:
  - job_name: dcgm
    file_sd_configs: [{{files: [targets.json]}}]
    relabel_configs:
      - {{source_labels: [__address__], target_label: __param_target}}
      - {{source_labels: [__address__], target_label: instance, replacement: "$1:9400"}}
      - {{target_label: __address__, replacement: "127.0.0.1:{port}"}}
"""


@contextmanager
def refusing_port() -> Iterator[int]:
    """Yield a port of loopback that refuses connections, and that nobody else can take."""
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        yield int(held.getsockname()[1])


@contextmanager
def exporters() -> Iterator[int]:
    """Serve the pages of many hosts; yield the port."""
    loop = asyncio.new_event_loop()
    server = loop.run_until_complete(fleet_exporters.serve())
    thread = Thread(target=loop.run_forever)
    thread.start()
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join(PATIENCE_S)
        server.close()
        loop.run_until_complete(_end_connections())
        loop.close()


async def _end_connections() -> None:
    answers = asyncio.all_tasks() - {asyncio.current_task()}
    for answer in answers:
        answer.cancel()
    await asyncio.gather(*answers, return_exceptions=True)
    await asyncio.sleep(0)  # the transports close


def configure(folder: Path, targets: Sequence[str], exporter_port: int) -> None:
    """Write the configuration of a server that scrapes these hosts from the exporters."""
    (folder / "targets.json").write_text(json.dumps([{"targets": list(targets), "labels": {"rack": "r7"}}]))
    (folder / "prometheus.yml").write_text(_CONFIG.format(port=exporter_port))


@contextmanager
def prometheus(folder: Path, targets: Sequence[str], exporter_port: int) -> Iterator[str]:
    """Run a server that scrapes these hosts from the exporters; yield its URL once it has all of them."""
    configure(folder, targets, exporter_port)
    child, url = started(folder)
    try:
        until(lambda: len(result(url, "count by (instance) (DCGM_FI_DEV_GPU_TEMP)")) == len(targets))
        yield url
    finally:
        child.kill()
        child.wait(PATIENCE_S)


@contextmanager
def victoria(folder: Path, targets: Sequence[str], exporter_port: int) -> Iterator[str]:
    """Run VictoriaMetrics on the same hosts; yield its URL once it has all of them."""
    configure(folder, targets, exporter_port)
    with refusing_port() as port:
        url = f"http://127.0.0.1:{port}"
    child = subprocess.Popen(
        [
            str(VICTORIA), f"-promscrape.config={folder}/prometheus.yml", "-promscrape.config.strictParse=false",
            f"-httpListenAddr=127.0.0.1:{port}", f"-storageDataPath={folder}/data", "-retentionPeriod=1d",
            "-search.latencyOffset=1s", "-loggerLevel=ERROR",
        ],
        stdin=subprocess.DEVNULL, cwd=folder,
    )  # fmt: skip
    try:
        until(lambda: len(result(url, "count by (instance) (DCGM_FI_DEV_GPU_TEMP)")) == len(targets))
        yield url
    finally:
        child.kill()
        child.wait(PATIENCE_S)


def started(folder: Path, port: int | None = None) -> tuple["subprocess.Popen[bytes]", str]:
    """Start a server with the folder's prometheus.yml on a free port; on another one if somebody was faster.

    ``port``: on this one, where a server was before.
    """
    for _ in range(_ATTEMPTS):
        with refusing_port() as free:
            at = port or free
        url = f"http://127.0.0.1:{at}"
        child = subprocess.Popen(
            [
                str(PROMETHEUS), f"--config.file={folder}/prometheus.yml", f"--storage.tsdb.path={folder}/data",
                f"--web.listen-address=127.0.0.1:{at}", "--log.level=error",
            ],
            stdin=subprocess.DEVNULL,
        )  # fmt: skip
        until(lambda child=child, url=url: child.poll() is not None or bool(result(url, "vector(1)")))  # type: ignore[misc]
        if child.poll() is None:
            return child, url
    raise AssertionError("prometheus does not start")


def until(holds: Callable[[], bool]) -> None:
    """Wait until something holds; fails after a long time."""
    ends_s = time.monotonic() + PATIENCE_S
    while not holds():
        assert time.monotonic() < ends_s, "it did not come about"
        time.sleep(0.05)


def result(url: str, query: str) -> list[Any]:
    """Return what a query yields; nothing while the server does not answer. Fails if the query is wrong."""
    try:
        asked = f"{url}/api/v1/query?{urlencode({'query': query})}"
        with urllib.request.urlopen(asked, timeout=5) as answer:  # noqa: S310 - our own server
            return list(json.load(answer)["data"]["result"])
    except HTTPError as error:
        if error.code != _STARTING:
            raise AssertionError(error.read()) from None
        return []
    except OSError:
        return []
