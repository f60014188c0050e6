"""Names that may become labels."""

from hypothesis import given
from hypothesis import strategies as st

from gputop.core.usage.names import Names


def test_the_most_important_names_come_first() -> None:
    assert Names[str](2, 10).take(["a", "b", "c"], 0) == {"a", "b"}


def test_an_admitted_name_stays_although_another_is_now_more_important() -> None:
    names = Names[str](1, 10)
    names.take(["a"], 0)

    assert names.take(["b", "a"], 1) == {"a"}
    assert names.take(["b"], 720) == {"b"}


def test_names_that_come_and_go_make_no_series_without_end() -> None:
    names = Names[int](10, 60)
    seen: set[int] = set()
    for second in range(3600):
        seen |= names.take([second], float(second))

    assert len(seen) <= 10 + 60


def test_a_name_that_returns_within_the_hour_is_not_new() -> None:
    names = Names[str](1, 0)
    names.take(["a"], 0)
    names.take([], 1)

    assert names.take(["a"], 2) == {"a"}


@given(st.lists(st.lists(st.integers(0, 30)), max_size=50))
def test_there_are_never_more_names_than_allowed(rounds: list[list[int]]) -> None:
    names = Names[int](5, 20)
    for now, wanted in enumerate(rounds):
        admitted = names.take(wanted, float(now))

        assert len(admitted) <= 5
        assert admitted <= set(wanted)
