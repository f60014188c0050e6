"""The leak detector on a small part of the labelled suite; ``make detectors`` runs all of it."""

from detector_benchmark.leak_shapes import CARD
from detector_benchmark.leak_traces import HARD, LEAKS, QUIET
from detector_benchmark.leaks import Case, bytes_of, judged, mixtures, plain, through_the_judge, tricky
from detector_benchmark.scoring import Outcome, score

from gputop.core.detectors.leak.track import MemoryTrack

_SEEDS = range(1000, 1002)


def wrong(outcomes: list[Outcome]) -> list[str]:
    return [f"{one.kind} {one.seed} at {one.raised_s}" for one in outcomes if one.is_false or one.is_missed]


def test_leaks_are_told_from_what_looks_like_them() -> None:
    found = [judged(case) for case in plain(_SEEDS)]

    assert score(found).precision >= 0.95, wrong(found)
    assert score(found).recall >= 0.95, wrong(found)


def test_leaks_are_found_within_a_quarter_of_an_hour_in_the_middle() -> None:
    median_s = score([judged(Case(kind, 1000)) for kind in LEAKS]).median_s

    assert median_s is not None
    assert median_s <= 900


def test_what_was_written_to_break_it_mostly_does_not() -> None:
    found = [judged(case) for case in tricky(_SEEDS[:1])]

    assert score(found).precision >= 0.9, wrong(found)
    assert score(found).recall >= 0.9, wrong(found)


def test_mixtures_of_two_behaviours_are_told_apart() -> None:
    found = [judged(case) for case in mixtures(range(1000, 1024))]

    assert score(found).precision >= 0.9, wrong(found)
    assert score(found).recall >= 0.85, wrong(found)


def test_through_the_judge_the_verdict_is_the_same() -> None:
    cases = [Case(kind, 1003) for kind in (*list(LEAKS)[::5], *list(QUIET)[::7])]

    alone, shown = [judged(case) for case in cases], [through_the_judge(case) for case in cases]

    assert [one.raised_s is None for one in shown] == [one.raised_s is None for one in alone]


def test_what_was_taken_for_a_leak_is_taken_back_when_memory_returns() -> None:
    """Epochs of twenty minutes are a leak until the first of them ends."""
    found = [one for one in (judged(Case(list(HARD)[1], seed)) for seed in range(1000, 1004)) if one.raised_s]

    assert found
    assert {one.note for one in found} == {"taken back"}


def test_a_process_that_stands_still_costs_a_few_bytes_and_a_growing_one_a_few_kilobytes() -> None:
    still, grows = MemoryTrack(0.0, 100.0, 0.0, 0), MemoryTrack(0.0, 100.0, 0.0, 0)
    for second in range(50_000):
        still.add(float(second), 100.0, 60.0)
        grows.add(float(second), min(CARD, 100.0 + second), 60.0)

    assert bytes_of(still) < 400
    assert bytes_of(grows) < 6000
