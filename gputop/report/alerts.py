"""Alerts as receivers read them: Alertmanager's API, its webhook, Slack, and plain text for mail and Apprise."""

import json
from collections.abc import Callable, Sequence
from datetime import datetime, timezone
from typing import Final

from gputop.core.notification.alert import Alert

RUNNING: Final = "0001-01-01T00:00:00Z"
_MOST_SHOWN: Final = 20  # of a message that people read
_MOST_CHARACTERS: Final = 3000  # of a message in Slack
_MOST_LINE: Final = 600

Link = Callable[[str], str]
"""Returns the page that explains a code; empty without one."""


def to_alertmanager(alerts: Sequence[Alert], link: Link, until_s: float) -> bytes:
    """Return alerts for POST /api/v2/alerts. ``until_s``: when Alertmanager ends those that are not sent again."""
    listed = []
    for alert in alerts:
        ends_s = until_s if alert.ends_s is None else alert.ends_s
        listed.append(
            {
                "labels": alert.labels,
                "annotations": _annotations(alert, link),
                "startsAt": _time(min(alert.starts_s, ends_s)),  # Alertmanager refuses all if one ends before it begins
                "endsAt": _time(ends_s),
            }
        )
    return _json(listed)


def to_webhook(alerts: Sequence[Alert], link: Link, receiver: str) -> bytes:
    """Return the message that Alertmanager (version 4) sends to webhooks."""
    listed = [
        {
            "status": "resolved" if alert.is_over else "firing",
            "labels": alert.labels,
            "annotations": _annotations(alert, link),
            "startsAt": _time(alert.starts_s),
            "endsAt": RUNNING if alert.ends_s is None else _time(alert.ends_s),
            "generatorURL": "",
            "fingerprint": alert.fingerprint,
        }
        for alert in alerts
    ]
    common = set.intersection(*(set(alert.key) for alert in alerts)) if alerts else set()
    message = {
        "version": "4",
        "groupKey": f'{{}}/{{receiver="{receiver}"}}:{{}}',
        "truncatedAlerts": 0,
        "status": "resolved" if all(alert.is_over for alert in alerts) else "firing",
        "receiver": receiver,
        "groupLabels": {},
        "commonLabels": dict(sorted(common)),
        "commonAnnotations": {},
        "externalURL": "",
        "alerts": listed,
    }
    return _json(message)


def to_slack(alerts: Sequence[Alert], link: Link) -> bytes:
    """Return the message of an incoming webhook of Slack, which others such as Mattermost read too."""
    lines = [f"*{_escaped(title(alerts))}*"]
    for alert in alerts[:_MOST_SHOWN]:
        page = link(alert.code)
        more = f" <{_escaped(page)}|runbook>" if page.startswith("http") else ""
        lines.append(f"{_MARKS[alert.is_over]} {_escaped(_line(alert))}{more}")
    return _json({"text": "\n".join(_fitting(lines, len(alerts) + 1))})


def title(alerts: Sequence[Alert]) -> str:
    """Return what happened, in gputop's own words and numbers: for the subject of a mail."""
    host = alerts[0].host if alerts else ""
    if len(alerts) == 1:
        return f"gputop on {host}: {alerts[0].notification.title}"
    over = sum(alert.is_over for alert in alerts)
    parts = (f"{len(alerts) - over} new" if len(alerts) > over else "", f"{over} over" if over else "")
    return f"gputop on {host}: findings: {', '.join(filter(None, parts))}"


def to_text(alerts: Sequence[Alert], link: Link) -> str:
    """Return alerts as paragraphs."""
    parts = []
    for alert in alerts[:_MOST_SHOWN]:
        since = f"since {_time(alert.starts_s)}" + (f" until {_time(alert.ends_s)}" if alert.ends_s else "")
        parts.append("\n".join(filter(None, (_line(alert), alert.description, since, link(alert.code)))))
    more = len(alerts) - _MOST_SHOWN
    return "\n\n".join((*parts, f"and {more} more") if more > 0 else parts) + "\n"


def to_mail(alerts: Sequence[Alert], link: Link, sender: str, to: Sequence[str]) -> bytes:
    """Return a mail."""
    from email.message import EmailMessage  # noqa: PLC0415 - only for a mail
    from email.utils import localtime  # noqa: PLC0415

    mail = EmailMessage()
    mail["From"] = sender
    mail["To"] = ", ".join(to)
    mail["Subject"] = title(alerts)
    mail["Date"] = localtime()
    mail["Auto-Submitted"] = "auto-generated"
    mail.set_content(to_text(alerts, link))
    return mail.as_bytes()


_MARKS: Final = {False: ":red_circle:", True: ":white_check_mark:"}


def _line(alert: Alert) -> str:
    text = f"{'over: ' if alert.is_over else ''}{alert.stage.value} {alert.code}: {alert.summary}"
    return text if len(text) <= _MOST_LINE else f"{text[: _MOST_LINE - 1]}…"


def _fitting(lines: Sequence[str], count: int) -> list[str]:
    """Return the lines that fit into a message, and how many are left out."""
    shown: list[str] = []
    length = 0
    for line in lines:
        length += len(line) + 1
        if length > _MOST_CHARACTERS:
            break
        shown.append(line)
    return shown if len(shown) == count else [*shown, f"and {count - len(shown)} more"]


def _escaped(text: str) -> str:
    """Return a text without the signs that Slack reads as links and as calls of people."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _annotations(alert: Alert, link: Link) -> dict[str, str]:
    found = {"summary": alert.summary, "description": alert.description, "runbook_url": link(alert.code)}
    return {name: text for name, text in found.items() if text}


def _time(time_s: float) -> str:
    return datetime.fromtimestamp(time_s, timezone.utc).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _json(value: object) -> bytes:
    return json.dumps(value).encode()
