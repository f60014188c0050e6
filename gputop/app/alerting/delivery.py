"""Delivery: one batch of alerts on its way to one receiver, and what became of it."""

import time
from base64 import b64encode
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from gputop.app.alerting.choose import secret
from gputop.app.errors import BadRequestError
from gputop.core.notification.alert import Alert
from gputop.core.settings.receivers import Receiver, ReceiverKind, url_mistake
from gputop.core.settings.settings import Settings
from gputop.core.text.text import excerpt
from gputop.machine.notify.programs import Programs
from gputop.report.alerts import Link, title, to_alertmanager, to_mail, to_slack, to_text, to_webhook

_JSON: Final = {"Content-Type": "application/json", "User-Agent": "gputop"}
_REFUSALS: Final = frozenset({400, 413, 414, 415, 422})  # of the message itself; any other status may get better
_LASTS: Final = 4  # resends that Alertmanager may miss, as with Prometheus


class Reply(Struct, frozen=True, kw_only=True):
    """The outcome: no ``problem`` if the receiver has the batch; ``is_final`` if it will never take it.

    ``after_s``: time without messages that the receiver requests.
    """

    problem: str = ""
    is_final: bool = False
    after_s: float | None = None


class Delivery:
    """Sends batches to one receiver. ``link``: to the page of a code; ``environment``: of the programs."""

    def __init__(self, receiver: Receiver, link: Link, environment: Mapping[str, str]) -> None:
        self._receiver = receiver
        self._link = link
        self._environment = environment
        self._programs = Programs(environment)
        self._ways: Mapping[ReceiverKind, Callable[[Sequence[Alert]], Reply]] = {
            ReceiverKind.ALERTMANAGER: self._to_alertmanager,
            ReceiverKind.WEBHOOK: self._to_webhook,
            ReceiverKind.SLACK: self._to_slack,
            ReceiverKind.MAIL: self._by_mail,
            ReceiverKind.DESKTOP: self._by_program,
            ReceiverKind.COMMAND: self._by_program,
            ReceiverKind.APPRISE: self._by_apprise,
        }

    def send(self, alerts: Sequence[Alert]) -> Reply:
        """Send a batch; it may take 10 s. Never raises."""
        try:
            return self._ways[self._receiver.kind](alerts)
        except BadRequestError as error:
            return Reply(problem=str(error))
        except Exception as error:  # noqa: BLE001 - this is the border: a receiver must not stop the others
            return Reply(problem=f"{type(error).__name__}")

    def close(self) -> None:
        """End the programs that still run."""
        self._programs.close()

    def _to_alertmanager(self, alerts: Sequence[Alert]) -> Reply:
        until_s = time.time() + _LASTS * self._receiver.resend_s
        return self._post(to_alertmanager(alerts, self._link, until_s), "/api/v2/alerts")

    def _to_webhook(self, alerts: Sequence[Alert]) -> Reply:
        return self._post(to_webhook(alerts, self._link, self._receiver.name))

    def _to_slack(self, alerts: Sequence[Alert]) -> Reply:
        return self._post(to_slack(alerts, self._link))

    def _post(self, body: bytes, path: str = "") -> Reply:
        from gputop.machine.notify.http import Request, Tls, place_of, post

        one = self._receiver
        url = one.url or secret(one.url_file)
        mistake = url_mistake(url)
        if mistake:
            return Reply(problem=f"the first line of {excerpt(one.url_file)} {mistake}")
        if path:
            url = url.rstrip("/") + path
        tls = Tls(one.ca_file, one.cert_file)
        try:
            answer = post(Request(url=url, body=body, headers=_JSON | _authorization(one), tls=tls))
        except OSError as error:
            return Reply(problem=f"{place_of(url)}: {excerpt(error.strerror or str(error))}")
        if 200 <= answer.status < 300:
            return Reply()
        return Reply(
            problem=f"{place_of(url)}: {_status(answer.status)}",
            is_final=answer.status in _REFUSALS,
            after_s=answer.after_s,
        )

    def _by_mail(self, alerts: Sequence[Alert]) -> Reply:
        one = self._receiver
        sender = one.sender or f"gputop@{_host(alerts)}"
        content = to_mail(alerts, self._link, sender, one.to)
        return Reply(problem=self._programs.run([*one.sendmail, "-i", "--", *one.to], {}, content))

    def _by_program(self, alerts: Sequence[Alert]) -> Reply:
        """Run the user's command for the one alert of a batch, or show the title of a batch on the desktop."""
        from gputop.app.notifying import ProgramNotifier

        settings = Settings(notify=(self._receiver.kind.value,), notify_command=self._receiver.command)
        sent = alerts[0].notification
        if len(alerts) > 1:
            sent = replace(sent, title=title(alerts))
        notifier = ProgramNotifier(self._environment, self._programs)
        return Reply(problem="; ".join(notifier.send(sent, settings)))

    def _by_apprise(self, alerts: Sequence[Alert]) -> Reply:
        import apprise

        sender = apprise.Apprise()
        if not sender.add(secret(self._receiver.url_file)):
            return Reply(problem=f"apprise knows no such service: the URL in {excerpt(self._receiver.url_file)}")
        is_sent = sender.notify(title=title(alerts), body=to_text(alerts, self._link), body_format="text")
        return Reply(problem="" if is_sent else "apprise could not deliver the message")


def _authorization(one: Receiver) -> dict[str, str]:
    if one.token_file:
        return {"Authorization": f"Bearer {secret(one.token_file)}"}
    if one.user:
        named = f"{one.user}:{secret(one.password_file)}".encode()
        return {"Authorization": f"Basic {b64encode(named).decode()}"}
    return {}


def _status(status: int) -> str:
    moved = ". gputop follows no redirects: use the new URL" if 300 <= status < 400 else ""
    return f"HTTP status {status}{moved}"


def _host(alerts: Sequence[Alert]) -> str:
    """Return the host of alerts as a part of an address."""
    name = alerts[0].host if alerts else ""
    kept = "".join(sign for sign in name if sign.isascii() and (sign.isalnum() or sign in ".-"))
    return kept[:200].strip(".-") or "localhost"
