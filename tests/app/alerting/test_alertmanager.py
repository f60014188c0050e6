"""The real Alertmanager: a finding reaches the webhook behind it, resolves, and is known by the same fingerprint."""

import time
from pathlib import Path

from alert_examples import alert, finding, with_findings
from alertmanager import alertmanager, free_port
from http_receiver import HttpReceiver, http_receiver

from gputop.app.alerting.couriers import Couriers
from gputop.core.settings.receivers import Receiver, ReceiverKind

NOW = time.time()  # Alertmanager judges times by its own clock
HOSTILE = 'x\r\n"}]<!channel>\x1b[2J \u202e\udc80 é' * 50


def statuses(hook: HttpReceiver) -> list[tuple[str, str]]:
    return [(one["labels"]["alertname"], one["status"]) for message in hook.messages for one in message["alerts"]]


def receiver(port: int) -> Receiver:
    return Receiver(name="ops", kind=ReceiverKind.ALERTMANAGER, url=f"http://127.0.0.1:{port}", resend_s=1.0)


def test_a_finding_fires_reaches_the_webhook_and_resolves(tmp_path: Path) -> None:
    port = free_port()
    with http_receiver() as hook, alertmanager(tmp_path, port, hook.url) as server:
        couriers = Couriers([receiver(port)], lambda _: None)
        couriers.take(with_findings(finding(since_s=NOW)))
        assert hook.until(lambda: ("gpu.lost", "firing") in statuses(hook))
        fingerprints = [one["fingerprint"] for one in server.alerts()]
        couriers.take(with_findings(time_s=time.time()))
        assert hook.until(lambda: ("gpu.lost", "resolved") in statuses(hook))
        couriers.close()

    assert fingerprints == [alert().fingerprint]
    assert hook.messages[0]["commonAnnotations"]["runbook_url"] == "docs/findings.md#hardware"


def test_a_finding_that_is_there_before_alertmanager_is_not_lost(tmp_path: Path) -> None:
    port, said = free_port(), list[str]()
    with http_receiver() as hook:
        couriers = Couriers([receiver(port)], said.append)
        couriers.take(with_findings(finding(since_s=NOW), finding("leak.process", since_s=NOW)))
        with alertmanager(tmp_path, port, hook.url):
            assert hook.until(lambda: {"gpu.lost", "leak.process"} <= {name for name, _ in statuses(hook)})
            couriers.close()

    assert {status for _, status in statuses(hook)} == {"firing"}


def test_alertmanager_accepts_the_words_of_a_hostile_process(tmp_path: Path) -> None:
    port, said = free_port(), list[str]()
    with http_receiver() as hook, alertmanager(tmp_path, port, hook.url):
        couriers = Couriers([receiver(port)], said.append)
        couriers.take(with_findings(finding(HOSTILE[:300], gpu=None, label=HOSTILE, summary=HOSTILE, since_s=NOW)))
        assert hook.until(lambda: bool(hook.bodies))
        couriers.close()

    assert said == []
