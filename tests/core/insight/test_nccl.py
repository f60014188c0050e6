"""The judgement of two answers of NCCL's RAS service."""

from collections.abc import Sequence

import pytest
from ras import answer, communicator, missing_rank, rank

from gputop.core.insight.explanation import ClaimKind, InsightClaim
from gputop.core.insight.nccl import RasJudgement, judge_ras
from gputop.core.insight.ras_answer import parse_ras

HERE = {100 + number: 100 + number for number in range(8)}


def _counts(counts: Sequence[int], name: str = "0xa1") -> bytes:
    return answer(communicator([rank(number, 100 + number, count) for number, count in enumerate(counts)], name=name))


def _judged(first: bytes, last: bytes) -> RasJudgement:
    return judge_ras(parse_ras(first), parse_ras(last), HERE)


def _claims(judgement: RasJudgement, kind: ClaimKind) -> list[InsightClaim]:
    return [claim for claim in judgement.claims if claim.kind is kind]


def test_the_rank_whose_count_is_smaller_is_behind_and_the_others_wait_in_the_operation_it_has_not_entered() -> None:
    counts = _counts([1204, 1204, 1204, 1204, 1204, 1203, 1204, 1204])
    judgement = _judged(counts, counts)

    (behind,) = _claims(judgement, ClaimKind.BEHIND)
    (waits,) = _claims(judgement, ClaimKind.WAITS)
    assert (behind.pids, behind.operation) == ((105,), "all-reduce 1,204")
    assert waits.pids == (100, 101, 102, 103, 104, 106, 107)
    assert waits.operation == "all-reduce 1,204"
    (group,) = judgement.collectives.groups
    assert (group.size, group.behind, group.is_moving) == (8, (5,), False)


def test_sends_hide_that_a_rank_has_entered_fewer_operations_than_the_others() -> None:
    counts = _counts([4, 4, 3])  # rank n has sent n messages
    (group,) = _judged(counts, counts).collectives.groups

    assert [(one.entered, one.operation) for one in group.ranks] == [
        (4, "all-reduce"), (4, "all-reduce"), (3, "all-reduce"),
    ]  # fmt: skip


def test_counts_that_differ_while_they_grow_accuse_no_rank() -> None:
    judgement = _judged(_counts([7, 6]), _counts([8, 7]))

    assert [claim.kind for claim in judgement.claims] == [ClaimKind.MOVES]
    assert judgement.claims[0].pids == (100, 101)


def test_counts_that_agree_and_do_not_grow_put_no_rank_behind() -> None:
    judgement = _judged(_counts([7, 7]), _counts([7, 7]))

    assert [claim.kind for claim in judgement.claims] == [ClaimKind.STANDS]


def test_an_idle_communicator_of_a_job_that_moves_does_not_count_as_hanging() -> None:
    ranks = [rank(0, 100, 3), rank(1, 101, 3)]
    unused = communicator([rank(0, 100, 2), rank(1, 101, 1)], name="0xdead")
    judgement = _judged(answer(communicator(ranks), unused), answer(communicator([rank(0, 100, 4), ranks[1]]), unused))

    assert {claim.kind for claim in judgement.claims} == {ClaimKind.MOVES}


def test_a_dead_rank_on_another_host_is_named_by_its_rank_and_host() -> None:
    report = answer(communicator([rank(0, 100, 3)], [missing_rank(9, 4711)]))
    judgement = _judged(report, report)

    (missing,) = _claims(judgement, ClaimKind.MISSING)
    assert (missing.pids, missing.ranks, missing.hosts) == ((), (9,), ("10.0.0.2",))
    assert judgement.collectives.groups[0].missing[0].status == "dead"


def test_a_rank_of_another_host_with_the_pid_of_a_member_is_not_taken_for_the_member() -> None:
    ranks = [rank(0, 100, 5), rank(1, 101, 5), rank(2, 100, 4, "10.0.0.2"), rank(3, 333, 5, "10.0.0.2")]
    report = answer(communicator(ranks))
    (behind,) = _claims(_judged(report, report), ClaimKind.BEHIND)

    assert (behind.pids, behind.ranks, behind.hosts) == ((), (2,), ("10.0.0.2",))


def test_the_rank_of_a_small_communicator_is_not_taken_for_the_rank_of_the_job() -> None:
    world = communicator([rank(0, 100, 3), *(rank(n, 700 + n, 3, "10.0.0.2") for n in range(1, 8))])
    pair = communicator([rank(0, 706, 4, "10.0.0.2"), rank(1, 707, 3, "10.0.0.2")], name="0xbeef")
    report = answer(world, pair)
    (behind,) = _claims(_judged(report, report), ClaimKind.BEHIND)

    assert behind.ranks == (7,)


def test_numbers_of_sends_that_differ_accuse_no_rank() -> None:
    report = answer(communicator([rank(0, 100, 3), rank(5, 101, 3)]))

    assert not _claims(_judged(report, report), ClaimKind.BEHIND)


def test_the_pid_inside_a_container_leads_to_the_pid_outside() -> None:
    report = parse_ras(answer(communicator([rank(0, 7, 3), rank(1, 8, 2)])))
    judgement = judge_ras(report, report, {7: 90_007, 8: 90_008})

    assert _claims(judgement, ClaimKind.BEHIND)[0].pids == (90_008,)


def test_an_answer_about_other_processes_is_recognized_as_such() -> None:
    report = parse_ras(_counts([3, 3]))

    assert not judge_ras(report, report, {5: 5}).is_of_members


@pytest.mark.parametrize(
    "raw",
    [
        b"", b"\xff\xfe\x00", b"[]", b"null", b'{"communicators": 7}', b"[" * 200_000,
        b'{"communicators":' + b"[" * 200_000,
        b'{"communicators": [{"ranks": [{"rank": "no"}]}]}',
        b'{"communicators": [{"ranks": [{"rank": 1, "pid": 99999999999999999999999}]}]}',
        b'{"communicators": [{"ranks": [{"rank": 1, "collective_counts": {"AllReduce": -5}}]}]}',
        b'{"communicators": [{"hash": "\xc3\x28"}]}',
        b'{"communicators": [' + b"{}," * 2000 + b"{}]}",
    ],
)  # fmt: skip
def test_anything_else_than_the_report_is_refused_with_a_reason(raw: bytes) -> None:
    with pytest.raises(ValueError, match="its answer"):
        parse_ras(raw)


def test_names_in_an_answer_cannot_write_to_the_terminal() -> None:
    ranks = [rank(0, 100, 3, "\x1b[2J"), rank(1, 101, 3, "\x1b[2J")]
    ranks[0]["collective_counts"]["\x1b]0;x\x07"] = 9
    report = answer(communicator(ranks, name="\x1b[31m"))
    judgement = _judged(report, report)

    assert "\x1b" not in repr(judgement).encode().decode("unicode_escape")
    assert _claims(judgement, ClaimKind.BEHIND)
