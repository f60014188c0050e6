"""Actions that change the settings, and save them."""

import asyncio

from msgspec.structs import replace

from gputop.core.processes.columns import COLUMN_BY_KEY
from gputop.core.protocol.command import SetInterval
from gputop.core.settings.settings import Settings, Value
from gputop.ui.messages import SettingsChanged
from gputop.ui.screens.main.host import ScreenHost
from gputop.ui.state.settings_edit import INTERVALS, changes, shown, toggled


class SettingsActions:
    """Holds the settings, and posts their changes."""

    def __init__(self, host: ScreenHost) -> None:
        self._host = host
        self._processes = host.processes
        self._options = options = host.options
        self.current = replace(options.settings, theme=options.theme, density=options.density.value)
        self._saved = self.current
        self._apply_to_table()

    def set_theme(self, name: str) -> None:
        """Remember the theme that a key chose."""
        self.current = replace(self.current, theme=name)

    # --- actions ---------------------------------------------------------------------------------------------------
    def setup(self) -> None:
        """Open the settings dialog; Esc undoes its changes, other ways out save them."""
        from gputop.ui.screens.dialogs.setup import SetupScreen

        before = self._present()
        dialog = SetupScreen(before, self._apply, self._options.settings_file)
        self._host.push(dialog, lambda after: self._keep(before, after))

    def toggle_column(self, key: str) -> None:
        """Show a column, or hide it."""
        self._apply(toggled(self._present(), key))
        self._host.draw()
        if key in shown(self.current) and key not in self._processes.shown_columns:
            self._host.notify(f"there is no room for {COLUMN_BY_KEY[key].title}", timeout=3)

    def toggle_host(self) -> None:
        """Show or hide the host panel."""
        self.current = replace(self.current, show_host=not self.current.show_host)
        self._host.draw()

    def step_interval(self, step: int) -> None:
        """Take the next longer or shorter interval; in a tree or in groups expand or collapse."""
        if self._processes.fold(is_open=step > 0):
            return
        now = self._host.view.interval_s
        nearest = min(range(len(INTERVALS)), key=lambda at: abs(INTERVALS[at] - now))
        interval_s = INTERVALS[max(0, min(len(INTERVALS) - 1, nearest + step))]
        self._read_every(interval_s)
        self.current = replace(self.current, interval_s=interval_s)

    def save(self) -> None:
        """Save everything that keys have changed since the start."""
        if self._options.save is None:
            self._host.notify("there is no settings file to save to", severity="warning", timeout=4)
        elif not changes(self._saved, self._present()):
            self._host.notify("no setting has changed", timeout=3)
        else:
            self._keep(self._saved, self._present())

    # ---------------------------------------------------------------------------------------------------------------
    def _present(self) -> Settings:
        """Return the settings with the changes that keys have made to the table and the view."""
        processes = self._processes
        is_reversed = processes.is_reversed != COLUMN_BY_KEY[processes.sort_key].descends
        return replace(
            self.current,
            sort=processes.sort_key,
            sort_reversed=is_reversed,
            density=self._host.view.density.value,
        )

    def _apply(self, settings: Settings) -> None:
        before, self.current = self.current, settings
        self._apply_to_table()
        if settings.interval_s != before.interval_s:
            self._read_every(settings.interval_s)
        self._host.post_message(SettingsChanged(before, settings))

    def _read_every(self, interval_s: float) -> None:
        """Change the interval; that of a recording stays as it was recorded."""
        if self._options.player is None:
            self._host.send(SetInterval(interval_s))
            self._host.change(interval_s=interval_s)

    def _apply_to_table(self) -> None:
        settings, processes = self.current, self._processes
        processes.chosen = settings.columns
        processes.sort_key = settings.sort
        processes.is_reversed = COLUMN_BY_KEY[settings.sort].descends != settings.sort_reversed

    def _keep(self, before: Settings, after: Settings | None) -> None:
        new = changes(before, after) if after is not None else {}
        if after is not None and new and self._options.save is not None:
            self._host.run_worker(self._save(new, after))

    async def _save(self, new: dict[str, Value | None], after: Settings) -> None:
        """Save, and show what was saved and where, or why that failed."""
        if self._options.save is None:
            return
        why = await asyncio.to_thread(self._options.save, new)
        if why is not None:
            self._host.notify(f"not saved: {why}", severity="error", timeout=20)
            return
        self._saved = replace(self._saved, **{key: getattr(after, key) for key in new})
        place = f" in {self._options.settings_file}" if self._options.settings_file else ""
        self._host.notify(f"saved{place}: {', '.join(new)}", timeout=4)
