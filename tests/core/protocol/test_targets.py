"""Whom a change is meant for."""

from examples import process

from gputop.core.protocol.targets import targets


def test_parents_stand_before_their_children_and_others_stay_in_their_order() -> None:
    family = (
        process(30, parent_pid=20),
        process(5, parent_pid=1),
        process(20, parent_pid=40),
        process(40, parent_pid=1),
    )

    assert [target.pid for target in targets(family)] == [5, 40, 20, 30]


def test_parents_in_a_circle_do_not_hang() -> None:
    circle = (process(1000, parent_pid=1001), process(1001, parent_pid=1000))

    assert {target.pid for target in targets(circle)} == {1000, 1001}
