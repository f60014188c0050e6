"""The verdict: one sentence from the claims of all sources."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gputop.core.insight.explanation import ClaimKind, InsightClaim, SourceReport, SourceState
from gputop.core.insight.member import Member
from gputop.core.insight.verdict import verdict

RANKS = tuple(Member(pid=100 + rank, start_ticks=1, rank=rank) for rank in range(8))
ALL = tuple(range(100, 108))
OTHERS = tuple(pid for pid in ALL if pid != 105)
LOADER = "DataLoader.__next__ at train.py:88"
REDUCE = "all_reduce at train.py:97"
OPERATION = "all-reduce 1,204"
K = ClaimKind


def claim(
    kind: ClaimKind, *pids: int, place: str = "", operation: str = "", ranks: tuple[int, ...] = (),
    hosts: tuple[str, ...] = (),
) -> InsightClaim:  # fmt: skip
    return InsightClaim(kind=kind, pids=pids, place=place, operation=operation, ranks=ranks, hosts=hosts)


def report(name: str, *claims: InsightClaim, state: SourceState = SourceState.ANSWERED) -> SourceReport:
    return SourceReport(name=name, title=name, state=state, claims=claims)


STACKS = report("stacks", claim(K.AT, 105, place=LOADER), claim(K.AT, *OTHERS, place=REDUCE))
NCCL = report("nccl", claim(K.BEHIND, 105, operation=OPERATION), claim(K.WAITS, *OTHERS, operation=OPERATION))


@pytest.mark.parametrize(
    ("reports", "lasted_s", "expected"),
    [
        (
            (STACKS, NCCL), 360.0,
            f"rank 5 never entered {OPERATION}: it is in {LOADER}; the other 7 have waited 6m00 for it.",
        ),
        ((NCCL,), None, f"rank 5 never entered {OPERATION}; the other 7 wait for it."),
        ((STACKS,), None, f"rank 5 is in {LOADER}; the other 7 are in {REDUCE}."),
        (
            (STACKS,), 65.0,
            f"rank 5 is in {LOADER}; the other 7 are in {REDUCE}; there was no progress for 1m05.",
        ),
        (
            (report("kernel", claim(K.AT, 105, place="system call futex")), STACKS), None,
            f"rank 5 is in {LOADER}; the other 7 are in {REDUCE}.",
        ),
        ((report("stacks", claim(K.AT, *ALL, place=REDUCE)),), None, f"all 8 ranks are in {REDUCE}."),
        (
            (report("stacks", claim(K.AT, *ALL, place=REDUCE)), report("nccl", claim(K.STANDS, *ALL))), None,
            f"all 8 ranks are in {REDUCE}; none is behind, so look at the network and the GPUs.",
        ),
        (
            (report("nccl", claim(K.STANDS, *ALL)),), None,
            "all 8 ranks wait, and none is behind: look at the network and the GPUs.",
        ),
        (
            (report("nccl", claim(K.MOVES, *ALL, operation="all-reduce")), STACKS), 60.0,
            "it does not hang: the count of all-reduce grew between two readings.",
        ),
        (
            (report("nccl", claim(K.MISSING, ranks=(12,), hosts=("node3",)), claim(K.WAITS, *ALL)),), None,
            "rank 12 on node3 does not answer; the other 8 wait for it.",
        ),
        (
            (report("kernel", claim(K.STOPPED, 105)), STACKS), None,
            f"rank 5 is stopped: it is in {LOADER}; the other 7 are in {REDUCE}.",
        ),
        (
            (report("a", claim(K.BEHIND, 100, 101, 102, 103)), report("b", claim(K.BEHIND, 104, 105, 106, 107))), None,
            "all 8 ranks are behind in an operation: they may wait for each other.",
        ),
        (
            (report("nccl", claim(K.BEHIND, 101, 102, 103, 104, 105, operation="{0}")),), None,
            "ranks 1-5 never entered {0}; the other 3 wait for them.",
        ),
        (
            (report("nccl", claim(K.BEHIND, 105), state=SourceState.UNAVAILABLE),), None,
            "no source could say where it hangs; each source below says why, and what would help.",
        ),
    ],
)  # fmt: skip
def test_the_verdict_of_eight_ranks(reports: tuple[SourceReport, ...], lasted_s: float | None, expected: str) -> None:
    assert verdict(RANKS, (), reports, lasted_s) == expected


def test_a_rank_that_has_ended_is_named_first() -> None:
    found = verdict(RANKS, (105,), (report("stacks", claim(K.AT, *OTHERS, place=REDUCE)),))

    assert found == f"rank 5 has ended; the other 7 are in {REDUCE}."


def test_counts_that_move_hide_a_rank_that_is_dead() -> None:
    found = verdict(RANKS, (), (report("nccl", claim(K.MOVES, *OTHERS), claim(K.MISSING, 105)),))

    assert found.startswith("rank 5 does not answer")


def test_processes_that_share_a_rank_are_confused() -> None:
    members = (Member(pid=1, start_ticks=1, rank=0), Member(pid=2, start_ticks=1, rank=0))
    found = verdict(members, (), (report("a", claim(K.AT, 1, place="x"), claim(K.AT, 2, place="y")),))

    assert found == "pid 1 is in x; pid 2 is in y."


def test_one_process_is_compared_with_others() -> None:
    found = verdict((Member(pid=7, start_ticks=1),), (), (report("stacks", claim(K.AT, 7, place="f at a.py:3")),))

    assert found == "pid 7 is in f at a.py:3."


def test_before_the_answers_the_verdict_says_that_nothing_is_known() -> None:
    assert verdict(RANKS, (), (report("a", state=SourceState.ASKED),), is_complete=False) == ""


claims = st.builds(
    InsightClaim,
    kind=st.sampled_from(ClaimKind),
    pids=st.lists(st.sampled_from(ALL), unique=True).map(tuple),
    ranks=st.lists(st.integers(0, 20), unique=True, max_size=3).map(tuple),
    hosts=st.lists(st.sampled_from(["node1", "node2"]), max_size=2).map(tuple),
    operation=st.sampled_from(["", OPERATION, "{x}"]),
    place=st.sampled_from(["", LOADER, REDUCE, "{y"]),
)


@given(
    st.lists(st.lists(claims, max_size=5), max_size=4),
    st.sets(st.sampled_from(ALL)),
    st.none() | st.floats(0, 1e6),
)
def test_conflicting_claims_make_no_sentence(
    held: list[list[InsightClaim]], ended: set[int], lasted_s: float | None
) -> None:
    reports = [report(f"s{n}", *each) for n, each in enumerate(held)]
    found = verdict(RANKS, ended, reports, lasted_s)

    assert found.endswith(".")
    assert found.count("  ") == 0
    assert " ;" not in found
    assert ": ;" not in found
    assert not found.startswith(("is ", "are ", ";", " "))


@given(st.lists(claims, max_size=5))
def test_counts_that_move_are_called_a_hang(held: list[InsightClaim]) -> None:
    kept = [each for each in held if each.kind not in {K.STOPPED, K.MISSING, K.FAILED}]
    found = verdict(RANKS, (), (report("nccl", claim(K.MOVES, *ALL)), report("other", *kept)), 60.0)

    assert found.startswith("it does not hang: ")
