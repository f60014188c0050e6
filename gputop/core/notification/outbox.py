"""Outbox of one receiver: which alerts it must get, when, and what it already knows. It has no clock of its own.

The outbox holds states, not messages: of an alert that begins and ends while the receiver does not answer, one message
with its begin and its end is left.
"""

from collections.abc import Iterable, Sequence
from math import inf
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from gputop.core.notification.alert import Alert

MOST_WAITING: Final = 1000
RETRIES_S: Final = (1.0, 2.0, 5.0, 10.0, 20.0, 40.0, 60.0)
LONGEST_RETRY_S: Final = 3600.0  # that a receiver can ask for
UNSURE_S: Final = 600.0  # after a restart, findings need time to be found again
RESOLVED_S: Final = 900.0  # as long as Prometheus, an alert that ended is sent again


class Pace(Struct, frozen=True, kw_only=True):
    """How often a receiver gets messages, and of how many alerts.

    ``every_s``: the pause between messages. ``resend_s``: after it all alerts are sent again; None for messages that
    people read. ``batch``: the most alerts of a message. ``sends_ends``: the receiver also gets the ends.
    """

    every_s: float
    resend_s: float | None = None
    batch: int = 50
    sends_ends: bool = True


class KeptAlert(Struct, frozen=True):
    """An alert as it survives a restart. ``known``: as in an outbox; times: seconds since the epoch."""

    alert: Alert
    known: bool | None = None
    sent_s: float | None = None
    ended_s: float | None = None


class _Entry(Struct):
    """An alert. ``known``: whether the receiver knows it as over; None if it does not know it. ``sent_s``: when.

    ``unsure_s``: until then, an alert from before a restart need not be among those of a frame. ``began_s``: when such
    an alert began, in seconds since the epoch.
    """

    alert: Alert
    known: bool | None = None
    sent_s: float = -inf
    ended_s: float = inf
    unsure_s: float = -inf
    began_s: float | None = None

    @property
    def is_news(self) -> bool:
        return self.known is not self.alert.is_over


class Outbox:
    """Takes alerts and returns batches; after each, call `delivered`, `failed` or `refused`. Times are monotonic.

    ``changes``: how often that changed which must survive a restart.
    """

    def __init__(self, pace: Pace, most_waiting: int = MOST_WAITING) -> None:
        self._pace = pace
        self._most = most_waiting
        self._entries: dict[tuple[tuple[str, str], ...], _Entry] = {}
        self._ready_s = -inf
        self._failures = 0
        self.dropped = 0
        self.changes = 0

    @property
    def waiting(self) -> int:
        """The number of alerts whose news the receiver has not got."""
        return sum(entry.is_news for entry in self._entries.values())

    def take(self, alerts: Iterable[Alert], now_s: float, time_s: float) -> None:
        """Take all alerts of a frame; those that are no longer among them have ended. ``time_s``: of the frame."""
        firing = {alert.key: alert for alert in alerts}
        for key, alert in firing.items():
            entry = self._entries.get(key)
            if entry is not None:
                self._go_on(entry, alert)
            elif self._has_room():
                self._entries[key] = _Entry(alert)
                self.changes += 1
        for key, entry in tuple(self._entries.items()):
            if key not in firing and not entry.alert.is_over and now_s >= entry.unsure_s:
                entry.alert, entry.ended_s, entry.began_s = entry.alert.ended(time_s), now_s, None
                self.changes += 1
            self._end_if_done(key, entry, now_s)

    def kept(self, now_s: float, time_s: float) -> tuple[KeptAlert, ...]:
        """Return what must survive a restart, news first. ``time_s``: now, in seconds since the epoch."""
        ahead_s = time_s - now_s
        entries = sorted(self._entries.values(), key=lambda entry: not entry.is_news)
        return tuple(
            KeptAlert(
                entry.alert,
                entry.known,
                None if entry.sent_s == -inf else entry.sent_s + ahead_s,
                None if entry.ended_s == inf else entry.ended_s + ahead_s,
            )
            for entry in entries
        )

    def restore(self, kept: Iterable[KeptAlert], now_s: float, time_s: float) -> None:
        """Take what `kept` returned before a restart; no time is in the future, even if the clock went back."""
        ahead_s = time_s - now_s
        for one in kept:
            if len(self._entries) < self._most:
                entry = _Entry(one.alert, one.known)
                if one.sent_s is not None:
                    entry.sent_s = min(one.sent_s - ahead_s, now_s)
                if one.alert.is_over:
                    entry.ended_s = min((one.ended_s or time_s) - ahead_s, now_s)
                else:
                    entry.unsure_s, entry.began_s = now_s + UNSURE_S, one.alert.starts_s
                self._entries[one.alert.key] = entry

    def next_s(self) -> float:
        """Return when the next batch is due; infinity if nothing is."""
        due = min((self._due_s(entry) for entry in self._entries.values()), default=inf)
        return max(due, self._ready_s)

    def batch(self, now_s: float, *, at_once: bool = False) -> tuple[Alert, ...]:
        """Return the alerts of the next message, news first. ``at_once``: without a pause, and only news."""
        if not at_once and now_s < self._ready_s:
            return ()
        entries = [entry for entry in self._entries.values() if entry.is_news]
        if not at_once and self.next_s() <= now_s and self._pace.resend_s is not None:
            entries += [entry for entry in self._entries.values() if not entry.is_news and self._due_s(entry) <= now_s]
        return tuple(entry.alert for entry in entries[: self._pace.batch])

    def delivered(self, batch: Sequence[Alert], now_s: float) -> None:
        """Note that the receiver has a batch."""
        self._failures = 0
        self._ready_s = now_s + self._pace.every_s
        for alert in batch:
            entry = self._entries.get(alert.key)
            if entry is not None:
                entry.known, entry.sent_s = alert.is_over, now_s
                self.changes += 1
                self._end_if_done(alert.key, entry, now_s)

    def failed(self, now_s: float, after_s: float | None = None) -> None:
        """Note that the receiver did not get a batch; it is tried again, not before ``after_s`` if that is given."""
        pause_s = RETRIES_S[min(self._failures, len(RETRIES_S) - 1)]
        self._failures += 1
        self._ready_s = now_s + min(max(pause_s, after_s or 0.0), LONGEST_RETRY_S)

    def refused(self, batch: Sequence[Alert], now_s: float) -> None:
        """Note that the receiver will never take a batch, which is dropped."""
        self.dropped += len(batch)
        self.delivered(batch, now_s)

    def _due_s(self, entry: _Entry) -> float:
        if entry.is_news:
            return -inf
        return inf if self._pace.resend_s is None else entry.sent_s + self._pace.resend_s

    def _go_on(self, entry: _Entry, alert: Alert) -> None:
        """Take the present words and numbers of an alert that lasts, or that came back."""
        self.changes += entry.alert.is_over
        entry.alert = alert if entry.began_s is None else replace(alert, starts_s=min(entry.began_s, alert.starts_s))
        entry.ended_s, entry.unsure_s = inf, -inf

    def _end_if_done(self, key: tuple[tuple[str, str], ...], entry: _Entry, now_s: float) -> None:
        if entry.alert.is_over and self._is_done(entry, now_s):
            del self._entries[key]
            self.changes += 1

    def _is_done(self, entry: _Entry, now_s: float) -> bool:
        """Return whether an alert that ended needs no further message."""
        if entry.is_news and (self._pace.sends_ends or entry.known is None):
            return False
        return self._pace.resend_s is None or now_s - entry.ended_s >= RESOLVED_S

    def _has_room(self) -> bool:
        """Make room for an alert, if necessary in place of the oldest that ended; return whether there is any."""
        if len(self._entries) < self._most:
            return True
        over = next((key for key, entry in self._entries.items() if entry.alert.is_over), None)
        if over is None:
            return False
        self.dropped += self._entries.pop(over).is_news
        return True
