"""CPU time of one reading of a fleet in gputop: answers decoded, hosts built, for 10 to 10,000 hosts of 8 GPUs.

    python bench/fleet.py [--json FILE] [--screen]

The answers are simulated: what a server or a network costs is not in it. With ``--screen``, a small server on this
machine gives those of 1,000 hosts over HTTP; then also the screen is measured: its first table, a refresh, keys and
memory. docs/performance.md explains the results.
"""

import argparse
import asyncio
import json
import resource
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from multiprocessing import get_context
from random import Random
from statistics import median
from typing import Final
from urllib.parse import parse_qs

from textual.pilot import Pilot

from gputop.app.fleet.readers import FleetReader, reader_of
from gputop.app.fleet.request import FleetRequest
from gputop.core.fleet.answer import LABELS, VALUES, Answers
from gputop.core.fleet.build import hosts_of
from gputop.core.fleet.model import totals
from gputop.core.fleet.plan import NAMES, queries
from gputop.core.protocol.link import Down
from gputop.lazy_imports import collect_seldom
from gputop.ui.fleet_app import FleetApp
from gputop.ui.input.keymap import keymap
from gputop.ui.screens.fleet.options import FleetOptions

HOSTS: Final = (10, 100, 1000, 10_000)
_GPUS: Final = 8
_ROUNDS: Final = 7
_OF_GPUS: Final[dict[str, Callable[[Random], float]]] = {
    "utilization": lambda random: random.randint(0, 100),
    "used": lambda random: random.randint(500, 70_000),
    "free": lambda random: random.randint(1000, 10_000),
}
_SCREEN_HOSTS: Final = 1000
_SCREEN_ROUNDS: Final = 20
_KEYS: Final = ("down", "page_down", "sort_next", "view_next", "home")
_OF_HOSTS: Final = ("tensor", "power", "temperature", "age")


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", metavar="FILE", help="also write the values to this file")
    parser.add_argument("--screen", action="store_true", help="measure the screen of 1,000 hosts instead")
    options = parser.parse_args()
    collect_seldom()
    if options.screen:
        asyncio.run(measure_screen())
        return 0
    found = {count: cost_ms(count) for count in HOSTS}
    for count, cost in found.items():
        print(f"{count:6} hosts: {cost:7.2f} ms of CPU per reading, {cost / count * 1000:.0f} µs per host")
    if options.json:
        with open(options.json, "w") as file:
            json.dump(found, file, indent=1)
    return 0


async def measure_screen() -> None:
    """Measure the screen of 1,000 hosts on 200x60, and print."""
    with serving(bodies(_SCREEN_HOSTS, 1)) as url:
        began = time.perf_counter()
        reader = reader_of(FleetRequest(prometheus=(url,)))
        app = FleetApp(reader, FleetOptions(keys=keymap("gputop"), interval_s=3600.0))
        async with app.run_test(size=(200, 60)) as pilot:
            while app.fleet_screen.state.fleet is None:
                await pilot.pause(0.001)
            first_s = time.perf_counter() - began
            refreshes = [await _refresh(app, reader, pilot) for _ in range(_SCREEN_ROUNDS)]
            keys = [_key(app, name) for name in _KEYS for _ in range(_SCREEN_ROUNDS)]
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"first table:     {first_s:.2f} s after the reader starts, without the start of Python")
    print(f"refresh, CPU:    {min(refreshes):.0f} ms least, {median(refreshes):.0f} ms median")
    print(
        f"key, CPU:        {median(keys):.1f} ms median, {sorted(keys)[len(keys) * 95 // 100]:.1f} ms 95th percentile"
    )
    print(f"peak of memory:  {peak:.0f} MiB, with the answers of the server that it simulates")


async def _refresh(app: FleetApp, reader: FleetReader, pilot: "Pilot[Down]") -> float:
    """Return the CPU time of a refresh of the whole table: asked, built and drawn."""
    began = time.process_time()
    app.fleet_screen.show(reader.read())
    await pilot.pause()
    return (time.process_time() - began) * 1000


def _key(app: FleetApp, name: str) -> float:
    """Return the CPU time of a key: what it changes, and the lines of the table."""
    began = time.process_time()
    getattr(app.fleet_screen, f"do_{name}")()
    return (time.process_time() - began) * 1000


@contextmanager
def serving(found: dict[str, bytes]) -> Iterator[str]:
    """Answer queries in a process of its own; yield the URL."""
    answers = {query.text: found[query.key] for query in queries() if query.key in found}
    server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(answers))
    child = get_context("fork").Process(target=server.serve_forever, daemon=True)
    child.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        child.terminate()
        server.server_close()


def _handler(answers: dict[str, bytes]) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            form = parse_qs(self.rfile.read(int(self.headers["Content-Length"])).decode())
            self._send(answers.get(form["query"][0], _body([])))

        def do_GET(self) -> None:
            self._send(b'{"status":"success","data":{"alerts":[]}}')

        def _send(self, body: bytes) -> None:
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None: ...

    return Handler


def cost_ms(count: int) -> float:
    """Return the CPU time of a reading, as the median of some."""
    rounds = [bodies(count, seed) for seed in range(_ROUNDS)]
    costs = []
    for each in rounds:
        began = time.process_time()
        totals(hosts_of("bench", _answers(each)))
        costs.append((time.process_time() - began) * 1000)
    return median(costs[1:])  # the first one fills caches


def bodies(count: int, seed: int) -> dict[str, bytes]:
    """Return the answers of a server, as they come over the network."""
    random = Random(seed)  # noqa: S311 - no secret
    hosts = [f"host{number:05d}:9400" for number in range(count)]
    found = {
        key: _body([({"instance": host, "gpu": str(gpu)}, value(random)) for host in hosts for gpu in range(_GPUS)])
        for key, value in _OF_GPUS.items()
    }
    found |= {key: _body([({"instance": host}, random.random()) for host in hosts]) for key in _OF_HOSTS}
    named = [
        ({"instance": host, "job": "dcgm", "Hostname": host[:-5], "modelName": "NVIDIA H100"}, 8.0) for host in hosts
    ]
    return found | {NAMES: _body(named)}


def _body(rows: list[tuple[dict[str, str], float]]) -> bytes:
    result = [{"metric": labels, "value": [1_700_000_000.0, str(value)]} for labels, value in rows]
    return json.dumps({"status": "success", "data": {"resultType": "vector", "result": result}}).encode()


def _answers(each: dict[str, bytes]) -> Answers:
    values = {key: VALUES.decode(body).data.result for key, body in each.items() if key != NAMES}
    return Answers(values, {NAMES: LABELS.decode(each[NAMES]).data.result})


if __name__ == "__main__":
    raise SystemExit(main())
