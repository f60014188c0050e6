"""The textfile of gputop export, served by a real node_exporter."""

import os
import shutil
import subprocess
import sys
import urllib.request
from pathlib import Path
from typing import Final

import pytest
from prometheus_server import PATIENCE_S, until

NODE_EXPORTER: Final = shutil.which("prometheus-node-exporter") or shutil.which("node_exporter")


def _page(port: int) -> str:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=5) as answer:
            return str(answer.read().decode())
    except OSError:
        return ""


@pytest.mark.skipif(NODE_EXPORTER is None, reason="there is no node_exporter (Debian: prometheus-node-exporter)")
def test_node_exporter_serves_the_textfile_without_an_error(tmp_path: Path) -> None:
    port = 20_000 + os.getpid() % 12_000  # below those that the kernel gives to others
    commands = (
        [sys.executable, "-m", "gputop", "export", "--demo", "trouble", "--textfile", str(tmp_path)],
        [
            str(NODE_EXPORTER), "--collector.disable-defaults", "--collector.textfile",
            f"--collector.textfile.directory={tmp_path}", f"--web.listen-address=127.0.0.1:{port}", "--log.level=error",
        ],
    )  # fmt: skip
    children = [
        subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for command in commands
    ]
    try:
        until(lambda: "gputop_gpu_info{" in _page(port))
        page = _page(port)
    finally:
        for child in children:
            child.kill()
            child.wait(PATIENCE_S)

    assert "node_textfile_scrape_error 0" in page
    assert page.count("\nDCGM_FI_DEV_GPU_TEMP{") == 8
