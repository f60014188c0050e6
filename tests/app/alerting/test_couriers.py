"""Couriers: findings of frames on their way to real servers, also to those that are down or slow."""

from collections.abc import Callable

from alert_examples import finding, with_findings
from examples import NOW
from http_receiver import HttpReceiver, http_receiver

from gputop.app.alerting.couriers import Couriers
from gputop.core.settings.receivers import Receiver, ReceiverKind

QUICK_S = 0.05


def webhook(server: HttpReceiver, name: str = "hook") -> Receiver:
    return Receiver(name=name, kind=ReceiverKind.WEBHOOK, url=server.url, every_s=QUICK_S)


def statuses(server: HttpReceiver) -> list[str]:
    return [one["status"] for message in server.messages for one in message["alerts"]]


def has(server: HttpReceiver, count: int) -> Callable[[], bool]:
    return lambda: len(statuses(server)) >= count


def test_a_finding_reaches_the_receiver_and_so_does_its_end() -> None:
    with http_receiver() as server:
        couriers = Couriers([webhook(server)], lambda _: None)
        couriers.take(with_findings(finding()))
        assert server.until(has(server, 1))
        couriers.take(with_findings(time_s=NOW + 60))
        assert server.until(has(server, 2))
        couriers.close()

        assert statuses(server) == ["firing", "resolved"]


def test_what_is_due_when_the_receiver_is_down_comes_when_it_is_back() -> None:
    said: list[str] = []
    with http_receiver([503]) as server:
        couriers = Couriers([webhook(server)], said.append)
        couriers.take(with_findings(finding()))
        assert server.until(has(server, 2))
        couriers.close()

        assert statuses(server) == ["firing", "firing"]
    assert said == [
        f"receiver hook: {server.url}: HTTP status 503. gputop tries again",
        "receiver hook: it works again",
    ]


def test_a_receiver_that_hangs_holds_up_neither_the_frames_nor_the_others() -> None:
    said: list[str] = []
    with http_receiver() as good, http_receiver() as bad:
        with bad._gate:  # its answer waits
            couriers = Couriers([webhook(bad, "bad"), webhook(good, "good")], said.append)
            couriers.take(with_findings(finding()))
            assert good.until(has(good, 1))
        couriers.close()

        assert statuses(good) == ["firing"]


def test_a_refusal_is_reported_once_and_does_not_stop_what_comes_after_it() -> None:
    said: list[str] = []
    with http_receiver([400, 400]) as server:
        couriers = Couriers([webhook(server)], said.append)
        for number, codes in enumerate((["gpu.lost"], ["gpu.lost", "leak.gpu"], ["gpu.lost", "leak.gpu", "idle.x"]), 1):
            couriers.take(with_findings(*map(finding, codes)))
            assert server.until(has(server, number))
        couriers.close()

    assert [one["labels"]["alertname"] for message in server.messages for one in message["alerts"]] == [
        "gpu.lost", "leak.gpu", "idle.x",
    ]  # fmt: skip
    assert said == [f"receiver hook: {server.url}: HTTP status 400. It refuses the message"]


def test_what_waits_at_the_end_is_sent_at_once() -> None:
    with http_receiver() as server:
        slow = Receiver(name="hook", kind=ReceiverKind.WEBHOOK, url=server.url, every_s=3600.0)
        couriers = Couriers([slow], lambda _: None)
        couriers.take(with_findings(finding()))
        assert server.until(has(server, 1))
        couriers.take(with_findings(finding(), finding("leak.process")))
        couriers.close()

        assert len(statuses(server)) == 2


def test_what_could_not_be_sent_at_the_end_is_counted() -> None:
    said: list[str] = []
    with http_receiver([503] * 100) as server:
        couriers = Couriers([webhook(server)], said.append)
        couriers.take(with_findings(finding()))
        assert server.until(has(server, 1))
        couriers.close()

    assert said[-1] == "receiver hook: 1 not sent"
