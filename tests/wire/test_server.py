"""The sampler's loop."""

import io
import json
import os
import threading
from queue import SimpleQueue

import pytest
from examples import frame

from gputop.core.model.sample import Frame, Sample
from gputop.core.monitor import Monitor
from gputop.core.protocol.command import Change, Renice, SendSignal, Target
from gputop.core.protocol.outcome import Outcome, refused
from gputop.wire import codec
from gputop.wire.encoder import encode
from gputop.wire.server import ChangeQueue, Lines, Rhythm, obey, serve

PATIENCE_S = 30  # only ever waited for when a test fails
TERM = SendSignal(id="1", signal="SIGTERM", targets=(Target(4711, 47110),))
NICE = Renice(id="2", nice=10, targets=(Target(4711, 47110),))


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
    serve(Monitor(hand).step, Lines(out), Rhythm(hand, hand.clock), count=3)

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
        serve(Monitor(hand).step, Lines(Closed()), Rhythm(hand, hand.clock))


def test_a_monitor_makes_a_frame_of_all_that_a_sample_says() -> None:
    made = Monitor(Hand()).step()

    assert isinstance(made, Frame)
    assert made == frame()


def obeyed(text: bytes, execute: object, out: io.BytesIO) -> int:
    """Have these lines obeyed, until the sampler would leave; return the status it would leave with."""
    hand = Hand()
    rhythm = Rhythm(hand, hand.clock)
    left: SimpleQueue[int] = SimpleQueue()
    assert callable(execute)
    obey(io.BytesIO(text), rhythm, ChangeQueue(execute, Lines(out), rhythm), left.put)
    return left.get(timeout=PATIENCE_S)


def test_changes_are_carried_out_in_their_order_and_each_is_answered() -> None:
    done: list[Change] = []
    out = io.BytesIO()

    def execute(change: Change) -> Outcome:
        done.append(change)
        return refused(change, "no")

    obeyed(encode(TERM) + b"nonsense\n" + encode(NICE), execute, out)
    answers = [codec.answer(line) for line in out.getvalue().splitlines()]

    assert done == [TERM, NICE]
    assert answers == [refused(TERM, "no"), refused(NICE, "no")]


def test_what_was_asked_before_the_pipe_closed_is_done_before_the_sampler_leaves() -> None:
    begun, go_on = threading.Event(), threading.Event()
    out = io.BytesIO()

    def execute(change: Change) -> Outcome:
        begun.set()
        assert go_on.wait(PATIENCE_S)
        return refused(change, "no")

    def wait() -> None:
        begun.wait(PATIENCE_S)
        go_on.set()

    waiter = threading.Thread(target=wait)
    waiter.start()

    assert obeyed(encode(TERM), execute, out) == 0
    assert codec.answer(out.getvalue()) == refused(TERM, "no")
    waiter.join()


def test_a_change_that_is_under_way_holds_up_no_frame() -> None:
    asked, go_on = threading.Event(), threading.Event()
    out = io.BytesIO()
    hand = Hand()
    rhythm, lines = Rhythm(hand, hand.clock), Lines(out)

    def execute(change: Change) -> Outcome:
        asked.set()
        assert go_on.wait(PATIENCE_S)
        return refused(change, "no")

    changes = ChangeQueue(execute, lines, rhythm)
    changes.put(TERM)
    assert asked.wait(PATIENCE_S)
    serve(Monitor(hand).step, lines, rhythm, count=2)
    go_on.set()
    changes.close(PATIENCE_S)

    assert [type(codec.answer(line)) for line in out.getvalue().splitlines()] == [Frame, Frame, Outcome]


def test_a_reader_that_is_gone_stops_no_change() -> None:
    class Closed(io.BytesIO):
        def flush(self) -> None:
            raise BrokenPipeError

    done: list[Change] = []

    def execute(change: Change) -> Outcome:
        done.append(change)
        return refused(change, "no")

    obeyed(encode(TERM) + encode(NICE), execute, Closed())

    assert done == [TERM, NICE]


def test_lines_of_several_threads_never_mix() -> None:
    reader, writer = os.pipe()
    many = Renice(id="many", nice=1, targets=tuple(Target(n, n) for n in range(1, 3000)))
    count = 20
    with os.fdopen(writer, "wb", buffering=0) as raw:
        lines = Lines(raw)

        def repeat(value: Frame | Outcome) -> None:
            for _ in range(count):
                lines.write(value)

        threads = [threading.Thread(target=repeat, args=(value,)) for value in (frame(), refused(many, "no"))]
        for thread in threads:
            thread.start()
        with os.fdopen(reader, "rb") as source:
            read = [codec.answer(source.readline()) for _ in range(2 * count)]
        for thread in threads:
            thread.join()

    assert sum(isinstance(each, Frame) for each in read) == count
    assert sum(each == refused(many, "no") for each in read) == count
