"""HTTP server of a test on loopback: it keeps what it gets, and answers as the test says."""

import json
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

PATIENCE_S = 60.0


class HttpReceiver:
    """A server with an address. ``answers``: the statuses of the first requests; then 200."""

    def __init__(self, answers: Sequence[int] = (), headers: dict[str, str] | None = None, port: int = 0) -> None:
        self.bodies: list[bytes] = []
        self.requests: list[dict[str, str]] = []
        self.answers = list(answers)
        self._headers = headers or {}
        self._gate = threading.Condition()
        self._server = ThreadingHTTPServer(("127.0.0.1", port), self._handler())
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
        self._thread.start()

    @property
    def port(self) -> int:
        return self._server.server_address[1]

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def messages(self) -> list[Any]:
        return [json.loads(body) for body in self.bodies]

    def until(self, holds: Callable[[], bool]) -> bool:
        """Wait until something holds of what arrived; return whether it does."""
        with self._gate:
            return self._gate.wait_for(holds, PATIENCE_S)

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(PATIENCE_S)

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers.get("Content-Length", "0")))
                with outer._gate:
                    status = outer.answers.pop(0) if outer.answers else 200
                    outer.bodies.append(body)
                    outer.requests.append({"path": self.path, **dict(self.headers.items())})
                    outer._gate.notify_all()
                self.send_response(status)
                for name, value in outer._headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_: Any) -> None:
                pass

        return Handler


@contextmanager
def http_receiver(answers: Sequence[int] = (), headers: dict[str, str] | None = None) -> Iterator[HttpReceiver]:
    server = HttpReceiver(answers, headers)
    try:
        yield server
    finally:
        server.close()
