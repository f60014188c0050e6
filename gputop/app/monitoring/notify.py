"""Notify: send findings to receivers until a signal ends it, or send each receiver a test message."""

from msgspec import Struct

from gputop.app.alerting.choose import ALL, chosen
from gputop.app.alerting.couriers import couriers_to
from gputop.app.alerting.test_message import send_test
from gputop.app.backend.backend import BackendRequest
from gputop.app.errors import OK
from gputop.app.interrupts import StopRequest
from gputop.app.monitoring.frames import frames, open_source
from gputop.app.terminal import warn
from gputop.core.text.text import clean
from gputop.lazy_imports import collect_seldom
from gputop.wire.server import Rhythm


class NotifyRequest(Struct, frozen=True, kw_only=True):
    """The receivers, by name or as KIND:WHERE; none: all of the configuration file."""

    backend: BackendRequest
    receivers: tuple[str, ...] = ()
    is_test: bool = False


def notify(request: NotifyRequest) -> int:
    """Send findings until a signal ends it; return the exit status."""
    receivers = chosen(request.receivers or (ALL,))
    if request.is_test:
        return send_test(receivers)
    source = open_source(request.backend, is_once=False)
    rhythm = Rhythm(source)
    stop = StopRequest(rhythm.hurry)
    warn(f"sending findings to {clean(', '.join(one.name for one in receivers))}; press Ctrl-C to end")
    step = frames(source, request.backend, waits=True, notify=warn)
    collect_seldom()
    couriers = couriers_to(receivers, request.backend)
    while not stop.is_wanted:
        couriers.take(step())
        rhythm.wait()
    couriers.close()
    return OK
