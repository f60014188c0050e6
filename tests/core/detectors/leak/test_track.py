"""How the memory of a process is kept: next to nothing while it stands still, in bounds for ever."""

from itertools import pairwise

from gputop.core.detectors.leak.track import FINE, LIFE, MID, MemoryTrack


def track(seconds: int, *, base: float = 1000.0, rate: float = 0.0, since: int = 0) -> MemoryTrack:
    """Return a track of so many seconds that grows by ``rate`` a second since some second."""
    made = MemoryTrack(0.0, base, 0.0, 0)
    for second in range(seconds):
        made.add(float(second), base + rate * max(0, second - since), 60.0)
    return made


def test_a_process_that_stands_still_keeps_no_scales() -> None:
    assert track(10_000).scales is None


def test_who_begins_to_grow_has_the_past_as_it_was() -> None:
    scales = track(3700, rate=1.0, since=3600).scales

    assert scales is not None
    assert set(scales.mid.lows[:-4]) == {1000.0}
    assert scales.life.starts[0] == 0.0
    assert 1080 <= scales.fine.lows[-1] <= 1090


def test_memory_of_all_scales_is_bounded_and_life_goes_back_to_the_start() -> None:
    scales = track(200_000, rate=0.1).scales

    assert scales is not None
    assert (len(scales.fine), len(scales.mid)) == (FINE, MID)
    assert LIFE // 2 <= len(scales.life) <= LIFE
    assert scales.life.starts[0] == 0.0
    assert {after - before for before, after in pairwise(scales.life.starts)} == {scales.life_s}


def test_life_keeps_lows_and_highs_when_its_buckets_are_merged() -> None:
    scales = track(5000, rate=0.1).scales

    assert scales is not None
    assert scales.life.lows[0] == 1000.0
    assert all(low < high for low, high in zip(scales.life.lows[1:], scales.life.highs[1:], strict=True))
    assert list(scales.life.lows) == sorted(scales.life.lows)


def test_who_stands_still_for_half_an_hour_rests_again_and_is_as_old_as_it_is() -> None:
    made = MemoryTrack(0.0, 0.0, 100.0, 0)
    for second in range(3000):
        made.add(float(second), min(5000.0, 50.0 * second), 60.0)
    assert made.is_still()

    made.rest()

    assert made.scales is None
    assert 1700 <= made.observed_s <= 1830
    assert made.age_s + made.observed_s == 100.0 + 2999.0


def test_who_still_moves_does_not_rest() -> None:
    assert not track(3000, rate=0.02).is_still()


def test_time_without_a_sample_has_no_bucket() -> None:
    made = MemoryTrack(0.0, 0.0, 0.0, 0)
    for second in (*range(100), *range(500, 600)):
        made.add(float(second), 10.0 * second, 60.0)

    assert made.scales is not None
    assert [start for start in made.scales.fine.starts if 100 <= start < 500] == []


def test_evaluations_of_many_are_spread() -> None:
    due = set()
    for turn in range(3):
        made = MemoryTrack(0.0, 0.0, 0.0, turn)
        due.add(tuple(second for second in range(120) if made.add(float(second), 10.0 * second, 60.0)))

    assert len(due) == 3
    assert not set.intersection(*map(set, due))


def test_of_a_young_process_one_scale_is_kept_and_the_others_are_made_of_it() -> None:
    scales = track(300, rate=1.0).scales

    assert scales is not None
    assert scales.is_young
    assert list(scales.life.lows) == list(scales.fine.lows)
    assert list(scales.mid.lows) == list(scales.fine.lows)[::3]


def test_nothing_is_lost_when_a_process_is_young_no_more() -> None:
    scales = track(600, rate=1.0).scales

    assert scales is not None
    assert not scales.is_young
    assert [len(scales.fine), len(scales.mid), len(scales.life)] == [FINE, 20, 59]
    assert scales.life.starts[0] == scales.mid.starts[0] == 0.0


def test_a_process_that_is_seen_seldom_is_young_no_longer_than_others() -> None:
    made = MemoryTrack(0.0, 0.0, 0.0, 0)
    for second in range(0, 900, 30):
        made.add(float(second), 10.0 * second, 60.0)

    assert made.scales is not None
    assert not made.scales.is_young
