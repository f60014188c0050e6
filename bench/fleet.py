"""CPU time of one reading of a fleet in gputop: answers decoded, hosts built, for 10 to 10,000 hosts of 8 GPUs.

    python bench/fleet.py [--json FILE]

The answers are simulated: what a server or a network costs is not in it. docs/performance.md explains the results.
"""

import argparse
import json
import time
from collections.abc import Callable
from random import Random
from statistics import median
from typing import Final

from gputop.core.fleet.answer import LABELS, VALUES, Answers
from gputop.core.fleet.build import hosts_of
from gputop.core.fleet.model import totals
from gputop.core.fleet.plan import NAMES
from gputop.lazy_imports import collect_seldom

HOSTS: Final = (10, 100, 1000, 10_000)
_GPUS: Final = 8
_ROUNDS: Final = 7
_OF_GPUS: Final[dict[str, Callable[[Random], float]]] = {
    "utilization": lambda random: random.randint(0, 100),
    "used": lambda random: random.randint(500, 70_000),
    "free": lambda random: random.randint(1000, 10_000),
}
_OF_HOSTS: Final = ("tensor", "power", "temperature", "age")


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", metavar="FILE", help="also write the values to this file")
    options = parser.parse_args()
    collect_seldom()
    found = {count: cost_ms(count) for count in HOSTS}
    for count, cost in found.items():
        print(f"{count:6} hosts: {cost:7.2f} ms of CPU per reading, {cost / count * 1000:.0f} µs per host")
    if options.json:
        with open(options.json, "w") as file:
            json.dump(found, file, indent=1)
    return 0


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
