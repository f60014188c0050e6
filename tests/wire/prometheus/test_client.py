"""The client of a Prometheus server against servers that are well, slow, broken and hostile."""

import gzip
import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from prometheus_stub import World, serving

from gputop.core.fleet.plan import queries
from gputop.wire.prometheus.client import PrometheusClient, Round
from gputop.wire.prometheus.http import Access, Connection, HttpError, endpoint

_PATIENCE_S = 20.0
Reply = Callable[[BaseHTTPRequestHandler], None]


@contextmanager
def _server(reply: Reply) -> Iterator[str]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            reply(self)

        def do_GET(self) -> None:
            reply(self)

        def log_message(self, *_: object) -> None: ...

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()


def _send(handler: BaseHTTPRequestHandler, status: int, body: bytes, **headers: str) -> None:
    handler.send_response(status)
    handler.send_header("Content-Length", str(len(body)))
    for name, value in headers.items():
        handler.send_header(name.replace("_", "-"), value)
    handler.end_headers()
    handler.wfile.write(body)


def _wait(released: threading.Event) -> None:
    released.wait(_PATIENCE_S)


def _hang_up(handler: BaseHTTPRequestHandler) -> None:
    handler.close_connection = True


def _json(value: object, status: int = 200) -> Reply:
    return lambda handler: _send(handler, status, json.dumps(value).encode())


def _ask(reply: Reply, *, timeout_s: float = _PATIENCE_S, headers: dict[str, str] | None = None) -> Round:
    with _server(reply) as url:
        client = PrometheusClient(endpoint(url), Access(headers or {}), timeout_s)
        try:
            return client.ask(queries()[:2])
        finally:
            client.close()


def test_numbers_come_as_text_also_those_that_are_none() -> None:
    samples = [{"metric": {"instance": "a:1", "gpu": "0"}, "value": [1.5, text]} for text in ("7.5", "NaN", "+Inf")]
    found = _ask(_json({"status": "success", "data": {"resultType": "vector", "result": samples}}))
    assert found.problems == ()
    assert [str(one.value[1]) for one in found.answers.values["utilization"]] == ["7.5", "nan", "inf"]


def test_each_question_is_asked_twice_because_its_connection_is_kept() -> None:
    world = World()
    with serving(world) as url:
        client = PrometheusClient(endpoint(url), Access(), _PATIENCE_S)
        client.ask(queries())
        client.ask(queries())
        client.close()

    assert sorted(world.queries) == sorted(2 * [*(query.text for query in queries()), "alerts"])


def test_an_answer_in_gzip_is_read_and_credentials_are_sent() -> None:
    seen: list[str | None] = []

    def reply(handler: BaseHTTPRequestHandler) -> None:
        seen.append(handler.headers["Authorization"])
        body = gzip.compress(json.dumps({"status": "success", "data": {"result": []}}).encode())
        _send(handler, 200, body, Content_Encoding="gzip")

    assert _ask(reply, headers={"Authorization": "Bearer abc"}).problems == ()
    assert set(seen) == {"Bearer abc"}


@pytest.mark.parametrize(
    ("reply", "words"),
    [
        (_json({"status": "error", "errorType": "bad_data", "error": "parse error"}, 400), "bad_data: parse error"),
        (_json({"status": "error", "errorType": "timeout", "error": "too long"}, 503), "timeout: too long"),
        (lambda handler: _send(handler, 401, b"no"), "it refuses access (HTTP 401)"),
        (lambda handler: _send(handler, 404, b"<html>"), "there is no Prometheus API at this URL (HTTP 404)"),
        (lambda handler: _send(handler, 200, b"<html>hello"), "it is no Prometheus API (HTTP 200)"),
        (lambda handler: _send(handler, 302, b"", Location="http://elsewhere/"), "redirects to http://elsewhere/"),
        (lambda handler: _send(handler, 200, b"\x1f\x8bjunk", Content_Encoding="gzip"), "not valid gzip"),
        (_hang_up, "Remote end closed connection without response"),
    ],
)
def test_a_server_that_cannot_answer_says_why_in_one_line(reply: Reply, words: str) -> None:
    found = _ask(reply)
    assert len(found.problems) == 1
    assert words in found.problems[0]
    assert not found.answers.labels


def test_a_server_that_hangs_costs_no_more_than_the_time_limit() -> None:
    released = threading.Event()
    try:
        found = _ask(lambda _: _wait(released), timeout_s=0.2)
        assert found.problems == ("no answer within 0.2 s",)
    finally:
        released.set()


def test_a_server_that_trickles_is_late_although_it_never_pauses_for_long() -> None:
    released = threading.Event()

    def reply(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(200)
        handler.send_header("Content-Length", "100000000")
        handler.end_headers()
        while not released.wait(0.01):
            handler.wfile.write(b" ")

    try:
        assert _ask(reply, timeout_s=0.5).problems == ("no answer within 0.5 s",)
    finally:
        released.set()


def test_an_answer_that_inflates_without_end_is_refused() -> None:
    body = gzip.compress(b" " * 4_000_000)
    with _server(lambda handler: _send(handler, 200, body, Content_Encoding="gzip")) as url:
        connection = Connection(endpoint(url), Access(), most_bytes=1 << 20)
        with pytest.raises(HttpError, match="larger than 1 MiB"):
            connection.ask("/", timeout_s=_PATIENCE_S)
        connection.close()


def test_nothing_that_listens_is_said_once() -> None:
    with _server(_json({})) as url:
        pass
    found = PrometheusClient(endpoint(url), Access(), _PATIENCE_S).ask(queries())
    assert found.problems == ("nothing listens there",)


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("ftp://n1", "is not a URL"),
        ("http://ann:secret@n1:9090", "must not contain a password"),
        ("http://n1:99999", "no valid port"),
        ("http://", "not the base URL"),
        ("http://n1/graph?g0=1", "not the base URL"),
    ],
)
def test_a_url_that_is_wrong_is_refused_without_showing_a_password(url: str, words: str) -> None:
    with pytest.raises(ValueError, match=words) as error:
        endpoint(url)
    assert "secret" not in str(error.value)


def test_a_base_url_may_have_a_path_and_no_scheme() -> None:
    assert endpoint("mimir.example:8080/prometheus/").name == "mimir.example:8080/prometheus"
    assert endpoint("https://p").is_tls
