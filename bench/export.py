"""CPU time of one scrape of gputop export with 200 processes on 8 GPUs: all series of a new frame as text, compressed.

    python bench/export.py

The box is simulated: what the driver costs is not in it, because a scrape asks no driver. docs/performance.md explains
the results.
"""

import time
from collections.abc import Iterator
from statistics import median
from typing import Final

from msgspec.structs import replace
from tape import crowd, frames

from gputop.app.exporting.publication import Publication
from gputop.app.exporting.site import answer
from gputop.core.usage.ledger import Ledger
from gputop.core.usage.past import Past
from gputop.lazy_imports import collect_seldom
from gputop.report.prometheus.scene import Shape
from gputop.simulator.boxes.parts import docker
from gputop.simulator.plan import BoxPlan
from gputop.wire.http_server import Request

PROCESSES: Final = 200
OF_A_JOB: Final = (8, 3, 1)
_FRAMES: Final = 120
_SCRAPE: Final = Request("GET", "/metrics", {"accept-encoding": "gzip"})


def main() -> None:
    """Measure and print."""
    collect_seldom()
    print("| jobs | series | KiB | KiB compressed | least CPU ms | median CPU ms |")
    print("| --- | --- | --- | --- | --- | --- |")
    for size in OF_A_JOB:
        print(row(box(size)), flush=True)


def box(size: int) -> BoxPlan:
    """Return the training box with more processes, as many of them in each job."""
    base = crowd(PROCESSES)
    kept = base.processes[:PROCESSES]
    return replace(base, processes=tuple(replace(one, cgroup=docker(f"c{n // size}")) for n, one in enumerate(kept)))


def row(plan: BoxPlan) -> str:
    """Return what the scrapes of a box cost."""
    publication = Publication(Shape(), Past(Ledger()))
    costs = list(_costs(plan, publication))
    text = publication.text()
    series = sum(not line.startswith("#") for line in text.splitlines())
    jobs = text.count("\ngputop_job_gpus{")
    sizes = (len(text) / 1024, len(answer(_SCRAPE, publication).body) / 1024)
    figures = f"{sizes[0]:.0f} | {sizes[1]:.0f} | {min(costs):.1f} | {median(costs):.1f}"
    return f"| {jobs} | {series} | {figures} |"


def _costs(plan: BoxPlan, publication: Publication) -> Iterator[float]:
    """Yield the milliseconds of a scrape of each frame. The first ones fill caches."""
    for number, frame in enumerate(frames(plan, _FRAMES)):
        publication.publish(frame, 0.01)
        began_s = time.process_time()
        answer(_SCRAPE, publication)
        if number > 10:
            yield (time.process_time() - began_s) * 1000


if __name__ == "__main__":
    main()
