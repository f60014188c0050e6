"""Names of processes in an explanation."""

import pytest

from gputop.core.insight.member import Member
from gputop.core.insight.names import Names, Who

MEMBERS = tuple(Member(pid=100 + rank, start_ticks=1, rank=rank) for rank in range(64))
ODD = Who(tuple(range(101, 164, 2)))


def test_a_range_of_ranks_is_listed_one_by_one() -> None:
    assert Names(MEMBERS).of(Who(tuple(range(100, 163)))) == "ranks 0-62"
    assert Names(MEMBERS).of(Who((100, 101, 103))) == "ranks 0-1 and 3"


def test_a_verdict_lists_every_one_of_many_scattered_ranks() -> None:
    assert Names(MEMBERS).of(ODD) == "ranks 1, 3, 5, 7 and 28 more"


def test_the_page_hides_scattered_ranks() -> None:
    assert Names(MEMBERS, most=None).of(ODD).endswith("59, 61 and 63")


@pytest.mark.parametrize("other", [Member(pid=7, start_ticks=1), Member(pid=7, start_ticks=1, rank=3)])
def test_a_process_whose_rank_is_unknown_or_shared_is_named_by_a_rank(other: Member) -> None:
    assert Names((*MEMBERS[:3], other, Member(pid=8, start_ticks=1, rank=3))).of(Who((100, 7))) == "rank 0 and pid 7"
