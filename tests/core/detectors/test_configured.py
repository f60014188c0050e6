"""Every number that decides is a threshold that can be set, and at the ends of its bounds nothing fails."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest
from detector_benchmark.behaviour_frames import samples as seconds_of
from detector_benchmark.behaviour_traces import mixed
from detector_benchmark.leaks import Case, samples
from judging import judge_of

import gputop.core.detectors as room
from gputop.core.detection.judge import BROKEN
from gputop.core.detectors.registry import detectors

KEPT = """
units: _MIB _DAY_S _MINUTE_S
what is kept, and how often it is worked out: _WIDTH FINE_S MID_S FINE MID LIFE EVALUATE_EVERY _BUCKET_S _BUCKETS _PARTS
  _MOST _APART_S _WINDOW_S _LEARNED _EVERY_S _LEARN_EVERY_S _SWEEP_S _SWEEP_EVERY_S _COUNT_S _WORK _AT_A_TIME
  _RANKS_AT_A_TIME _NOTED_S _AGAIN_S _ASLEEP_S _FAST_ASLEEP_S _ROLE_SOON_S _ROLE_EVERY_S _YOUNG_S _DEEPEST BUSY LIGHT
  IDLE UNKNOWN _WHOLE _NO_VOTES _LINE_EVERY
how long a sign holds until it is worked out again, and how long the driver's lists flicker: _HOLD_S _UNSEEN_S _MEETS_S
statistics without a unit: _LEAST _STARTS _NEAR _ALIKE _YOUNGEST_S _WARM_S _LONGER _SHORTEST
defaults of dials, and what other rooms settle: _STILL_MIB _LIGHT_PERCENT _UNKNOWN_TOTAL_MIB _HUNG_AFTER_S _BUSY
how sure it is, and in which words: SURE _UNSURE _DOUBT _SPINS _SAME_S _STEADY_SM _DROPPED _FEW_SMS _LOW_OCCUPANCY
  _STRONG_WORKER _MOST_NAMED _HOLDERS _LONGEST _POOL_SHARE _OFTEN _SURE _STEPS_NAMED _SAME_TIME _USED_BYTES
"""


def numbers() -> Iterator[str]:
    """Return the names of all numbers that modules of detectors have for themselves."""
    for path in Path(room.__path__[0]).rglob("*.py"):
        for node in ast.parse(path.read_text()).body:
            if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
                parts = list(ast.walk(node.value)) if node.value else []
                if any(isinstance(one, ast.Constant) and isinstance(one.value, (int, float)) for one in parts) and all(
                    isinstance(one, (ast.Constant, ast.BinOp, ast.UnaryOp, ast.operator, ast.unaryop)) for one in parts
                ):
                    yield node.target.id


def test_no_number_that_decides_is_out_of_reach_of_the_configuration() -> None:
    assert {name for name in numbers() if name not in KEPT.split()} == set()


@pytest.mark.parametrize("end", ["least", "most"])
@pytest.mark.parametrize("kind", ["P02 50 MiB/min, noise", "P05 under a sawtooth", "N15 wave of load"])
def test_no_threshold_of_memory_breaks_a_detector_at_an_end_of_its_bounds(kind: str, end: str) -> None:
    judge = judge_of(**{
        kind.name: {dial.key: getattr(dial, end) for dial in kind.dials} for kind, _ in detectors()
    })  # fmt: skip

    for sample in samples(Case(kind, 1).made()):
        assert [one.summary for one in judge.judge(sample, ()) if one.code == BROKEN] == []


@pytest.mark.parametrize("end", ["least", "most"])
@pytest.mark.parametrize("seed", range(3))
def test_no_threshold_of_behaviour_breaks_a_detector_at_an_end_of_its_bounds(seed: int, end: str) -> None:
    judge = judge_of(**{
        kind.name: {dial.key: getattr(dial, end) for dial in kind.dials} for kind, _ in detectors()
    })  # fmt: skip

    for sample, jobs in seconds_of(mixed(seed).scene):
        assert [one.summary for one in judge.judge(sample, jobs) if one.code == BROKEN] == []
