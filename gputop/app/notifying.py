"""Notifying: sends a notification by the channels of the settings."""

import os
import sys
from collections.abc import Mapping
from contextlib import suppress

from gputop.core.notification.notification import Notification
from gputop.core.notification.sequences import sequences
from gputop.core.settings.settings import Settings
from gputop.machine.notify.programs import Programs

_DISPLAYS = ("DISPLAY", "WAYLAND_DISPLAY")


class ProgramNotifier:
    """Notifies on the desktop and by a command of the user.

    Words of others reach a program only in its environment and on its stdin, never among its arguments: notify-send
    gets the title alone.
    """

    def __init__(self, environment: Mapping[str, str], programs: Programs | None = None) -> None:
        self._environment = environment
        self._programs = programs or Programs(environment)

    def send(self, notification: Notification, settings: Settings) -> tuple[str, ...]:
        """Send by the desktop and the user's command, as the settings say; return why any failed."""
        problems = [self._on_desktop(notification)] if "desktop" in settings.notify else []
        problems += [self._by_command(notification, settings)] if "command" in settings.notify else []
        return tuple(filter(None, problems))

    def close(self) -> None:
        """End what still runs."""
        self._programs.close()

    def _on_desktop(self, notification: Notification) -> str:
        if not any(self._environment.get(name) for name in _DISPLAYS):
            return "no desktop: neither DISPLAY nor WAYLAND_DISPLAY is set"
        return self._programs.run(["notify-send", "--app-name=gputop", "--", notification.title], {}, b"")

    def _by_command(self, notification: Notification, settings: Settings) -> str:
        if not settings.notify_command:
            return "the setting notify_command is empty"
        import msgspec

        return self._programs.run(settings.notify_command, notification.variables, msgspec.json.encode(notification))


def notify(notification: Notification, settings: Settings, environment: Mapping[str, str]) -> tuple[str, ...]:
    """Send by all channels; the terminal is that of stderr, or else the controlling one. Return why any failed."""
    text = sequences(notification, settings, environment, is_ascii=not _speaks_utf8())
    if text:
        _write(text)
    return ProgramNotifier(environment).send(notification, settings)


def _write(text: str) -> None:
    """Write to the terminal, if there is one."""
    with suppress(OSError):
        terminal = sys.stderr.fileno() if sys.stderr.isatty() else os.open("/dev/tty", os.O_WRONLY | os.O_NOCTTY)
        try:
            os.write(terminal, text.encode("utf-8", "replace"))
        finally:
            if terminal != sys.stderr.fileno():
                os.close(terminal)


def _speaks_utf8() -> bool:
    return (sys.stderr.encoding or "").lower().replace("-", "") == "utf8"
