"""Memory that grows in a few ever larger steps."""

from collections.abc import Iterable

from gputop.core.detectors.leak.rises import Rises


def risen(steps: Iterable[tuple[float, float]]) -> Rises:
    rises = Rises(1000.0)
    for at_s, mib in steps:
        rises.add(at_s, mib)
    return rises


def test_an_arena_that_doubles_until_the_next_step_does_not_fit_is_missed() -> None:
    rises = risen([(240, 2000), (480, 4000), (960, 8000), (1920, 16000)])

    assert not rises.has_outgrown(2000, free_mib=9000)
    assert rises.has_outgrown(2000, free_mib=7000)


def test_an_arena_that_stopped_to_grow_long_ago_is_outgrown() -> None:
    rises = risen([(240, 2000), (480, 4000), (960, 8000), (1920, 16000)])

    assert not rises.has_outgrown(1920 + 3 * 960, free_mib=7000)


def test_an_arena_that_doubles_while_the_program_starts_is_outgrown() -> None:
    rises = risen([(40, 2000), (80, 4000), (120, 8000), (160, 16000)])

    assert not rises.has_outgrown(200, free_mib=7000)


def test_steps_before_a_release_still_count() -> None:
    rises = risen([(240, 2000), (480, 4000), (960, 8000), (1000, 1000), (1920, 16000)])

    assert not rises.has_outgrown(2000, free_mib=7000)


def test_models_of_all_sizes_that_are_loaded_one_by_one_are_outgrown() -> None:
    rises = risen([(240, 12000), (480, 14000), (960, 30000), (1920, 33000)])

    assert not rises.has_outgrown(2000, free_mib=1000)


def test_equal_steps_ever_later_keep_no_pace() -> None:
    saturates = risen([(50, 2000), (100, 2000), (200, 2000), (400, 2000), (800, 2000), (1600, 2000)])
    progressive = risen([(300, 1000), (600, 2000), (900, 4000), (1200, 8000), (1500, 16000)])
    steady = risen([(50, 500), (100, 1000), (200, 2000), (400, 4000), (800, 8000), (1600, 16000)])

    assert not saturates.keeps_pace(1700)
    assert not progressive.keeps_pace(1600)
    assert steady.keeps_pace(1700)
