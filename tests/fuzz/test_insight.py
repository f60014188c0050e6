"""Answers of NCCL, of the Flight Recorder and of py-spy: judged, or refused with a reason; nothing crashes."""

from contextlib import suppress

from hypothesis import given
from hypothesis import strategies as st
from msgspec.json import encode

from gputop.core.insight.flight import RankDump, judge_flight
from gputop.core.insight.flight_dump import reduce_dump
from gputop.core.insight.nccl import judge_ras
from gputop.core.insight.ras_answer import parse_ras
from gputop.core.text.text import is_clean
from gputop.machine.insight.py_spy import Refusal, stack_of

COUNTS = st.integers(-2, 9) | st.integers(-(2**63), 2**63) | st.text(max_size=3) | st.none()
RANK = st.fixed_dictionaries(
    {"rank": st.integers(-1, 9)},
    optional={
        "host": st.text(max_size=4), "pid": COUNTS,
        "collective_counts": st.dictionaries(st.sampled_from(("AllReduce", "Broadcast", "\x1b[2J")), COUNTS),
        "status": st.dictionaries(st.sampled_from(("init_state", "considered_dead", "unresponsive")), COUNTS),
    },
)  # fmt: skip
RANKS = st.lists(RANK, max_size=4)
RAS = st.fixed_dictionaries(
    {"communicators": st.lists(st.fixed_dictionaries({"hash": COUNTS, "size": COUNTS, "ranks": RANKS,
                                                      "missing_ranks": RANKS}), max_size=2)}
)  # fmt: skip


@given(RAS, RAS)
def test_answers_of_nccl(first: object, last: object) -> None:
    with suppress(ValueError):
        found = judge_ras(parse_ras(encode(first)), parse_ras(encode(last)), {1: 0, 2: 1})

        assert all(is_clean(claim.operation + "".join(claim.hosts)) for claim in found.claims)


ENTRY = st.dictionaries(
    st.sampled_from(("collective_seq_id", "process_group", "profiling_name", "state", "retired", "frames", "is_p2p")),
    COUNTS | st.booleans() | st.lists(st.dictionaries(st.sampled_from(("name", "filename", "line")), COUNTS)),
)
TREE = st.fixed_dictionaries(
    {"version": st.just("2.10") | COUNTS, "entries": st.lists(ENTRY | COUNTS, max_size=5) | COUNTS},
    optional={"pg_config": st.dictionaries(st.text(max_size=2), st.dictionaries(st.just("ranks"), COUNTS)) | COUNTS},
)


@given(st.lists(TREE, max_size=3))
def test_dumps_of_the_flight_recorder(trees: list[object]) -> None:
    with suppress(ValueError):
        dumps = [RankDump(rank, 100 + rank, reduce_dump(tree)) for rank, tree in enumerate(trees)]
        details, claims = judge_flight(dumps, 0.0)

        assert all(is_clean(claim.operation + claim.place) for claim in claims)
        assert all(is_clean(rank.operation + rank.status) for group in details.groups for rank in group.ranks)


@given(st.binary(max_size=80) | st.lists(st.dictionaries(st.text(max_size=9), COUNTS), max_size=3).map(encode))
def test_answers_of_py_spy(raw: bytes) -> None:
    found = stack_of(raw, 4711)

    assert isinstance(found, Refusal) or all(is_clean(frame.function + frame.file) for frame in found.frames)
