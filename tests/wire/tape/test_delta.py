"""What changed between two frames, and back: any frame after any other, also of processes that come and go."""

from copy import deepcopy
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from msgspec.json import decode, encode

from gputop.wire.tape.delta import Differ, Patcher, rounded

NUMBERS = st.integers(-(2**53), 2**53) | st.floats(-1e11, 1e11).map(lambda x: round(x, 3))
LEAVES = st.none() | st.booleans() | NUMBERS | st.sampled_from(["", "a", "R", "power cap"])
REASONS = st.dictionaries(st.sampled_from("ab"), st.just("unsupported"), max_size=2)
USES = st.fixed_dictionaries({"gpu": st.sampled_from("AB"), "memory_bytes": NUMBERS, "missing": REASONS})
PROCESSES = st.builds(
    lambda pid, values, uses: {"pid": pid, "start_ticks": pid * 10, **values, "gpus": uses},
    st.integers(1, 6),
    st.dictionaries(st.sampled_from(["cpu_percent", "state", "owner"]), LEAVES, max_size=3),
    st.lists(USES, max_size=2),
)
TREES = st.fixed_dictionaries(
    {
        "time_s": NUMBERS,
        "host": st.fixed_dictionaries({"cores_percent": st.lists(st.floats(0, 100), max_size=3), "load": LEAVES}),
        "processes": st.lists(PROCESSES, max_size=5),
        "problems": st.lists(st.sampled_from("xy"), max_size=2),
    }
)


def carried(line: object) -> Any:
    """Return what arrives at the other side of a file."""
    return decode(encode(line))


@given(st.lists(TREES, min_size=2, max_size=6))
def test_steps_from_frame_to_frame_give_back_every_frame_as_it_was_kept(trees: list[dict[str, Any]]) -> None:
    differ = Differ(deepcopy(trees[0]))
    patcher = Patcher(carried(differ.tree))

    for tree in trees[1:]:
        changed, moved = carried(differ.step(deepcopy(tree)))
        patcher.step(changed, moved)

        assert canonical(patcher.tree) == canonical(differ.tree)
        assert canonical(patcher.tree) == canonical(carried(rounded(tree)))


def canonical(tree: Any) -> Any:
    """Return a tree without what JSON does not tell apart: the order of keys, and which zero it is."""
    if isinstance(tree, dict):
        return {key: canonical(tree[key]) for key in sorted(tree)}
    if isinstance(tree, list):
        return [canonical(each) for each in tree]
    return (type(tree).__name__, tree)


def test_a_process_that_does_nothing_costs_a_sign() -> None:
    def tree(*percents: float) -> dict[str, Any]:
        return {"processes": [{"pid": n, "cpu_percent": each} for n, each in enumerate(percents)]}

    differ = Differ(tree(5.0, 0.0, 7.0))

    assert differ.step(tree(5.5, 0.0, 7.0)) == ({}, {"processes.cpu_percent": [0.5, 0, 0]})


def test_of_a_list_that_somebody_leaves_only_the_places_of_the_others_are_told() -> None:
    def tree(*pids: int) -> dict[str, Any]:
        return {"processes": [{"pid": pid, "user": "ann"} for pid in pids]}

    differ = Differ(tree(1, 2, 3, 4, 5))

    assert differ.step(tree(1, 2, 4, 5)) == ({"processes": [[0, 2], [3, 2]]}, {})
    assert differ.step(tree(9, 1, 2, 4, 5)) == ({"processes": [{"pid": 9, "user": "ann"}, [0, 4]]}, {})


def test_what_a_tape_says_steers_no_terminal() -> None:
    patcher = Patcher({"host": {"name": "a\x1b[2Jb"}})
    patcher.step({"processes": [{"command": "\x1b]0;x\x07"}]}, {"host.name": [["\x9b1m"]]})

    assert "\x1b" not in repr(patcher.tree).replace("\\x1b", "\x1b")
    assert patcher.tree["host"]["name"] == "\ufffd1m"
