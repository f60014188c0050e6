"""A server of a fleet that fails in many ways: each has its words, old values stay with their age, and it recovers."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest
from prometheus_stub import World, serving

from gputop.app.fleet.known_server import KnownServer
from gputop.core.fleet.plan import queries
from gputop.wire.prometheus.client import PrometheusClient
from gputop.wire.prometheus.http import Access, endpoint

_PATIENCE_S = 30.0


class _Case:
    """A server, gputop's knowledge of it, and a clock that the test moves."""

    def __init__(self, url: str, world: World, timeout_s: float) -> None:
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
    world = World()
    with serving(world) as url:
        case = _Case(url, world, timeout_s)
        try:
            yield case
        finally:
            case.known.close()


def _unauthorised(world: World) -> None:
    world.bearer = "secret"


def _wrong(world: World) -> None:
    world.body = b"<html>hello"


def _starting(world: World) -> None:
    world.status = 503


def _flooded(world: World) -> None:
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
    fail: Callable[[World], None], words: str
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


def test_the_memory_of_a_gpu_is_asked_each_time_or_is_wrong_in_between_or_missing_for_a_new_host() -> None:
    with _case() as case:

        def memory(*, is_urgent: bool = False) -> set[tuple[int | None, int | None]]:
            hosts = case.known.read(is_urgent=is_urgent).hosts
            return {(gpu.memory_used_bytes, gpu.memory_total_bytes) for host in hosts for gpu in host.gpus}

        def asked_free() -> int:
            return sum("FB_FREE" in query for query in case.world.queries)

        assert memory() == {(200 << 20, 1000 << 20)}
        case.world.used_mib = 600
        assert memory() == {(600 << 20, 1000 << 20)}
        assert asked_free() == 1
        case.world.hosts.append("n3")
        memory()
        assert memory() == {(600 << 20, 1000 << 20)}
        assert asked_free() == 2
        case.now_s += 301
        memory()
        memory(is_urgent=True)
        assert asked_free() == 4
