"""Looks on while workers run: shows how far they are, and has the driver watched."""

import time
from collections.abc import Mapping, Sequence
from typing import Final, TextIO

from msgspec.structs import replace

from gputop.cli.probing.driver_watch import DriverWatch
from gputop.cli.probing.follower import Follower
from gputop.machine.probe.runner import Job
from gputop.report.grid import look
from gputop.report.probe import Stand, progress

_DRAW_EVERY_S: Final = 0.25


class Watch:
    """Of one run. ``seconds``: by test; ``driver``: what is read meanwhile; ``terminal``: where progress may go.

    ``follower``: is told how it goes.
    """

    def __init__(
        self, driver: DriverWatch | None, seconds: Mapping[str, float], terminal: TextIO, follower: Follower | None
    ) -> None:
        self._driver = driver
        self._follower = follower
        self._seconds = seconds
        self._terminal = terminal if terminal.isatty() else None
        self._drawn_s = 0.0
        self._lines = 0

    def tell(self, jobs: Sequence[Job]) -> None:
        """Look once; often enough, as it does nothing more than it has to."""
        now = time.monotonic()
        if self._driver is not None:
            self._driver.look(jobs, now)
        if self._terminal is not None and now - self._drawn_s >= _DRAW_EVERY_S:
            self._drawn_s = now
            self._draw(self._stands(jobs))
        if self._follower is not None:
            self._follower.tell(jobs, {stand.label: stand for stand in self._stands(jobs)})

    def clear(self) -> None:
        """Take the progress away."""
        if self._terminal is not None and self._lines:
            self._draw([])

    def _stands(self, jobs: Sequence[Job]) -> list[Stand]:
        """Say how far all are; who waits for others waits as long as they take."""
        found, ahead_s = list[Stand](), 0.0
        for job in jobs:
            heat = self._driver.heat(job.task.plan.uuid) if self._driver is not None else ""
            stand = _stand(job, self._seconds, heat)
            if job.is_waiting:
                stand = replace(stand, left_s=stand.left_s + ahead_s)
            ahead_s = max(ahead_s, stand.left_s)
            found.append(stand)
        return found

    def _draw(self, stands: Sequence[Stand]) -> None:
        """Write the lines over those of before."""
        if self._terminal is None:
            return
        lines = progress(stands, look(self._terminal, {})[0])
        up = f"\x1b[{self._lines}A" if self._lines else ""
        self._terminal.write(f"{up}\r\x1b[J" + "".join(f"{line}\n" for line in lines))
        self._terminal.flush()
        self._lines = len(lines)


def _stand(job: Job, seconds: Mapping[str, float], heat: str) -> Stand:
    """Say how far a worker is, by the seconds that its tests take."""
    record = job.record
    total = sum(seconds[key] for key in record.wanted) or 1.0
    left = sum(seconds[key] for key in record.left)
    current = seconds.get(record.current or "", 0.0) * (1 - record.done)
    test = "done" if job.is_over else record.current or ("waiting" if job.is_waiting else "starting")
    return Stand(
        label=job.task.label, test=test, done=0.0 if record.hello is None else 1 - (left + current) / total,
        left_s=0.0 if job.is_over else left + current, text="" if job.is_over else record.text, heat=heat,
    )  # fmt: skip
