"""The counting of the labelled suites itself."""

from detector_benchmark.scoring import Outcome, confusion_text, score


def outcome(onset_s: float | None, raised_s: float | None) -> Outcome:
    return Outcome("x", 1, onset_s, raised_s)


def test_a_report_before_the_onset_is_a_false_alarm_and_no_hit() -> None:
    found = score([outcome(100, 50), outcome(100, 160), outcome(100, None), outcome(None, 5), outcome(None, None)])

    assert (found.hits, found.false, found.missed, found.quiet) == (1, 2, 1, 1)
    assert (found.precision, found.recall, found.median_s) == (1 / 3, 1 / 2, 60)


def test_an_onset_at_the_start_is_an_onset() -> None:
    assert score([outcome(0.0, 10.0)]).times_s == (10.0,)


def test_where_nothing_was_reported_nothing_was_wrong() -> None:
    assert (score([outcome(None, None)]).precision, score([]).recall) == (1.0, 1.0)


def test_a_confusion_has_a_line_for_each_right_label() -> None:
    assert confusion_text([("a", "a"), ("a", "b"), ("a", "a"), ("bb", "bb")]) == "a   a 2, b 1\nbb  bb 1"
