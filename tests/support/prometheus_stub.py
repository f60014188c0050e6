"""A server that answers the queries of a fleet as a test chooses, also wrongly."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs

_PATIENCE_S = 30.0


class World:
    """A server whose answers a test chooses. ``hosts``: instances, with their values; ``status``: of all answers."""

    def __init__(self) -> None:
        self.hosts = ["n1", "n2"]
        self.down: list[str] = []
        self.other = ""
        self.age_s = 1.0
        self.status = 200
        self.bearer = ""
        self.body: bytes | None = None
        self.queries: list[str] = []
        self.used_mib = 200
        self.released = threading.Event()
        self.released.set()

    @property
    def asked(self) -> int:
        """Return the number of questions so far."""
        return len(self.queries)

    def answer(self, query: str, headers: dict[str, str]) -> tuple[int, bytes]:
        """Return status and body."""
        self.queries.append(query)
        if self.bearer and headers.get("authorization") != f"Bearer {self.bearer}":
            return 401, b"no"
        if self.body is not None or self.status != 200:
            return self.status, self.body or b"<html>"
        return 200, json.dumps(
            {"status": "success", "data": {"resultType": "vector", "result": self._rows(query)}}
        ).encode()

    def _rows(self, query: str) -> list[object]:
        if "__name__" in query:
            return [{"metric": {"__name__": self.other}, "value": [1, "1"]}] if self.other else []
        if query.startswith("up"):
            return [{"metric": {"instance": f"{name}:9400", "job": "dcgm"}, "value": [1, "0"]} for name in self.down]
        if "time()" in query:
            value = str(self.age_s)
        elif "GPU_TEMP" in query or "GPU_UTIL" in query:
            value = "90"
        elif "FB_USED" in query and "count" not in query:
            value = str(self.used_mib)
        elif "FB_FREE" in query:
            value = str(1000 - self.used_mib)
        else:
            return []
        rows: list[object] = []
        for name in self.hosts:
            labels = {"instance": f"{name}:9400", "gpu": "0", "Hostname": name.upper(), "job": "dcgm"}
            rows.append({"metric": labels, "value": [1, value]})
        return rows


@contextmanager
def serving(world: World) -> Iterator[str]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            form = parse_qs(self.rfile.read(int(self.headers["Content-Length"])).decode())
            self._answer(form["query"][0])

        def do_GET(self) -> None:
            self._answer("alerts")

        def _answer(self, query: str) -> None:
            world.released.wait(_PATIENCE_S)
            status, body = world.answer(query, {name.lower(): value for name, value in self.headers.items()})
            try:
                self.send_response(status)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)
            except OSError:
                self.close_connection = True  # the client did not wait

        def log_message(self, *_: object) -> None: ...

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        world.released.set()
        server.shutdown()
        server.server_close()
