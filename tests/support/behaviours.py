"""Short builders of process behaviour, for tests of the detectors of behaviour."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from detector_benchmark.behaviour_frames import Rank, Scene, samples
from detector_benchmark.behaviour_shapes import H100, Board, Second
from judging import judge_of
from msgspec.structs import replace

from gputop.core.detection.judge import BROKEN, Judge
from gputop.core.model.finding import Finding, Stage
from gputop.core.model.sample import Sample

NAMES = ("stopped", "stuck", "stalled", "spin", "idle", "straggler", "bound")
WORK = Second(
    gu=97, mu=30, effort=0.8, pcie=100, nvlink=3000, sm=80, occupancy=30, tensor=50, dram=20, thread=70, state="R"
)  # fmt: skip
WAIT = Second(gu=100, mu=0, effort=0.02, pcie=1, nvlink=2, sm=10, occupancy=3, thread=99.5, state="R")
IDLE = Second(thread=1.0)
SPIN = Second(thread=99.0, state="R")
GONE = Second(is_alive=False)


def lone(*parts: tuple[Second, int], **fields: object) -> Rank:
    """Return a process that does this for so many seconds, then that."""
    return replace(Rank([second for second, count in parts for _ in range(count)]), **fields)


def rank(at: int, of: int, *parts: tuple[Second, int]) -> Rank:
    """Return a rank of a torchrun job, on the GPU of its number."""
    return lone(*parts, gpu=at, rank=at, world=of, framework=f"torchrun rank {at}/{of}", has_launcher=True)


def found(
    *ranks: Rank,
    board: Board = H100,
    names: Sequence[str] = NAMES,
    dials: dict[str, dict[str, float]] | None = None,
    change: Callable[[int, Sample], Sample] = lambda _, sample: sample,
) -> list[tuple[Finding, ...]]:
    """Return the findings of each second. ``change``: of the sample of a second."""
    judge: Judge = judge_of(*names, **(dials or {}))
    held = []
    for second, (sample, jobs) in enumerate(samples(Scene(list(ranks), board))):
        held.append(judge.judge(change(second, sample), jobs))
        assert all(finding.code != BROKEN for finding in held[-1]), held[-1]
    return held


def stages(held: list[tuple[Finding, ...]], code: str) -> dict[Stage, int]:
    """Return the second at which a finding first came to each stage."""
    first: dict[Stage, int] = {}
    for second, findings in enumerate(held):
        for finding in findings:
            if finding.code == code:
                first.setdefault(finding.stage, second)
    return first


def last(held: list[tuple[Finding, ...]], code: str) -> Finding:
    """Return a finding as it is at the end."""
    return next(finding for finding in held[-1] if finding.code == code)


def codes(held: list[tuple[Finding, ...]]) -> set[str]:
    """Return all codes that were ever found."""
    return {finding.code for findings in held for finding in findings}
