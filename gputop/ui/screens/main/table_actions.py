"""What the main screen does to find processes: it filters, searches, sorts, puts together, and is set up."""

import asyncio
from collections.abc import Callable

from msgspec.structs import replace

from gputop.core.processes.columns import COLUMN_BY_KEY
from gputop.core.protocol.command import Command
from gputop.core.settings.settings import Settings, Value
from gputop.ui.input.keymap import Keymap
from gputop.ui.messages import SettingsChanged
from gputop.ui.options import ViewOptions
from gputop.ui.panels.footer import FooterPanel
from gputop.ui.panels.processes import ProcessPanel
from gputop.ui.panels.prompt import PromptPanel
from gputop.ui.screens.main.finder import Finder
from gputop.ui.screens.main.process_actions import ActingScreen
from gputop.ui.state.rows import Grouping
from gputop.ui.state.settings_edit import changes, shown, toggled
from gputop.ui.state.view_store import ViewStore


class FindingScreen(ActingScreen):
    """The part of the main screen that finds. ``settings``: as they are now; ``actions``: with the keys that hold."""

    def __init__(
        self,
        options: ViewOptions,
        reception: ViewStore,
        ask: Callable[[Command], None],
        keys: Keymap,
    ) -> None:
        super().__init__(options, reception, ask)
        is_ascii, self.own_user = options.is_ascii, options.own_user
        self.runs: dict[str, str] = {}
        self.settings = replace(options.settings, theme=options.theme, density=options.density.value)
        self.processes = ProcessPanel(is_ascii=is_ascii, own_user=options.own_user)
        self.footer = FooterPanel(is_ascii=is_ascii, is_read_only=bool(options.refusal))
        self.prompt = PromptPanel(is_ascii=is_ascii)
        self.finder = Finder(self.prompt, self.processes, self.footer)
        self.has_host = options.settings.show_host
        self._saved = self.settings
        self._settle(self.settings)
        self.take_keys(keys)

    def take_keys(self, keys: Keymap) -> None:
        """Let other keys hold from now on."""
        self.runs = keys.runs()
        self.footer.take(keys.actions)
        self.prompt.steps = {key: 1 for action in ("search", "search-next") for key in keys.keys_of(action)}
        self.prompt.steps |= dict.fromkeys(keys.keys_of("search-before"), -1)

    def take_theme(self, name: str) -> None:
        """Take note of the theme that was chosen."""
        self.settings = replace(self.settings, theme=name)

    def action_filter(self) -> None:
        """Ask what is to be shown."""
        self.finder.ask_filter()

    def action_search(self) -> None:
        """Ask what is looked for; go on looking for it where that is known."""
        if not self.finder.next(1):
            self.finder.ask_search()

    def action_search_next(self, step: int) -> None:
        """Go to the next match."""
        if not self.finder.next(step):
            self.notify("nothing is searched for: press /", markup=False, timeout=2)

    def on_prompt_panel_changed(self, message: PromptPanel.Changed) -> None:
        """Do at once what is typed."""
        self.finder.changed(message.text)

    def on_prompt_panel_stepped(self, message: PromptPanel.Stepped) -> None:
        """Go to the next match."""
        self.finder.stepped(message.step)

    def on_prompt_panel_ended(self, message: PromptPanel.Ended) -> None:
        """Close the prompt if it may be."""
        if self.finder.ended(message.text, is_kept=message.is_kept):
            self.prompt.close()
            self.set_focus(self.processes)
            self.footer.say(None)
        else:
            self.app.bell()

    def action_tree(self) -> None:
        """Show a tree, or a list again."""
        is_tree = self.processes.grouping is Grouping.TREE
        self.processes.group(Grouping.PROCESSES if is_tree else Grouping.TREE)

    def action_view(self, step: int) -> None:
        """Put the processes together in the next way."""
        ways = list(Grouping)
        self.processes.group(ways[(ways.index(self.processes.grouping) + step) % len(ways)])

    def action_sort_menu(self) -> None:
        """Choose the column that sorts."""
        from gputop.ui.screens.dialogs.menu import MenuScreen
        from gputop.ui.screens.dialogs.menu_choices import column_choices

        choices = column_choices(self.processes.shown_columns)
        menu = MenuScreen("Sort by", choices, self.processes.sort_key, is_ascii=self.footer.is_ascii)
        self.app.push_screen(menu, self._sort_chosen)

    def action_user(self) -> None:
        """Choose whose processes are shown."""
        from gputop.ui.screens.dialogs.menu import MenuScreen
        from gputop.ui.screens.dialogs.menu_choices import EVERYBODY, user_choices

        user = self.processes.row_filter.user
        choices = user_choices(self.processes.all_rows)
        menu = MenuScreen("Processes of", choices, EVERYBODY if user is None else user, is_ascii=self.footer.is_ascii)
        self.app.push_screen(menu, self._user_chosen)

    def action_mine(self) -> None:
        """Show only the user's own processes, or all."""
        held = self.processes.row_filter
        if self.own_user is None:
            self.notify("who you are is not known: USER is not set", markup=False, timeout=4)
        else:
            self.processes.narrow(replace(held, user=None if held.user == self.own_user else self.own_user))

    def action_setup(self) -> None:
        """Change the settings; they are saved when the screen closes."""
        from gputop.ui.screens.dialogs.setup import SetupScreen

        before = self._now()
        screen = SetupScreen(before, self._apply, is_ascii=self.footer.is_ascii)
        self.app.push_screen(screen, lambda after: self._keep(before, after))

    def action_column(self, key: str) -> None:
        """Show a column, or hide it."""
        self._apply(toggled(self._now(), key))
        self.show()
        column = COLUMN_BY_KEY[key]
        if key in shown(self.settings) and key not in self.processes.shown_columns:
            self.notify(f"there is no room for {column.title}", markup=False, timeout=3)

    def action_percent(self) -> None:
        """Show GPU memory in percent, or in bytes again."""
        self.processes.toggle_percent()

    def action_save(self) -> None:
        """Keep for good what keys have changed since the start."""
        if self._options.save is None:
            self.notify("there is no file to keep it in", markup=False, severity="warning", timeout=4)
        elif not changes(self._saved, self._now()):
            self.notify("nothing has changed", markup=False, timeout=3)
        else:
            self._keep(self._saved, self._now(), told="saved")

    def _sort_chosen(self, key: str | None) -> None:
        if key is not None and key != self.processes.sort_key:
            self.processes.sort_by(key)

    def _user_chosen(self, user: str | None) -> None:
        from gputop.ui.screens.dialogs.menu_choices import EVERYBODY

        if user is not None:
            held = self.processes.row_filter
            self.processes.narrow(replace(held, user=None if user == EVERYBODY else user))

    def _now(self) -> Settings:
        """Return the settings as keys have changed them since."""
        processes = self.processes
        is_reversed = processes.is_reversed != COLUMN_BY_KEY[processes.sort_key].descends
        return replace(
            self.settings, sort=processes.sort_key, sort_reversed=is_reversed, show_host=self.has_host,
            density=self._view.density.value,
        )  # fmt: skip

    def _settle(self, settings: Settings) -> None:
        processes = self.processes
        processes.chosen = settings.columns
        processes.sort_key = settings.sort
        processes.is_reversed = COLUMN_BY_KEY[settings.sort].descends != settings.sort_reversed

    def _apply(self, settings: Settings) -> None:
        """Show what a change makes of the screen."""
        before, self.settings = self.settings, settings
        self._settle(settings)
        self.has_host = settings.show_host
        self.post_message(SettingsChanged(before, settings))

    def _keep(self, before: Settings, after: Settings | None, told: str = "") -> None:
        new = changes(before, after) if after is not None else {}
        if new and self._options.save is not None:
            self.run_worker(self._save(new, told), exclusive=False)

    async def _save(self, new: dict[str, Value | None], told: str) -> None:
        """Save beside the screen's thread; say why where that fails, else what is to be told."""
        if self._options.save is not None:
            why = await asyncio.to_thread(self._options.save, new)
            if why is not None:
                self.notify(why, title="not saved", severity="error", markup=False, timeout=20)
                return
            self._saved = replace(self._saved, **{key: () if value is None else value for key, value in new.items()})
            if told:
                self.notify(told, markup=False, timeout=2)
