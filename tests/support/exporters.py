"""A real `gputop export` in a process of its own, and a client that asks it."""

import http.client
import os
import re
import select
import ssl
import subprocess
import sys
import time
from base64 import b64encode
from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import urlsplit

PATIENCE_S = 30.0


class Exporter:
    """A running exporter. ``url``: of its metrics."""

    def __init__(self, child: "subprocess.Popen[str]", url: str) -> None:
        self.child = child
        self.url = url
        parts = urlsplit(url)
        self.host, self.port = parts.hostname or "", parts.port or 0

    def get(
        self, path: str = "/metrics", *, tls: ssl.SSLContext | None = None, user: str = "", **headers: str
    ) -> tuple[int, str]:
        """Return status and text of a page. ``user``: NAME:PASSWORD."""
        if user:
            headers["Authorization"] = f"Basic {b64encode(user.encode()).decode()}"
        client = (
            http.client.HTTPSConnection(self.host, self.port, timeout=PATIENCE_S, context=tls)
            if tls
            else http.client.HTTPConnection(self.host, self.port, timeout=PATIENCE_S)
        )
        try:
            client.request("GET", path, headers=headers)
            response = client.getresponse()
            return response.status, response.read().decode()
        finally:
            client.close()

    def until(self, wanted: str) -> str:
        """Return the metrics as soon as they contain a text."""
        end = time.monotonic() + PATIENCE_S
        while wanted not in (text := self.get()[1]):
            assert time.monotonic() < end, f"no {wanted} in {text[-2000:]}"
            time.sleep(0.05)
        return text


@contextmanager
def exporting(*arguments: str, python: str = sys.executable, user: str = "", **environment: str) -> Iterator[Exporter]:
    """Run an exporter on a free port until the end of the block. ``user``: its uid and gid, if others than ours."""
    owner = int(user) if user else None
    child = subprocess.Popen(
        [python, "-m", "gputop", "export", "--listen", "127.0.0.1:0", "--interval", "0.1", *arguments],
        stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True, env=os.environ | environment,
        user=owner, group=owner, extra_groups=[] if user else None,
    )  # fmt: skip
    try:
        yield Exporter(child, _url(child))
    finally:
        child.terminate()
        try:
            child.wait(PATIENCE_S)
        finally:
            child.kill()
            child.communicate()


def _url(child: "subprocess.Popen[str]") -> str:
    assert child.stderr
    said = ""
    while not (found := re.search(r"https?://\S+/metrics", said)):
        assert select.select([child.stderr], [], [], PATIENCE_S)[0], said
        line = child.stderr.readline()
        assert line, said
        said += line
    return found.group()
