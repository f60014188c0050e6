"""The judgement of dumps of the Flight Recorder."""

from typing import Any

import pytest
from flight_dumps import dump, entry

from gputop.core.insight.explanation import ClaimKind
from gputop.core.insight.flight import RankDump, judge_flight
from gputop.core.insight.flight_dump import reduce_dump


def _judged(*trees: dict[str, Any]) -> Any:
    return judge_flight([RankDump(rank, 100 + rank, reduce_dump(tree)) for rank, tree in enumerate(trees)], 1.0)


def test_a_rank_that_never_entered_the_collective_is_behind_and_the_others_wait_at_a_line_of_the_user() -> None:
    waits = dump([entry(1203), entry(1204, done=False)])
    details, claims = _judged(waits, dump([entry(1203)]), waits)

    behind, waiting = claims
    assert (behind.kind, behind.pids, behind.operation) == (ClaimKind.BEHIND, (101,), "all-reduce 1,204")
    assert (waiting.kind, waiting.pids, waiting.place) == (ClaimKind.WAITS, (100, 102), "all_reduce at train.py:88")
    (group,) = details.groups
    assert (group.size, group.behind) == (3, (1,))
    assert group.ranks[0].frames[0].function == "all_reduce"
    assert group.ranks[1].frames == ()


def test_ranks_that_are_all_in_the_same_collective_accuse_no_rank() -> None:
    waits = dump([entry(7, done=False)])
    _, claims = _judged(waits, waits)

    assert [claim.kind for claim in claims] == [ClaimKind.WAITS]


def test_a_rank_that_has_issued_more_collectives_ahead_accuses_no_rank_that_waits_in_the_first() -> None:
    _, claims = _judged(dump([entry(7, done=False), entry(8, done=False)]), dump([entry(7, done=False)]))

    assert {claim.kind for claim in claims} == {ClaimKind.WAITS}
    assert {claim.operation for claim in claims} == {"all-reduce 7"}


def test_ranks_whose_collectives_have_all_completed_wait_for_nothing() -> None:
    _, claims = _judged(dump([entry(7)]), dump([entry(6)]))

    assert claims == ()


def test_groups_are_judged_apart() -> None:
    details, claims = _judged(
        dump([entry(9), entry(3, done=False, group=("1", "pipeline"))]),
        dump([entry(9), entry(2, group=("1", "pipeline"))]),
    )

    assert [group.name for group in details.groups] == ["1 pipeline", "0 default_pg"]
    assert claims[0].operation == "all-reduce 3"


@pytest.mark.parametrize("tree", [None, [], {}, {"entries": {}}, {"entries": [], "version": "3.0"}, {"entries": []}])
def test_another_file_is_refused_with_a_reason(tree: Any) -> None:
    with pytest.raises(ValueError, match=r"it is not a dump|its version"):
        reduce_dump(tree)


def test_absurd_values_in_a_dump_are_passed_over() -> None:
    odd = [
        None, 7, {"collective_seq_id": True}, {"collective_seq_id": 10**30}, {"collective_seq_id": "1"},
        entry(3) | {"frames": [None, {"name": 5, "line": -1}], "process_group": 7, "profiling_name": b"\x1b"},
    ]  # fmt: skip
    (group,) = reduce_dump(dump(odd) | {"pg_config": {3: 4, "0": {"ranks": 5}}}).groups

    assert (group.name, group.entered, group.operation) == ("", 3, "")


def test_text_of_a_dump_cannot_write_to_the_terminal() -> None:
    hostile = entry(3, done=False) | {"profiling_name": "\x1b[2J", "frames": [{"name": "\x1b]0;", "filename": "\r\n"}]}
    (group,) = reduce_dump(dump([hostile])).groups

    assert (group.operation + group.frames[0].function + group.frames[0].file).isprintable()
