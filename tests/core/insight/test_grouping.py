"""The place in the program that a stack names."""

import pytest

from gputop.core.insight.grouping import place_of
from gputop.core.insight.stacks import StackFrame

TORCH = "/opt/lib/python3.12/site-packages/torch/distributed/"
REDUCE = StackFrame("all_reduce", f"{TORCH}distributed_c10d.py", 3245)
WRAPPER = StackFrame("wrapper", f"{TORCH}c10d_logger.py", 81)  # around each collective of PyTorch
OWN = StackFrame("step", "/home/ann/train.py", 88)


@pytest.mark.parametrize(
    ("frames", "place"),
    [
        ((REDUCE, WRAPPER, OWN), "all_reduce at train.py:88"),
        ((REDUCE, OWN), "all_reduce at train.py:88"),
        ((WRAPPER, OWN), "step at train.py:88"),
        ((OWN,), "step at train.py:88"),
        ((REDUCE,), "all_reduce at distributed_c10d.py:3245"),
        ((), ""),
    ],
)
def test_the_place_of_a_wait_is_the_decorator_around_the_called_function(
    frames: tuple[StackFrame, ...], place: str
) -> None:
    assert place_of(frames) == place
