"""Alerts of findings: their identity, and what receivers of another program would trip over."""

from alert_examples import finding, with_findings
from examples import NOW, frame

from gputop.core.model.finding import Stage, Subject
from gputop.core.model.process_id import ProcessId
from gputop.core.model.sample import Host
from gputop.core.notification.alert import alert_of, alerts_of


def test_a_longer_lasting_finding_is_not_another_alert() -> None:
    first = alert_of(finding(summary="hung for 5m", label="GPU 0"), frame())
    later = alert_of(finding(summary="hung for 6m", label="GPU 0 again", since_s=NOW - 9), frame())

    assert first.key == later.key
    assert first.fingerprint == later.fingerprint


def test_findings_of_two_processes_are_two_alerts() -> None:
    one, other = (finding(subject=Subject(label="x", process=ProcessId(pid, 1))) for pid in (7, 8))

    assert len(alerts_of(with_findings(one, other), Stage.SUSPECT)) == 2


def test_no_label_is_empty_or_contains_a_number_that_changes() -> None:
    labels = alert_of(finding(), frame()).labels

    assert all(labels.values())
    assert labels.keys() == {"alertname", "severity", "host", "job", "UUID"} | ({"gpu"} & labels.keys())


def test_a_stage_and_codes_select_the_alerts() -> None:
    shown = with_findings(
        finding("leak.process", stage=Stage.SUSPECT), finding("leakage", stage=Stage.ALARM),
        finding("idle.process", stage=Stage.OBSERVATION),
    )  # fmt: skip

    assert {one.code for one in alerts_of(shown, Stage.SUSPECT)} == {"leak.process", "leakage"}
    assert {one.code for one in alerts_of(shown, Stage.ALARM)} == {"leakage"}
    assert {one.code for one in alerts_of(shown, Stage.OBSERVATION, ("leak", "idle.process"))} == {
        "leak.process", "idle.process",
    }  # fmt: skip


def test_words_of_a_process_are_one_clean_line_of_limited_length() -> None:
    hostile = finding("evil\r\ncode", summary="x\r\nBcc: eve\x1b[2J" + "A" * 100_000, label="evil\n\n", gpu=None)
    alert = alert_of(hostile, frame(host=Host(name="h\r\nBcc: eve")))

    for text in (alert.host, alert.code, alert.summary, alert.description, alert.title, *alert.labels.values()):
        assert len(text) <= 2000
        assert text.isprintable()


def test_an_alert_never_ends_before_it_begins() -> None:
    alert = alert_of(finding(since_s=NOW), frame())

    assert alert.ended(NOW - 60).ends_s == NOW
