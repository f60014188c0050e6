"""Notification as text for a terminal: a bell and a sequence, as far as the settings and the terminal allow."""

from collections.abc import Mapping

from gputop.core.notification.notification import Notification
from gputop.core.settings.settings import Settings
from gputop.core.text import osc


def sequences(notification: Notification, settings: Settings, variables: Mapping[str, str], *, is_ascii: bool) -> str:
    """Return what to write to the terminal; empty for one that takes neither."""
    forms = [name for name in settings.notify if name.startswith("osc")]
    parts = [
        osc.notification(form, notification.title, notification.text, variables, is_ascii=is_ascii) for form in forms
    ]
    rings = "bell" in settings.notify and osc.rings(variables)
    return (osc.BELL if rings else "") + "".join(dict.fromkeys(parts))
