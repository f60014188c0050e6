"""In which order layouts are offered."""

from mig_boards import A30, H100, board, instance

from gputop.core.mig.explain import possible


def test_equal_parts_come_first_then_full_ones_then_those_with_room_then_media_then_none() -> None:
    assert possible(board(A30)) == (
        "4g.24gb", "2x2g.12gb", "4x1g.6gb",
        "2g.12gb,2x1g.6gb",
        "2g.12gb", "1g.6gb", "2g.12gb,1g.6gb", "2x1g.6gb", "3x1g.6gb",
        "2g.12gb,2g.12gb+me", "2g.12gb,1g.6gb,1g.6gb+me", "2g.12gb+me,2x1g.6gb", "3x1g.6gb,1g.6gb+me",
        "2g.12gb+me", "1g.6gb+me", "2g.12gb,1g.6gb+me", "2g.12gb+me,1g.6gb", "1g.6gb,1g.6gb+me", "2x1g.6gb,1g.6gb+me",
        "none",
    )  # fmt: skip


def test_half_of_a_gpu_is_no_equal_part() -> None:
    assert possible(board(H100))[:6] == (
        "7g.80gb",
        "2x3g.40gb",
        "3x2g.20gb",
        "4x1g.20gb",
        "7x1g.10gb",
        "4g.40gb,3g.40gb",
    )


def test_what_is_in_use_is_in_all_of_them() -> None:
    offered = possible(board(H100, instance(H100, "3g.40gb", 4, users=1)))

    assert offered[0] == "2x3g.40gb"
    assert offered[-1] == "3g.40gb"
    assert all("3g.40gb" in each for each in offered)
