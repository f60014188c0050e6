"""The sampler's loop."""

import io
import json

import pytest
from examples import frame

from gputop.core.monitor import Monitor
from gputop.core.sample import Frame, Sample
from gputop.wire.server import Rhythm, serve


class Hand:
    """A source and a clock that tests move by hand."""

    interval_s = 1.0

    def __init__(self) -> None:
        self.now = 100.0

    def clock(self) -> float:
        return self.now

    def read(self) -> Sample:
        self.now += 5.0  # a reading that takes longer than the interval
        return frame()


def test_each_frame_is_a_line_with_the_next_sequence_number() -> None:
    out = io.BytesIO()
    hand = Hand()
    serve(Monitor(hand).step, out, Rhythm(hand, hand.clock), count=3)

    assert [json.loads(line)["sequence"] for line in out.getvalue().splitlines()] == [1, 2, 3]


def test_a_slow_reading_is_not_caught_up_with() -> None:
    hand = Hand()
    rhythm = Rhythm(hand, hand.clock)
    hand.now += 60.0
    rhythm.wait()  # would wait for ever if it were not due

    assert hand.now == 160.0


def test_a_closed_pipe_ends_the_loop() -> None:
    class Closed(io.BytesIO):
        def flush(self) -> None:
            raise BrokenPipeError

    hand = Hand()
    with pytest.raises(BrokenPipeError):
        serve(Monitor(hand).step, Closed(), Rhythm(hand, hand.clock))


def test_a_monitor_makes_a_frame_of_all_that_a_sample_says() -> None:
    made = Monitor(Hand()).step()

    assert isinstance(made, Frame)
    assert made == frame()
