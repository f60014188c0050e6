"""Places on a recording as people write them."""

import pytest

from gputop.core.recording.playback import Playing, place, place_text, speed_text

NOON_S = 12 * 3600.0


@pytest.mark.parametrize(
    ("text", "at_s"),
    [
        ("0", 0.0),
        ("90", 90.0),
        ("90s", 90.0),
        ("12:30", 750.0),
        ("1:02:03", 3723.0),
        ("1h2m3s", 3723.0),
        ("50%", 3600.0),
        ("+30s", 1030.0),
        ("-1:00", 940.0),
        ("-2h", 0.0),
        ("999h", 7200.0),
        ("@12:01", 1060.0),
        ("@12:01:30", 1090.0),
        ("@11:50", 400.0),
        ("@3:00", 0.0),
    ],
)
def test_a_place_is_read(text: str, at_s: float) -> None:
    assert place(text, Playing(at_s=1000.0, length_s=7200.0), NOON_S) == at_s


@pytest.mark.parametrize("text", ["", "x", "1:2:3:4", ":", "12:", "@", "@9", "%", "+", "nan", "@:30", "1::2"])
def test_what_is_no_place_is_none(text: str) -> None:
    assert place(text, Playing(at_s=1000.0, length_s=7200.0), NOON_S) is None


def test_the_time_of_day_is_found_on_the_other_side_of_midnight() -> None:
    playing = Playing(at_s=600.0, length_s=7200.0)

    assert place("@0:10", playing, 23 * 3600 + 50 * 60.0) == 600.0 + 20 * 60


def test_places_and_speeds_are_told() -> None:
    assert [place_text(at) for at in (0.0, 59.9, 750.0, 3723.0)] == ["0:00", "0:59", "12:30", "1:02:03"]
    assert [speed_text(each) for each in (0.25, 32.0, float("inf"))] == ["0.25x", "32x", "full speed"]
