"""A server of a fleet that fails in many ways: each has its words, old values stay with their age, and it recovers."""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs

import pytest

from gputop.app.fleet.known_server import KnownServer
from gputop.core.fleet.plan import queries
from gputop.wire.prometheus.client import PrometheusClient
from gputop.wire.prometheus.http import Access, endpoint

_PATIENCE_S = 30.0


class _World:
    """A server whose answers a test chooses. ``hosts``: instances, with their values; ``status``: of all answers."""

    def __init__(self) -> None:
        self.hosts = ["n1", "n2"]
        self.down: list[str] = []
        self.other = ""
        self.age_s = 1.0
        self.status = 200
        self.bearer = ""
        self.body: bytes | None = None
        self.asked = 0
        self.released = threading.Event()
        self.released.set()

    def answer(self, query: str, headers: dict[str, str]) -> tuple[int, bytes]:
        """Return status and body."""
        self.asked += 1
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
        else:
            return []
        rows: list[object] = []
        for name in self.hosts:
            labels = {"instance": f"{name}:9400", "gpu": "0", "Hostname": name.upper(), "job": "dcgm"}
            rows.append({"metric": labels, "value": [1, value]})
        return rows


@contextmanager
def _serving(world: _World) -> Iterator[str]:
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


class _Case:
    """A server, gputop's knowledge of it, and a clock that the test moves."""

    def __init__(self, url: str, world: _World, timeout_s: float) -> None:
        self.world = world
        self.now_s = 1000.0
        self.access = Access()
        self.known = KnownServer(
            PrometheusClient(endpoint(url), self.access, timeout_s), lambda: self.access, queries(), (),
            clock=lambda: self.now_s, wall=lambda: 1_700_000_000.0,
        )  # fmt: skip

    def read(self, *, is_urgent: bool = True) -> tuple[dict[str, str], str]:
        """Return the hosts with their problems, and the words about the server."""
        part = self.known.read(is_urgent=is_urgent)
        return {host.name: host.problem for host in part.hosts}, "; ".join(part.server.problems)


@contextmanager
def _case(timeout_s: float = _PATIENCE_S) -> Iterator[_Case]:
    world = _World()
    with _serving(world) as url:
        case = _Case(url, world, timeout_s)
        try:
            yield case
        finally:
            case.known.close()


def _unauthorised(world: _World) -> None:
    world.bearer = "secret"


def _wrong(world: _World) -> None:
    world.body = b"<html>hello"


def _starting(world: _World) -> None:
    world.status = 503


def _flooded(world: _World) -> None:
    world.status = 429


@pytest.mark.parametrize(
    ("fail", "words"),
    [
        (_unauthorised, "it refuses access (HTTP 401): give credentials with --http-config"),
        (_wrong, "it is no Prometheus API (HTTP 200)"),
        (_starting, "it is starting or overloaded (HTTP 503)"),
        (_flooded, "it gets too many questions (HTTP 429)"),
    ],
)
def test_a_server_that_fails_keeps_its_hosts_with_their_age_and_recovers_by_itself(
    fail: Callable[[_World], None], words: str
) -> None:
    with _case() as case:
        assert case.read() == ({"N1": "", "N2": ""}, "")
        fail(case.world)
        case.now_s += 60
        assert case.read() == ({"N1": "", "N2": ""}, f"{words}; values of 1m00 ago")
        case.now_s += 90
        hosts, said = case.read()
        assert hosts == {"N1": "old values", "N2": "old values"}
        assert "gputop asks again in 30s" in said
        case.world.__init__()  # type: ignore[misc] # well again
        case.now_s += 31
        assert case.read(is_urgent=False) == ({"N1": "", "N2": ""}, "")


def test_a_server_that_keeps_failing_is_asked_ever_less_often_but_at_once_if_the_user_wants() -> None:
    with _case() as case:
        _starting(case.world)
        case.read()
        case.read()
        asked = case.world.asked
        case.read(is_urgent=False)
        assert case.world.asked == asked
        waits = []
        for _ in range(6):
            _, said = case.read()
            waits.append(said.rpartition(" ")[2])
        assert waits == ["1m00", "2m00", "2m00", "2m00", "2m00", "2m00"]
        assert case.world.asked > asked


def test_a_slow_server_costs_one_time_limit_and_not_one_per_query() -> None:
    with _case(timeout_s=0.3) as case:
        case.world.released.clear()
        hosts, said = case.read()
        assert hosts == {}
        assert said == "no answer within 0.3 s"


def test_new_credentials_are_taken_from_their_file_after_a_refusal() -> None:
    with _case() as case:
        _unauthorised(case.world)
        case.access = Access({"Authorization": "Bearer secret"})
        assert "HTTP 401" in case.read()[1]
        assert case.read() == ({"N1": "", "N2": ""}, "")


def test_a_host_that_is_down_keeps_its_name_and_one_that_vanished_stays_as_gone() -> None:
    with _case() as case:
        case.read()
        case.world.hosts, case.world.down = ["n1"], ["n2"]
        assert case.read()[0] == {"N1": "", "N2": "down"}
        case.world.down = []
        hosts, _ = case.read()
        assert hosts["N2"].startswith("gone since ")
        case.world.hosts = ["n1", "n2"]
        assert case.read()[0] == {"N1": "", "N2": ""}


def test_old_data_are_named_so() -> None:
    with _case() as case:
        case.world.age_s = 250.0
        assert case.read()[0] == {"N1": "old values", "N2": "old values"}


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("", "it has no series of GPUs"),
        ("nvidia_smi_temperature_gpu", "GPUs by other names (nvidia_smi_temperature_gpu)"),
        ("DCGM_FI_DEV_GPU_UTIL", "do not serve DCGM_FI_DEV_GPU_TEMP"),
    ],
)
def test_a_server_without_the_usual_series_says_what_it_has(name: str, words: str) -> None:
    with _case() as case:
        case.world.hosts, case.world.other = [], name
        assert words in case.read()[1]
