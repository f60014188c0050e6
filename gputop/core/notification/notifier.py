"""Notifier: sends a notification by the channels that need more than the terminal."""

from typing import Protocol

from gputop.core.notification.notification import Notification
from gputop.core.settings.settings import Settings


class Notifier(Protocol):
    """Runs programs for notifications."""

    def send(self, notification: Notification, settings: Settings) -> tuple[str, ...]:
        """Send by the desktop and the user's command, as the settings say; return why any failed. It may take 10 s."""
        ...

    def close(self) -> None:
        """End what still runs."""
        ...
