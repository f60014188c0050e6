"""A playback on a clock that a test moves."""

from collections.abc import Sequence
from math import inf
from pathlib import Path

import pytest
from examples import frame, process
from judging import judge_of
from msgspec.structs import replace
from recordings import opened, simulated, taped

from gputop.core.model.finding import Finding, Stage, Subject
from gputop.core.model.sample import Frame
from gputop.core.recording.playback import Stretch
from gputop.wire.tape.layout import HEAD_BYTES, MARK
from gputop.wire.tape.playback import Playback

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
    """A playback, its clock, and the frames that it returned since the last jump."""

    def __init__(self, frames: list[Frame], folder: Path, step_s: float = 1.0) -> None:
        self.now = 50.0
        self.playback = Playback(opened(taped(frames, step_s), folder), lambda: self.now)
        self.remembered: list[int] = []
        self.shown: list[int] = []

    def take(self) -> Stretch | None:
        stretch = self.playback.take()
        if stretch is not None:
            if stretch.is_jump:
                self.remembered.clear()
            self.remembered += [each.sequence for each in stretch.frames]
            if stretch.shown is not None:
                self.shown.append(stretch.shown.sequence)
        return stretch

    def settle(self) -> int:
        """Take all that is due; return the number of the frame that is shown."""
        while self.playback.due_s() == 0.0:
            self.take()
        assert self.shown[-1] == self.remembered[-1] == self.playback.playing.number
        return self.shown[-1]


@pytest.fixture
def hand(tmp_path: Path) -> Hand:
    made = Hand(numbered(1000, found=(*range(300, 310), *range(700, 702))), tmp_path)
    assert made.settle() == 0
    return made


def test_it_begins_at_the_beginning_and_plays_a_second_a_second(hand: Hand) -> None:
    for second in range(1, 5):
        hand.now = 50.0 + second - 0.001
        assert hand.playback.due_s() == pytest.approx(0.001, abs=1e-5)
        assert hand.playback.take() is None
        hand.now = 50.0 + second + 1e-6
        assert hand.settle() == second


def test_it_plays_at_another_speed_from_where_it_is(hand: Hand) -> None:
    hand.playback.faster(2)
    hand.settle()
    hand.now += 10.0

    assert hand.settle() == 40
    assert hand.playback.playing.speed == 4.0
    assert hand.remembered == list(range(41))


def test_a_jump_shows_its_frame_at_once_and_then_remembers_those_that_lead_there(hand: Hand) -> None:
    hand.playback.go(800.4)
    first = hand.take()
    assert first is not None
    assert (first.shown and first.shown.sequence, first.frames) == (800, ())

    assert hand.settle() == 800
    assert hand.remembered == list(range(200, 801))
    assert hand.playback.playing.at_s == 800.0


def test_after_a_jump_it_goes_on_from_there(hand: Hand) -> None:
    hand.playback.go(800.0)
    hand.settle()
    hand.now += 3.0

    assert hand.settle() == 803
    assert hand.remembered == list(range(200, 804))


def test_a_jump_during_a_jump_counts(tmp_path: Path) -> None:
    hand = Hand(numbered(1000), tmp_path)
    ticks = iter(range(10**6))
    hand.playback._position._clock = lambda: next(ticks) * 0.05  # every look at the clock takes long
    hand.playback.go(900.0)
    for _ in range(5):
        hand.take()
    hand.playback.go(300.0)

    assert hand.settle() == 300
    assert hand.remembered[-1] == 300
    assert 900 not in hand.remembered


def test_steps_hold_the_tape_and_several_are_one_way(hand: Hand) -> None:
    hand.playback.go(500.0)
    hand.settle()
    hand.playback.step(1)
    hand.playback.step(1)
    hand.playback.step(-5)

    assert hand.settle() == 497
    assert not hand.playback.playing.is_playing
    hand.now += 100
    assert hand.playback.due_s() is None


def test_a_step_on_is_no_jump(hand: Hand) -> None:
    hand.playback.step(1)
    hand.playback.step(1)
    stretch = hand.take()

    assert stretch is not None
    assert not stretch.is_jump
    assert hand.remembered == [0, 1, 2]
    assert hand.settle() == 2


def test_steps_end_at_the_ends(hand: Hand) -> None:
    hand.playback.step(-1)
    assert hand.settle() == 0
    hand.playback.go(1e9)
    hand.playback.step(1)
    assert hand.settle() == 999
    hand.playback.step(3)
    assert hand.settle() == 999


def test_moving_goes_at_least_one_frame_and_not_beyond_the_ends(tmp_path: Path) -> None:
    hand = Hand(numbered(20), tmp_path, step_s=60.0)
    hand.settle()
    places = []
    for seconds in (10.0, -10.0, -10.0, 1e9, 10.0, -120.0):
        hand.playback.move(seconds)
        places.append(hand.settle())

    assert places == [1, 0, 0, 19, 19, 17]


def test_moves_add_up(hand: Hand) -> None:
    for _ in range(6):
        hand.playback.move(10.0)
    hand.playback.move(-60.0)
    hand.playback.move(60.0)

    assert hand.settle() == 60


def test_it_holds_at_the_end_and_begins_again_when_it_is_to_play(tmp_path: Path) -> None:
    hand = Hand(numbered(3), tmp_path)
    hand.settle()
    hand.now += 10
    assert hand.settle() == 2
    assert (hand.playback.playing.is_playing, hand.playback.playing.is_over) == (False, True)

    hand.playback.play()
    assert hand.settle() == 0
    assert hand.playback.playing.is_playing


def test_a_loop_begins_again_by_itself(tmp_path: Path) -> None:
    hand = Hand(numbered(3), tmp_path)
    hand.playback.loop()
    hand.settle()
    hand.now += 2

    assert hand.settle() == 0
    assert hand.shown == [0, 2, 0]
    assert hand.playback.playing.is_playing


def test_at_full_speed_everything_is_read_as_fast_as_it_can_be(hand: Hand) -> None:
    hand.playback.faster(20)
    assert hand.playback.playing.speed == inf
    while hand.playback.playing.is_playing:
        hand.settle()
        hand.now += 1.0

    assert hand.remembered == list(range(1000))


def test_nobody_waits_for_the_end_of_a_long_gap(tmp_path: Path) -> None:
    hand = Hand(numbered(3), tmp_path, step_s=8 * 3600.0)
    hand.settle()

    assert hand.playback.due_s() == pytest.approx(2.0)
    hand.now += 2.0
    assert hand.settle() == 1


def test_the_next_finding_is_one_that_is_not_shown_already(hand: Hand) -> None:
    hand.playback.find()
    assert hand.settle() == 300
    assert not hand.playback.playing.is_playing

    hand.playback.find()
    assert hand.settle() == 700

    hand.playback.find()
    assert hand.settle() == 700
    assert hand.playback.playing.note == "no further finding recorded; gputop analyse FILE judges it anew"


def test_a_key_ends_the_search_for_a_finding(tmp_path: Path) -> None:
    hand = Hand(numbered(500, found=(400,)), tmp_path)
    hand.settle()
    ticks = iter(range(10**6))
    hand.playback._clock = lambda: next(ticks) * 0.05  # every look at the clock takes long
    hand.playback.find()
    hand.take()
    partly = hand.playback.playing
    assert partly.is_seeking
    hand.playback.step(0)

    assert hand.settle() == partly.number < 400
    assert not hand.playback.playing.is_seeking


def test_what_is_asked_is_told_even_while_it_holds(hand: Hand) -> None:
    hand.playback.play()
    assert hand.take() == Stretch(hand.playback.playing)
    hand.playback.faster(1)

    assert hand.playback.due_s() == 0.0
    told = hand.take()
    assert told is not None
    assert told.playing.speed == 2.0
    assert hand.take() is None


def test_damage_is_told_when_it_is_met_and_the_rest_is_played(tmp_path: Path) -> None:
    raw = bytearray(taped(numbered(300)))
    raw[len(raw) // 2] ^= 0xFF
    hand = Hand(numbered(1), tmp_path)
    hand.playback = Playback(opened(bytes(raw), tmp_path), lambda: hand.now)
    hand.playback.faster(20)
    notes = set()
    while hand.playback.playing.is_playing:
        hand.settle()
        notes.add(hand.playback.playing.note)
        hand.now += 1.0

    assert any("damaged" in note for note in notes)
    assert hand.playback.playing.number == 299


@pytest.mark.parametrize("number", [0, 130, 200, 299])
def test_a_jump_into_damage_shows_the_nearest_good_frame(number: int, tmp_path: Path) -> None:
    raw = bytearray(taped(numbered(300)))
    second = raw.find(MARK, 1)
    raw[second + HEAD_BYTES + 20 : second + HEAD_BYTES + 60] = bytes(40)
    third = raw.find(MARK, second + 1)
    hand = Hand(numbered(1), tmp_path)
    hand.playback = Playback(opened(bytes(raw[:third] if number == 200 else raw), tmp_path), lambda: hand.now)
    hand.playback.step(number)

    assert hand.settle() == {0: 0, 130: 240, 200: 119, 299: 299}[number]


def test_a_recording_without_findings_is_judged_with_the_frames_before_the_shown_one(tmp_path: Path) -> None:
    tape = opened(taped(simulated(130, "trouble")), tmp_path)
    assert not tape.has_findings()
    tape.judging = lambda: judge_of("hardware")
    playback, shown = Playback(tape, lambda: 0.0), []
    playback.go(125.0)
    while playback.due_s() == 0.0:
        stretch = playback.take()
        shown += [stretch.shown] if stretch is not None and stretch.shown is not None else []

    assert "pcie.link" not in {one.code for one in shown[0].findings}
    assert {"ecc.uncorrected", "pcie.link"} <= {one.code for one in shown[-1].findings}
    assert shown[-1].sequence == shown[0].sequence
    assert playback.playing.note == "recorded without findings: gputop judges it now"


def test_recorded_findings_are_shown_as_they_are(tmp_path: Path) -> None:
    assert opened(taped(numbered(5, found=(0,))), tmp_path).has_findings()
    assert opened(taped([replace(one, judged_in_s=118.0) for one in numbered(3)]), tmp_path).has_findings()
    assert not opened(taped(numbered(5)), tmp_path).has_findings()
