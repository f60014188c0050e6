"""Couriers: a thread for each receiver, so that a slow receiver holds up neither the frames nor the others."""

import os
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from math import inf
from typing import Final, Protocol

from gputop.app.alerting.delivery import Delivery, Reply
from gputop.app.alerting.memory import memory_of
from gputop.app.alerting.runbooks import runbook
from gputop.app.backend.backend import BackendRequest
from gputop.app.settings.settings_file import settled
from gputop.app.terminal import warn
from gputop.core.model.sample import Frame
from gputop.core.notification.alert import Alert, alerts_of
from gputop.core.notification.outbox import KeptAlert, Outbox, Pace
from gputop.core.settings.receivers import Receiver, ReceiverKind
from gputop.core.text.text import clean

CLOSING_S: Final = 10.0  # as long as one message may take
_EVERY_S: Final = {
    ReceiverKind.WEBHOOK: 5.0, ReceiverKind.SLACK: 30.0, ReceiverKind.MAIL: 60.0, ReceiverKind.DESKTOP: 5.0,
    ReceiverKind.COMMAND: 1.0, ReceiverKind.APPRISE: 30.0,
}  # fmt: skip
_BATCH: Final = {ReceiverKind.COMMAND: 1}
_USUAL_BATCH: Final = 50


class Sender(Protocol):
    """Delivers batches."""

    def send(self, alerts: Sequence[Alert]) -> Reply:
        """Send a batch. Never raises."""
        ...

    def close(self) -> None:
        """End what still runs."""
        ...


class Memory(Protocol):
    """Keeps what must survive a restart."""

    def load(self) -> tuple[KeptAlert, ...]:
        """Return what was saved; nothing if that is unusable."""
        ...

    def save(self, kept: tuple[KeptAlert, ...]) -> str:
        """Save it. Return what the user should know; empty if nothing."""
        ...


class Courier:
    """Brings alerts to one receiver. ``report``: receives a line when the receiver fails, and when it works again.

    ``memory``: what the receiver knows and must still get, over a restart; None forgets it.
    """

    def __init__(
        self, receiver: Receiver, sender: Sender, report: Callable[[str], None], memory: Memory | None = None
    ) -> None:
        self._receiver = receiver
        self._sender = sender
        self._report = report
        self._clock = time.monotonic
        self._memory = memory
        self._outbox = Outbox(pace_of(receiver))
        if memory:
            self._outbox.restore(memory.load(), self._clock(), time.time())
        self._remembered = self._outbox.changes
        self._gate = threading.Condition()
        self._is_closing = False
        self._is_failing = False
        self._refusal = ""
        self._thread = threading.Thread(target=self._run, name=f"alerts to {receiver.name}", daemon=True)
        self._thread.start()

    def take(self, frame: Frame) -> None:
        """Take a frame; this does not wait."""
        alerts = alerts_of(frame, self._receiver.stage, self._receiver.codes)
        with self._gate:
            self._outbox.take(alerts, self._clock(), frame.time_s)
            self._gate.notify()

    def close(self) -> None:
        """Send at once what waits, and end after that."""
        with self._gate:
            self._is_closing = True
            self._gate.notify()

    def join(self, until_s: float) -> None:
        """Wait for the end until then, and then break it off."""
        self._thread.join(max(0.0, until_s - self._clock()))
        self._sender.close()
        with self._gate:
            waiting = self._outbox.waiting
        if waiting:
            later = ". They are sent when gputop starts again" if self._memory else ""
            self._report(f"receiver {self._receiver.name}: {waiting} not sent{later}")

    def _run(self) -> None:
        is_end = False
        while not is_end:
            batch, is_end = self._next()
            self._remember()  # what is due is sent after a restart, even if this is killed now
            if batch:
                is_end = self._send(batch)

    def _next(self) -> tuple[tuple[Alert, ...], bool]:
        """Wait for the next batch, the end, or a change to remember; return the batch, and whether this is the end."""
        with self._gate:
            while True:
                now_s = self._clock()
                batch = self._outbox.batch(now_s, at_once=self._is_closing)
                if batch or self._is_closing or self._outbox.changes != self._remembered:
                    return batch, self._is_closing and not batch
                due_s = self._outbox.next_s()
                self._gate.wait(None if due_s == inf else max(0.0, due_s - now_s))

    def _send(self, batch: Sequence[Alert]) -> bool:
        """Send a batch; return whether this is the end."""
        reply = self._sender.send(batch)
        with self._gate:
            said = self._note(batch, reply)
            is_end = self._is_closing and bool(reply.problem)
        self._remember()
        if said:
            self._report(f"receiver {self._receiver.name}: {said}")
        return is_end

    def _remember(self) -> None:
        with self._gate:
            is_same = self._remembered == self._outbox.changes
            self._remembered = self._outbox.changes
            if is_same or self._memory is None:
                return
            kept = self._outbox.kept(self._clock(), time.time())
        problem = self._memory.save(kept)
        if problem:
            self._report(f"receiver {self._receiver.name}: {problem}")

    def _note(self, batch: Sequence[Alert], reply: Reply) -> str:
        """Note the outcome of a batch; return what the user should know."""
        now_s = self._clock()
        if reply.is_final:
            self._outbox.refused(batch, now_s)
            before, self._refusal = self._refusal, reply.problem
            return "" if before == reply.problem else f"{reply.problem}. It refuses the message"
        if reply.problem:
            self._outbox.failed(now_s, reply.after_s)
        else:
            self._outbox.delivered(batch, now_s)
        if bool(reply.problem) is self._is_failing:
            return ""
        self._is_failing = bool(reply.problem)
        lost = f"; {self._outbox.dropped} were too many to keep" if self._outbox.dropped else ""
        return f"{reply.problem}. gputop tries again" if reply.problem else f"it works again{lost}"


class Couriers:
    """Brings the findings of frames to all receivers."""

    def __init__(
        self,
        receivers: Sequence[Receiver],
        report: Callable[[str], None],
        runbooks: str = "",
        memory: Callable[[Receiver], Memory | None] = lambda _: None,
    ) -> None:
        link = partial(runbook, runbooks)
        self._couriers = [Courier(one, Delivery(one, link, os.environ), report, memory(one)) for one in receivers]

    def take(self, frame: Frame) -> None:
        """Take a frame; this does not wait."""
        for courier in self._couriers:
            courier.take(frame)

    def close(self) -> None:
        """Send what waits, within `CLOSING_S`, and end."""
        until_s = time.monotonic() + CLOSING_S
        for courier in self._couriers:
            courier.close()
        for courier in self._couriers:
            courier.join(until_s)


def pace_of(receiver: Receiver) -> Pace:
    """Return how often a receiver gets messages."""
    is_alertmanager = receiver.kind is ReceiverKind.ALERTMANAGER
    return Pace(
        every_s=receiver.every_s or _EVERY_S.get(receiver.kind, 0.0),
        resend_s=receiver.resend_s if is_alertmanager else None,
        batch=_BATCH.get(receiver.kind, _USUAL_BATCH),
        sends_ends=receiver.resolved,
    )


def couriers_to(receivers: Sequence[Receiver], kept: BackendRequest | None) -> Couriers:
    """Return couriers to these receivers, which report on stderr. ``kept``: the machine of a memory; None: without."""
    memory = partial(memory_of, kept, _warn) if kept else _forgets
    return Couriers(receivers, _warn, settled().settings.runbooks, memory)


def _forgets(_: Receiver) -> None:
    return None


def _warn(line: str) -> None:
    """Print a line; a courier goes on if nothing reads stderr any more."""
    with suppress(OSError):
        warn(clean(line))
