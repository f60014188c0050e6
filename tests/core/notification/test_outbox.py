"""Outbox: what a receiver gets, also if it was down, and that nothing grows without end."""

from math import inf

import msgspec
from alert_examples import alert

from gputop.core.notification.outbox import RESOLVED_S, RETRIES_S, UNSURE_S, KeptAlert, Outbox, Pace

LOST, LEAK, IDLE = alert("gpu.lost"), alert("leak.process"), alert("idle.process")
PEOPLE = Pace(every_s=30.0)
MACHINE = Pace(every_s=0.0, resend_s=60.0)
NOW = 1000.0


def states(batch: tuple[object, ...]) -> list[tuple[str, bool]]:
    return [(one.code, one.is_over) for one in batch]  # type: ignore[attr-defined]


def delivered(outbox: Outbox, now_s: float) -> list[tuple[str, bool]]:
    batch = outbox.batch(now_s)
    outbox.delivered(batch, now_s)
    return states(batch)


def test_a_finding_that_lasts_is_sent_once_and_then_its_end() -> None:
    outbox = Outbox(PEOPLE)
    outbox.take([LOST], NOW, NOW)

    assert delivered(outbox, NOW) == [("gpu.lost", False)]
    outbox.take([LOST], NOW + 100, NOW + 100)
    assert outbox.next_s() == inf
    outbox.take([], NOW + 200, NOW + 200)
    assert delivered(outbox, NOW + 200) == [("gpu.lost", True)]
    assert (outbox.next_s(), outbox.waiting) == (inf, 0)


def test_what_comes_during_the_pause_is_one_message_and_not_many() -> None:
    outbox = Outbox(PEOPLE)
    outbox.take([LOST], NOW, NOW)
    delivered(outbox, NOW)
    outbox.take([LOST, LEAK], NOW + 1, NOW + 1)
    outbox.take([LOST, LEAK, IDLE], NOW + 2, NOW + 2)

    assert outbox.batch(NOW + 29) == ()
    assert outbox.next_s() == NOW + 30
    assert states(outbox.batch(NOW + 30)) == [("leak.process", False), ("idle.process", False)]


def test_a_finding_that_flaps_during_the_pause_is_not_sent_again() -> None:
    outbox = Outbox(PEOPLE)
    outbox.take([LOST], NOW, NOW)
    delivered(outbox, NOW)
    outbox.take([], NOW + 1, NOW + 1)
    outbox.take([LOST], NOW + 2, NOW + 2)

    assert outbox.waiting == 0


def test_what_began_and_ended_while_the_receiver_was_down_is_sent_when_it_is_back() -> None:
    outbox = Outbox(PEOPLE)
    outbox.take([LOST], NOW, NOW)
    outbox.failed(NOW)
    outbox.take([LEAK], NOW + 3600, NOW + 3600)

    assert delivered(outbox, NOW + 7200) == [("gpu.lost", True), ("leak.process", False)]


def test_a_receiver_that_is_down_is_tried_less_and_less_often_but_never_given_up() -> None:
    outbox = Outbox(PEOPLE)
    outbox.take([LOST], NOW, NOW)
    pauses = []
    for _ in range(len(RETRIES_S) + 2):
        outbox.failed(NOW)
        pauses.append(outbox.next_s() - NOW)

    assert pauses == [*RETRIES_S, RETRIES_S[-1], RETRIES_S[-1]]


def test_a_receiver_that_asks_for_a_pause_gets_it_but_not_for_ever() -> None:
    outbox = Outbox(PEOPLE)
    outbox.take([LOST], NOW, NOW)
    outbox.failed(NOW, after_s=120.0)
    assert outbox.next_s() == NOW + 120

    outbox.failed(NOW, after_s=99_999.0)
    assert outbox.next_s() == NOW + 3600


def test_alertmanager_gets_all_again_after_a_minute_and_ends_for_15_minutes() -> None:
    outbox = Outbox(MACHINE)
    outbox.take([LOST], NOW, NOW)
    delivered(outbox, NOW)

    assert outbox.next_s() == NOW + 60
    assert delivered(outbox, NOW + 60) == [("gpu.lost", False)]
    outbox.take([], NOW + 70, NOW + 70)
    assert delivered(outbox, NOW + 70) == [("gpu.lost", True)]
    assert delivered(outbox, NOW + 130) == [("gpu.lost", True)]
    outbox.take([], NOW + 70 + RESOLVED_S, NOW)
    assert outbox.next_s() == inf


def test_a_receiver_without_ends_gets_none_unless_it_missed_the_begin() -> None:
    outbox = Outbox(Pace(every_s=1.0, sends_ends=False))
    outbox.take([LOST], NOW, NOW)
    delivered(outbox, NOW)
    outbox.take([LEAK], NOW + 2, NOW + 2)
    outbox.take([], NOW + 3, NOW + 3)

    assert delivered(outbox, NOW + 4) == [("leak.process", True)]


def test_a_batch_that_is_refused_does_not_hold_up_what_comes_after_it() -> None:
    outbox = Outbox(PEOPLE)
    outbox.take([LOST], NOW, NOW)
    outbox.refused(outbox.batch(NOW), NOW)
    outbox.take([LOST, LEAK], NOW + 60, NOW + 60)

    assert (outbox.dropped, delivered(outbox, NOW + 60)) == (1, [("leak.process", False)])


def test_a_receiver_that_is_down_for_ever_costs_a_bounded_memory() -> None:
    outbox = Outbox(PEOPLE, most_waiting=10)
    for number in range(1000):
        outbox.take([alert(f"code{number}"), LOST], NOW + number, NOW + number)

    assert outbox.waiting == 10
    assert ("gpu.lost", False) in states(outbox.batch(NOW + 2000))
    assert outbox.dropped > 900


def test_an_end_that_comes_while_its_begin_is_on_its_way_is_not_lost() -> None:
    outbox = Outbox(PEOPLE)
    outbox.take([LOST], NOW, NOW)
    batch = outbox.batch(NOW)
    outbox.take([], NOW + 1, NOW + 1)
    outbox.delivered(batch, NOW + 2)

    assert delivered(outbox, NOW + 60) == [("gpu.lost", True)]


def test_more_alerts_than_a_message_holds_come_in_the_next_ones() -> None:
    outbox = Outbox(Pace(every_s=1.0, batch=2))
    outbox.take([LOST, LEAK, IDLE], NOW, NOW)

    assert [len(delivered(outbox, NOW + second)) for second in (0, 1, 2)] == [2, 1, 0]


def restarted(outbox: Outbox, pace: Pace = PEOPLE, *, at_s: float = NOW + 10, monotonic_s: float = 5.0) -> Outbox:
    """Return the outbox of the next process: its monotonic clock began anew."""
    kept = msgspec.json.decode(msgspec.json.encode(outbox.kept(NOW, NOW)), type=tuple[KeptAlert, ...])
    following = Outbox(pace)
    following.restore(kept, monotonic_s, at_s)
    return following


def test_after_a_restart_what_was_sent_is_not_sent_again_and_ends_late() -> None:
    outbox = Outbox(PEOPLE)
    outbox.take([LOST], NOW, NOW)
    delivered(outbox, NOW)
    after = restarted(outbox)

    after.take([], 6.0, NOW + 11)  # not found yet
    assert after.waiting == 0
    after.take([], 5.0 + UNSURE_S, NOW + UNSURE_S)
    assert delivered(after, 5.0 + UNSURE_S) == [("gpu.lost", True)]


def test_after_a_restart_what_is_found_again_keeps_its_begin_and_ends_at_once() -> None:
    outbox = Outbox(PEOPLE)
    outbox.take([LOST], NOW, NOW)
    delivered(outbox, NOW)
    after = restarted(outbox)

    later = alert("gpu.lost", since_s=LOST.starts_s + 500)
    after.take([later], 6.0, NOW + 11)
    after.take([later], 7.0, NOW + 12)
    assert after.waiting == 0
    after.take([], 8.0, NOW + 13)
    (over,) = after.batch(8.0)
    assert (over.is_over, over.starts_s) == (True, LOST.starts_s)


def test_after_a_restart_what_was_due_is_sent_at_once_also_if_it_is_over() -> None:
    outbox = Outbox(PEOPLE)
    outbox.take([LOST, LEAK], NOW, NOW)
    outbox.take([LEAK], NOW, NOW)
    after = restarted(outbox)

    assert sorted(delivered(after, 5.0)) == [("gpu.lost", True), ("leak.process", False)]


def test_after_a_restart_alertmanager_gets_its_resend_in_time_and_never_in_the_future() -> None:
    outbox = Outbox(MACHINE)
    outbox.take([LOST], NOW, NOW)
    delivered(outbox, NOW)

    assert restarted(outbox, MACHINE, at_s=NOW + 10).next_s() == 5.0 - 10 + 60
    assert restarted(outbox, MACHINE, at_s=NOW - 9999).next_s() == 5.0 + 60  # the clock went back


def test_only_what_changes_the_state_counts_as_a_change() -> None:
    outbox = Outbox(PEOPLE)
    outbox.take([LOST], NOW, NOW)
    began = outbox.changes
    outbox.take([LOST], NOW + 1, NOW + 1)

    assert (began, outbox.changes) == (1, 1)
    delivered(outbox, NOW + 1)
    outbox.take([], NOW + 2, NOW + 2)
    assert outbox.changes == 3
