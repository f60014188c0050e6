"""Test message: one to each receiver, and what became of it."""

import os
import time
from collections.abc import Sequence
from functools import partial

from gputop.app.alerting.delivery import Delivery
from gputop.app.alerting.runbooks import runbook
from gputop.app.errors import NONE, OK, SOME
from gputop.core.model.finding import Stage
from gputop.core.notification.alert import Alert
from gputop.core.settings.receivers import Receiver
from gputop.core.text.text import clean


def send_test(receivers: Sequence[Receiver]) -> int:
    """Send a message to each receiver, print the outcomes, and return the exit status."""
    alert = _alert(os.uname().nodename)
    failures = 0
    for one in receivers:
        delivery = Delivery(one, partial(runbook, ""), os.environ)
        problem = delivery.send((alert,)).problem
        delivery.close()
        failures += bool(problem)
        print(clean(f"{one.name}: {f'failed: {problem}' if problem else 'delivered'}"), flush=True)
    return OK if not failures else NONE if failures == len(receivers) else SOME


def _alert(host: str) -> Alert:
    return Alert(
        labels={"alertname": "gputop.test", "severity": "info", "host": host, "job": "gputop"},
        title="test message",
        summary=f"test message of gputop on {host}: nothing is wrong",
        description="gputop notify --test sent it. It shows that findings reach you.",
        code="gputop.test",
        stage=Stage.OBSERVATION,
        host=host,
        starts_s=time.time(),
    )
