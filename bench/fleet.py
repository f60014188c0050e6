"""CPU time of one reading of a fleet in gputop: answers decoded, hosts built, for 10 to 10,000 hosts of 8 GPUs.

    python bench/fleet.py [--json FILE] [--screen | --prometheus URL]

The answers are simulated: what a server or a network costs is not in it. The last two measure the screen in a
terminal: its first table, a refresh, keys and memory, with a small server on this machine that gives the answers of
1,000 hosts over HTTP, or with a real server. docs/performance.md explains the results.
"""

import argparse
import json
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from multiprocessing import get_context
from random import Random
from statistics import median
from typing import Final
from urllib.parse import parse_qs

from screen import Keys, Running, keys, running
from terminal import Terminal

from gputop.app.fleet.readers import FleetReader, reader_of
from gputop.app.fleet.request import FleetRequest
from gputop.core.fleet.answer import LABELS, VALUES, Answers
from gputop.core.fleet.build import hosts_of
from gputop.core.fleet.model import totals
from gputop.core.fleet.plan import NAMES, queries
from gputop.lazy_imports import collect_seldom

HOSTS: Final = (10, 100, 1000, 10_000)
_GPUS: Final = 8
_ROUNDS: Final = 7
_OF_GPUS: Final[dict[str, Callable[[Random], float]]] = {
    "utilization": lambda random: random.randint(0, 100),
    "used": lambda random: random.randint(500, 70_000),
    "free": lambda random: random.randint(1000, 10_000),
}
_SCREEN_HOSTS: Final = 1000
_SCREEN_ROUNDS: Final = 10
_INTERVAL_S: Final = 2.0
_STARTS: Final = 5
_PRESSES: Final = 60
_WARM_UP_S: Final = 5.0
_LIMIT_S: Final = 10.0
_OF_HOSTS: Final = ("tensor", "power", "temperature", "age")


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", metavar="FILE", help="also write the values to this file")
    parser.add_argument("--screen", action="store_true", help="measure the screen of 1,000 simulated hosts instead")
    parser.add_argument("--prometheus", metavar="URL", help="measure the screen with this server instead")
    options = parser.parse_args()
    collect_seldom()
    if options.prometheus:
        measure_screen(options.prometheus)
        return 0
    if options.screen:
        with serving(bodies(_SCREEN_HOSTS, 1)) as url:
            measure_screen(url)
        return 0
    found = {count: cost_ms(count) for count in HOSTS}
    for count, cost in found.items():
        print(f"{count:6} hosts: {cost:7.2f} ms of CPU per reading, {cost / count * 1000:.0f} µs per host")
    if options.json:
        with open(options.json, "w") as file:
            json.dump(found, file, indent=1)
    return 0


def measure_screen(url: str) -> None:
    """Measure the screen on 200x60 in a terminal, and print. ``url``: of a Prometheus server."""
    reader = reader_of(FleetRequest(prometheus=(url,)))
    host = min(host.name for host in reader.read().hosts)
    costs = [_reading(reader) for _ in range(_SCREEN_ROUNDS)]
    command = (sys.executable, "-m", "gputop", "fleet", "--prometheus", url, "--interval")
    first_s = [_first_table_s((*command, "60"), host) for _ in range(_STARTS)]
    pressed = _pressed((*command, "60"))
    used = _used((*command, str(_INTERVAL_S)))
    print(f"first table, with the start of Python: {median(first_s):.2f} s ({min(first_s):.2f} to {max(first_s):.2f})")
    print(f"reading: {median(wall_s for wall_s, _ in costs):.2f} s, {_range([cpu_ms for _, cpu_ms in costs])} of CPU")
    print(f"screen, asked, built and drawn: {used.cpu_percent * _INTERVAL_S * 10:.0f} ms of CPU per refresh")
    print(f"key to repaint: {pressed.median_ms:.1f} ms median, {pressed.p95_ms:.1f} ms 95th percentile")
    print(f"memory (PSS): {used.pss_bytes / 2**20:.0f} MiB, {used.written_bytes_per_s:.0f} bytes a second")


def _reading(reader: FleetReader) -> tuple[float, float]:
    """Return the time (s) and the CPU time (ms) of a reading."""
    began_s, began_cpu_s = time.monotonic(), time.process_time()
    reader.read()
    return time.monotonic() - began_s, (time.process_time() - began_cpu_s) * 1000


def _first_table_s(command: tuple[str, ...], host: str) -> float:
    """Return the time from exec until the output has the name of a host."""
    terminal = Terminal(command)
    try:
        seen = b""
        while host.encode() not in seen:
            terminal.wait(_LIMIT_S)
            seen = b"".join(data for _, data in terminal.chunks)
    finally:
        terminal.close()
    return terminal.chunks[-1][0] - terminal.started_s


def _pressed(command: tuple[str, ...]) -> Keys:
    terminal = Terminal(command)
    try:
        terminal.run(_WARM_UP_S)
        return keys(terminal, _PRESSES, 40)
    finally:
        terminal.close()


def _used(command: tuple[str, ...]) -> Running:
    terminal = Terminal(command)
    try:
        terminal.run(_WARM_UP_S)
        return running(terminal, _SCREEN_ROUNDS * _INTERVAL_S)
    finally:
        terminal.close()


def _range(values: list[float]) -> str:
    return f"{median(values):.0f} ms ({min(values):.0f} to {max(values):.0f})"


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
