"""The age of what a remote host sends, whatever its clock says."""

import pytest
from hypothesis import given
from hypothesis.strategies import floats, lists, tuples

from gputop.core.protocol.remote import Echo
from gputop.wire.ssh.clock import RemoteClock

DELAYS = floats(0, 5)


@given(floats(-1000, 1000), lists(tuples(DELAYS, DELAYS), min_size=1, max_size=20), DELAYS)
def test_a_picture_is_older_than_it_says(ahead_s: float, trips: list[tuple[float, float]], old_s: float) -> None:
    clock, now_s = RemoteClock(), 1e6
    for out_s, back_s in trips:
        clock.take(Echo(sent_s=now_s, time_s=now_s + out_s + ahead_s), now_s + out_s + back_s)
        now_s += out_s + back_s
    age_s = clock.age_s(now_s - old_s + ahead_s, now_s)

    assert age_s == pytest.approx(old_s + min(out_s for out_s, _ in trips[-8:]), abs=1e-6)
    assert clock.round_trip_s == pytest.approx(sum(trips[-1]), abs=1e-6)


def test_an_answer_from_the_future_counts() -> None:
    clock = RemoteClock()
    clock.take(Echo(sent_s=200.0, time_s=0.0), 100.0)

    assert clock.round_trip_s is None
    assert clock.age_s(90.0, 100.0) == 10.0
