"""Several gputop export on simulated machines, and a real Prometheus that scrapes them."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Final

from prometheus_server import PATIENCE_S, started

_CONFIG: Final = """\
global: {{scrape_interval: 1s, scrape_timeout: 1s}}
scrape_configs:
  - {{job_name: gputop, static_configs: [{{targets: [{targets}]}}]}}
"""


@contextmanager
def exports(folder: Path, boxes: Sequence[str]) -> Iterator[str]:
    """Serve these machines, and yield the URL of a Prometheus that scrapes them each second."""
    with ExitStack() as stack:
        targets = [stack.enter_context(_export(box)) for box in boxes]
        (folder / "prometheus.yml").write_text(_CONFIG.format(targets=", ".join(f'"{one}"' for one in targets)))
        child, url = started(folder)
        try:
            yield url
        finally:
            child.kill()
            child.wait(PATIENCE_S)


@contextmanager
def _export(box: str) -> Iterator[str]:
    """Run gputop export on a simulated machine; yield its address."""
    child = subprocess.Popen(
        [sys.executable, "-m", "gputop", "export", "--demo", box, "--listen", "127.0.0.1:0"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env=os.environ | {"PYTHONUNBUFFERED": "1"},
    )
    try:
        assert child.stdout is not None
        line = child.stdout.readline()
        found = re.search(r"http://(127\.0\.0\.1:\d+)/", line)
        assert found is not None, line
        yield found[1]
    finally:
        child.kill()
        child.communicate()
