"""A tape deck on a clock that a test moves."""

from collections.abc import Sequence
from math import inf
from pathlib import Path

import pytest
from examples import frame, process
from taping import opened, taped

from gputop.core.finding import Finding, Stage, Subject
from gputop.core.playback import Stretch
from gputop.core.sample import Frame
from gputop.wire.tape.deck import Deck

FOUND = Finding(
    code="leak.process",
    stage=Stage.ALARM,
    subject=Subject(label="4711"),
    summary="it leaks",
    since_s=0.0,
    stage_since_s=0.0,
)


def numbered(count: int, found: Sequence[int] = ()) -> list[Frame]:
    return [
        frame(1, (process(4711),), sequence=n, time_s=1000.0 + n, findings=(FOUND,) if n in found else ())
        for n in range(count)
    ]


class Hand:
    """A deck, its clock, and what it handed on."""

    def __init__(self, frames: list[Frame], folder: Path, step_s: float = 1.0) -> None:
        self.now = 50.0
        self.deck = Deck(opened(taped(frames, step_s), folder), lambda: self.now)

    def take(self) -> Stretch:
        stretch = self.deck.take()
        assert stretch is not None
        return stretch

    def numbers(self) -> list[int]:
        return [each.sequence for each in self.take().frames]

    def settle(self) -> list[int]:
        """Return the numbers of all frames until nothing more is due."""
        found: list[int] = []
        while self.deck.due_s() == 0.0:
            found += self.numbers()
        return found


@pytest.fixture
def hand(tmp_path: Path) -> Hand:
    return Hand(numbered(1000, found=(*range(300, 310), *range(700, 702))), tmp_path)


def test_it_begins_at_the_beginning_and_plays_a_second_a_second(hand: Hand) -> None:
    assert hand.numbers() == [0]
    for second in range(1, 5):
        hand.now = 50.0 + second - 0.001
        assert hand.deck.due_s() == pytest.approx(0.001)
        assert hand.deck.take() is None
        hand.now = 50.0 + second
        assert hand.numbers() == [second]


def test_it_plays_at_another_speed_from_where_it_is(hand: Hand) -> None:
    hand.take()
    hand.deck.faster(2)
    hand.take()
    hand.now += 10.0

    assert hand.take().playing.speed == 4.0
    assert hand.deck.playing.number == 40


def test_a_jump_brings_the_frames_before_it_for_the_plots(hand: Hand) -> None:
    hand.take()
    hand.deck.go(800.4)
    stretch = hand.take()

    assert stretch.is_jump
    assert [each.sequence for each in stretch.frames] == list(range(200, 801))
    assert stretch.playing.at_s == 800.0


def test_steps_hold_the_tape_and_several_are_one_jump(hand: Hand) -> None:
    hand.take()
    hand.deck.go(500.0)
    hand.take()
    hand.deck.step(1)
    hand.deck.step(1)
    hand.deck.step(-5)
    stretch = hand.take()

    assert (stretch.frames[-1].sequence, stretch.playing.is_playing) == (497, False)
    hand.now += 100
    assert hand.deck.due_s() is None


def test_moving_goes_at_least_one_frame_and_not_beyond_the_ends(tmp_path: Path) -> None:
    hand = Hand(numbered(20), tmp_path, step_s=60.0)
    hand.take()

    hand.deck.move(10.0)
    assert hand.take().playing.number == 1
    hand.deck.move(-10.0)
    assert hand.take().playing.number == 0
    hand.deck.move(-10.0)
    assert hand.take().playing.number == 0
    hand.deck.move(1e9)
    assert hand.take().playing.number == 19


def test_it_holds_at_the_end_and_begins_again_when_it_is_to_play(tmp_path: Path) -> None:
    hand = Hand(numbered(3), tmp_path)
    hand.take()
    hand.now += 10
    stretch = hand.take()

    assert [each.sequence for each in stretch.frames] == [1, 2]
    assert (stretch.playing.is_playing, stretch.playing.is_over) == (False, True)
    hand.deck.play()
    assert hand.numbers() == [0]
    assert hand.deck.playing.is_playing


def test_a_loop_begins_again_by_itself(tmp_path: Path) -> None:
    hand = Hand(numbered(3), tmp_path)
    hand.deck.loop()
    hand.take()
    hand.now += 2
    assert hand.numbers() == [1, 2]

    assert hand.numbers() == [0]
    assert hand.deck.playing.is_playing


def test_at_full_speed_everything_is_read_as_fast_as_it_can_be(hand: Hand) -> None:
    hand.take()
    hand.deck.faster(20)
    assert hand.deck.playing.speed == inf
    found: list[int] = []
    while hand.deck.playing.is_playing:
        found += hand.numbers()
        hand.now += 1.0

    assert found == list(range(1, 1000))


def test_nobody_waits_for_the_end_of_a_long_gap(tmp_path: Path) -> None:
    hand = Hand(numbered(3), tmp_path, step_s=8 * 3600.0)
    hand.take()

    assert hand.deck.due_s() == pytest.approx(2.0)
    hand.now += 2.0
    assert hand.numbers() == [1]


def test_the_next_finding_is_one_that_is_not_shown_already(hand: Hand) -> None:
    hand.take()
    hand.deck.find()
    assert hand.settle()[-1] == 300
    assert not hand.deck.playing.is_playing

    hand.deck.find()
    assert hand.settle()[-1] == 700

    hand.deck.find()
    hand.settle()
    assert hand.deck.playing.number == 700
    assert hand.deck.playing.note == "no further finding on this tape"


def test_a_key_ends_the_search_for_a_finding(tmp_path: Path) -> None:
    hand = Hand(numbered(500, found=(400,)), tmp_path)
    hand.take()
    ticks = iter(range(10**6))
    hand.deck._clock = lambda: next(ticks) * 0.05  # every look at the clock takes long
    hand.deck.find()
    partly = hand.take()
    assert partly.playing.is_seeking
    hand.deck.play()
    stretch = hand.take()

    assert not stretch.playing.is_seeking
    assert stretch.frames[-1].sequence == stretch.playing.number == partly.playing.number < 400


def test_what_is_asked_is_told_even_while_it_holds(hand: Hand) -> None:
    hand.take()
    hand.deck.play()
    assert hand.take() == Stretch((), hand.deck.playing)
    hand.deck.faster(1)

    assert hand.deck.due_s() == 0.0
    assert hand.take().playing.speed == 2.0
    assert hand.deck.take() is None


def test_damage_is_told_when_it_is_met(tmp_path: Path) -> None:
    raw = bytearray(taped(numbered(300)))
    raw[len(raw) // 2] ^= 0xFF
    (tmp_path / "x").mkdir()
    hand = Hand(numbered(1), tmp_path)
    hand.deck = Deck(opened(bytes(raw), tmp_path / "x"), lambda: hand.now)
    hand.deck.faster(20)
    notes = set()
    for _ in range(20):
        stretch = hand.deck.take()
        if stretch is not None:
            notes.add(stretch.playing.note)
        hand.now += 1.0

    assert any("damaged" in note for note in notes)
    assert hand.deck.playing.number == 299
