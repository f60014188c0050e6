"""Edits of settings for the settings dialog: settings in, settings out."""

from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from gputop.core.processes.columns import COLUMNS
from gputop.core.settings.column_choice import USUAL, shortened, with_column
from gputop.core.settings.settings import DENSITIES, KEYMAPS, THEMES, Settings, Value

INTERVALS: Final = (0.25, 0.5, 1.0, 2.0, 5.0, 10.0)
_SWITCH: Final = (True, False)


class Option(Struct, frozen=True):
    """A setting and the values that it may have."""

    key: str
    label: str
    values: tuple[Value, ...]
    help: str

    def text(self, settings: Settings) -> str:
        """Return the present value."""
        value = getattr(settings, self.key)
        return ("yes" if value else "no") if isinstance(value, bool) else str(value)

    def changed(self, settings: Settings, step: int) -> Settings:
        """Return the settings with the next value."""
        now = getattr(settings, self.key)
        at = self.values.index(now) if now in self.values else 0
        return replace(settings, **{self.key: self.values[(at + step) % len(self.values)]})


class Interval(Option, frozen=True):
    """The time between two samples."""

    def text(self, settings: Settings) -> str:
        """Return the present interval."""
        return f"{settings.interval_s:g} s"


class Channel(Option, frozen=True):
    """A channel of notifications, which is on or off."""

    def text(self, settings: Settings) -> str:
        """Return yes or no."""
        return "yes" if self._is_on(settings) else "no"

    def changed(self, settings: Settings, step: int) -> Settings:  # noqa: ARG002 - there are two values
        """Return the settings with the channel on or off."""
        others = tuple(one for one in settings.notify if not self._names(one))
        return replace(settings, notify=others if self._is_on(settings) else (*others, str(self.values[0])))

    def _is_on(self, settings: Settings) -> bool:
        return any(map(self._names, settings.notify))

    def _names(self, channel: str) -> bool:
        """Return whether a name of the settings means this channel: osc9 is a form of osc."""
        return channel.rstrip("0123456789") == self.values[0]


OPTIONS: Final = (
    Option("theme", "Theme", THEMES, "auto follows the terminal"),
    Option("density", "GPU panel", DENSITIES, "auto, lines, or cards with plots"),
    Option("show_host", "Host panel", _SWITCH, "CPU, memory and load of the host"),
    Option("sort", "Sort by", tuple(column.key for column in COLUMNS), "column of the process table"),
    Option("sort_reversed", "Reverse order", _SWITCH, "opposite to the column's default"),
    Option("keymap", "Keymap", KEYMAPS, "applied at once; keeps the keys you changed"),
    Interval("interval_s", "Interval", INTERVALS, "time between samples; a longer one writes less to a slow line"),
    Option("show_panels", "Plugin panels", _SWITCH, "plugin lines on the main screen"),
    Channel("notify", "Notify: bell", ("bell",), "choose with B what to be notified of"),
    Channel("notify", "Notify: terminal", ("osc",), "OSC 9, 777 or 99, also through tmux and ssh"),
    Channel("notify", "Notify: desktop", ("desktop",), "notify-send, if there is a display"),
    Channel("notify", "Notify: command", ("command",), "runs your notify_command"),
)


def shown(settings: Settings) -> tuple[str, ...]:
    """Return the keys of the columns that are shown, in their order."""
    return settings.columns or USUAL


def listed(settings: Settings) -> tuple[str, ...]:
    """Return all columns: the shown ones first."""
    held = shown(settings)
    return (*held, *(column.key for column in COLUMNS if column.key not in held))


def toggled(settings: Settings, key: str) -> Settings:
    """Return the settings with a column shown or hidden; the last one stays."""
    held = shown(settings)
    if key not in held:
        return _with(settings, with_column(held, key))
    return _with(settings, tuple(one for one in held if one != key)) if len(held) > 1 else settings


def moved(settings: Settings, key: str, step: int) -> Settings:
    """Return the settings with a shown column one place earlier or later."""
    held = list(shown(settings))
    if key in held:
        at = held.index(key)
        to = max(0, min(len(held) - 1, at + step))
        held.insert(to, held.pop(at))
    return _with(settings, tuple(held))


def changes(before: Settings, after: Settings) -> dict[str, Value | None]:
    """Return the settings to save; None removes one, as the default columns do. Other columns are saved as changes."""
    keys = [*dict.fromkeys(option.key for option in OPTIONS), "columns"]
    new = {key: getattr(after, key) for key in keys if getattr(after, key) != getattr(before, key)}
    if "columns" in new:
        new["columns"] = shortened(after.columns) or None
    return new


def _with(settings: Settings, held: tuple[str, ...]) -> Settings:
    return replace(settings, columns=() if held == USUAL else held)
