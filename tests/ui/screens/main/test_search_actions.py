"""Filter and search while the user types."""

from examples import frame, process
from fake_host import FakeHost

from gputop.ui.screens.main.search_actions import SearchActions

ANN, BOB = process(4711, user="ann"), process(4712, user="bob", command="vllm serve")


def made(host: FakeHost) -> SearchActions:
    return SearchActions(host)


def two() -> FakeHost:
    return FakeHost(frame(processes=(ANN, BOB)))


def test_a_filter_hides_rows_while_the_user_types() -> None:
    host = two()
    search = made(host)
    search.filter()

    search.change_text("user:bob")

    assert host.processes.counts == (1, 1)


def test_a_filter_that_would_leave_no_row_changes_nothing_before_enter() -> None:
    host = two()
    search = made(host)
    search.filter()
    search.change_text("user:carl")
    assert host.processes.counts == (2, 0)

    assert search.close("user:carl", is_kept=True)

    assert host.processes.counts == (0, 2)


def test_a_filter_with_an_error_keeps_the_prompt_open() -> None:
    search = made(two())
    search.filter()

    assert not search.close("gpu_mem>", is_kept=True)


def test_a_search_that_is_given_up_returns_to_its_place() -> None:
    host = two()
    search = made(host)
    host.select(ANN)
    search.search()
    search.change_text("vllm")
    assert host.processes.selected is not None
    assert host.processes.selected.process.pid == 4712

    search.close("vllm", is_kept=False)

    assert host.processes.selected.process.pid == 4711


def test_next_without_a_search_says_how_to_begin_one() -> None:
    host = two()

    made(host).next(1)

    assert "/" in host.notices[0]


def test_clear_takes_the_search_first_and_then_the_filter() -> None:
    host = two()
    search = made(host)
    search.filter()
    search.close("user:bob", is_kept=True)
    search.search()
    search.change_text("vllm")
    search.close("vllm", is_kept=True)

    assert [search.clear(), search.clear(), search.clear()] == [True, True, False]
    assert host.processes.counts == (2, 0)
