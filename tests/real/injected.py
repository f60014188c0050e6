"""Trouble on the noise of real boards: hangs at measured levels of power, leaks of measured rates."""

from collections.abc import Iterator, Sequence
from itertools import chain, cycle, islice, pairwise
from statistics import mean
from typing import Final

from examples import NOW
from judging import judge_of
from real.recordings import Recording, Row, Second

from gputop.core.model.finding import Stage

WAITS_W: Final = (140.0, 165.0)  # eight H100 that wait in NCCL, of 700 W
CONTEXT_W: Final = "120.1"  # a context that does nothing
ACTIVE: Final = ("tensor_active_pct", "dram_active_pct", "pcie_tx_bytes_s", "pcie_rx_bytes_s", "nvlink_tx_bytes_s",
                 "nvlink_rx_bytes_s")  # fmt: skip
STEADY_MIB: Final = 64.0


def steady_part(recording: Recording) -> list[Second]:
    """Return the longest part in which no board frees or takes much memory."""
    boards = max(len(rows) for _, rows in recording.seconds)
    seconds = [second for second in recording.seconds if len(second[1]) == boards]
    held = [[float(row["mem_used_mib"]) for row in rows] for _, rows in seconds]
    cuts = [0, *(at for at, (one, other) in enumerate(pairwise(held), 1) if _differ(one, other)), len(held)]
    first, last = max(pairwise(cuts), key=lambda part: part[1] - part[0])
    return seconds[first:last]


def mean_utilization(part: Sequence[Second], gpu: int) -> float:
    """Return the mean utilization of a board."""
    return mean(float(row["util_pct"]) for _, rows in part for row in rows if row["gpu"] == str(gpu))


def prolonged(part: Sequence[Second], seconds: int) -> Iterator[Second]:
    """Return the part there and back again and again, so that no value jumps."""
    rows = cycle(chain((rows for _, rows in part), (rows for _, rows in reversed(part))))
    return ((float(at), one) for at, one in enumerate(islice(rows, seconds)))


def waits(recording: Recording) -> list[Row]:
    """Return what boards said while they waited in NCCL for a rank that wrote a checkpoint."""
    low_w, high_w = WAITS_W
    rows = [row for _, rows in recording.seconds for row in rows]
    return [row for row in rows if float(row["util_pct"]) >= 99 and low_w <= float(row["power_w"]) <= high_w]


def hung(
    part: Sequence[Second], waiting: Sequence[Row], from_s: int, seconds: int, out: int | None
) -> Iterator[Second]:
    """Return a job that hangs from ``from_s`` on; the rank ``out`` does nothing, all others wait."""
    feed = cycle(waiting)
    for at, rows in prolonged(part, seconds):
        yield at, rows if at < from_s else [_hung(row, next(feed), is_out=row["gpu"] == str(out)) for row in rows]


def leaking(part: Sequence[Second], gpu: int, mib_per_min: float, seconds: int) -> Iterator[Second]:
    """Return the part with a leak on one board."""
    for at, rows in prolonged(part, seconds):
        yield at, [_leaked(row, mib_per_min * at / 60) if row["gpu"] == str(gpu) else row for row in rows]


def shown(recording: Recording, seconds: Iterator[Second], code: str, least: Stage) -> float | None:
    """Return the second at which gputop first says so; None if it never does."""
    judge = judge_of()
    for sample, jobs in recording.played(seconds, has_cpu=True):
        for finding in judge.judge(sample, jobs):
            if finding.code == code and finding.stage.rank >= least.rank:
                return sample.time_s - NOW
    return None


def _differ(one: Sequence[float], other: Sequence[float]) -> bool:
    return any(abs(before - after) > STEADY_MIB for before, after in zip(one, other, strict=True))


def _hung(row: Row, waiting: Row, *, is_out: bool) -> Row:
    of_wait = {key: waiting[key] for key in ("power_w", "util_pct", "mem_util_pct")}
    quiet = {key: "0" for key in ACTIVE if row[key]}
    return row | quiet | ({"power_w": CONTEXT_W, "util_pct": "0", "mem_util_pct": "0"} if is_out else of_wait)


def _leaked(row: Row, mib: float) -> Row:
    return row | {"mem_used_mib": str(min(float(row["mem_total_mib"]) - 600, float(row["mem_used_mib"]) + mib))}
