"""How long the screen waits before it starts a sampler again."""

from gputop.wire.back_off import BackOff


def pauses_s(*frames: int) -> list[float]:
    back_off = BackOff()
    return [back_off.pause_s(each) for each in frames]


def test_the_first_samplers_that_are_killed_are_waited_for() -> None:
    assert pauses_s(0, 0, 0) == [0.0, 0.0, 0.0]


def test_samplers_that_die_again_and_again_without_a_frame_take_all_of_a_core() -> None:
    assert pauses_s(*[0] * 10)[3:] == [1.0, 2.0, 5.0, 10.0, 30.0, 30.0, 30.0]


def test_samplers_that_die_after_a_frame_are_waited_for_longer_than_a_second() -> None:
    assert pauses_s(*[1] * 20) == [0.0] * 3 + [1.0] * 17


def test_a_sampler_that_ran_well_is_waited_for_because_others_died_before() -> None:
    assert pauses_s(*[0] * 10, 10, 10, 10, 10, 0)[10:] == [0.0] * 5


def test_a_sampler_without_a_driver_counts_from_the_last_one_with_frames() -> None:
    back_off = BackOff()
    for frames in (0, 0, 3, 0):
        back_off.pause_s(frames)

    assert back_off.barren == 1
