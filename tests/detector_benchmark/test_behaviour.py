"""The labelled suites of behaviour and jobs in their small form; `make detectors` shows all of it."""

from __future__ import annotations

import pytest
from detector_benchmark import behaviour, jobs
from detector_benchmark.behaviour_shapes import seeded
from detector_benchmark.behaviour_traces import CLASSES, mixed, neighbours, trace
from detector_benchmark.behaviour_traps import HIDDEN, TRAPS, Trap
from detector_benchmark.jobs_traces import SCENARIOS, job_trace
from detector_benchmark.scoring import DEVELOPMENT

_FIRST = DEVELOPMENT[0]


@pytest.mark.parametrize("kind", CLASSES)
def test_a_class_gets_its_label_and_its_alarm_and_no_other(kind: str) -> None:
    outcome, right, given, _ = behaviour.judged(trace(kind, _FIRST))

    assert not outcome.is_false, outcome.note
    assert not outcome.is_missed
    assert right in (given, "throttled")


@pytest.mark.parametrize("seed", range(_FIRST, _FIRST + 8))
def test_two_behaviours_on_one_gpu_make_no_false_alarm(seed: int) -> None:
    outcome, *_ = behaviour.judged(mixed(seed))

    assert not outcome.is_false, outcome.note


def test_what_is_stuck_beside_a_busy_neighbour_cannot_be_told() -> None:
    outcome, *_ = behaviour.judged(neighbours(_FIRST))

    assert not outcome.is_false, outcome.note


@pytest.mark.parametrize("make", TRAPS)
def test_a_trap_makes_no_alarm(make: object) -> None:
    outcome = behaviour.trapped(_made(make))

    assert not outcome.is_false, outcome.note


@pytest.mark.parametrize("make", HIDDEN)
def test_trouble_that_hides_is_found(make: object) -> None:
    outcome = behaviour.trapped(_made(make))

    assert outcome.is_hit, outcome.note


@pytest.mark.parametrize("kind", SCENARIOS)
def test_a_job_is_judged_rightly_and_the_odd_one_is_named(kind: str) -> None:
    outcome, right, given, is_named = jobs.judged(job_trace(kind, _FIRST))

    assert given == right, outcome.note
    assert is_named, outcome.note


def _made(make: object) -> Trap:
    assert callable(make)
    made = make(seeded(_FIRST))
    assert isinstance(made, Trap)
    return made
