"""The app: passes frames from the link to the main screen, and commands to the link."""

import time
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar, Final

from textual.actions import ActionParseResult
from textual.app import SystemCommand
from textual.binding import Binding, BindingType
from textual.dom import DOMNode
from textual.driver import Driver
from textual.notifications import SeverityLevel
from textual.screen import Screen

from gputop.core.model.sample import Frame
from gputop.core.protocol.link import Delay, Down, Link, News
from gputop.core.protocol.outcome import Outcome
from gputop.core.protocol.process_status import ProcessStatuses
from gputop.core.recording.playback import Stretch
from gputop.ui.input.keymap import ALWAYS_QUITS
from gputop.ui.input.palette import commands
from gputop.ui.input.replay_actions import active_keys
from gputop.ui.messages import (
    FindingCopied,
    HistoryRequested,
    KeyUnused,
    NewsArrived,
    NotificationRequested,
    PageCopied,
    ProcessRequested,
    SettingsChanged,
    SignalRequested,
    WhyRequested,
)
from gputop.ui.options import ViewOptions
from gputop.ui.render.layout import Density
from gputop.ui.screens.dialogs.modal import KeyedScreen
from gputop.ui.screens.main.screen import MainScreen
from gputop.ui.state.message_log import MessageLog
from gputop.ui.state.signal_followup import Clock
from gputop.ui.state.view import View
from gputop.ui.state.view_store import ViewStore
from gputop.ui.terminal_app import TerminalApp

_INKS: Final[Mapping[SeverityLevel, str]] = {"information": "title", "warning": "warm", "error": "hot"}
_MOST_TOLD: Final = 3  # of what is wrong with the settings


class GputopApp(TerminalApp):
    """Shows what a link delivers. ``clock``: monotonic seconds, for the age of frames."""

    CSS_PATH = "gputop.tcss"
    TITLE = "gputop"
    BINDINGS: ClassVar[list[BindingType]] = [Binding(ALWAYS_QUITS, "quit", "Quit", show=False, priority=True)]
    ENABLE_COMMAND_PALETTE = True

    def __init__(self, link: Link, options: ViewOptions, clock: Clock = time.monotonic) -> None:
        self.options = options
        keys = active_keys(options.settings, options)
        super().__init__(
            options.theme, keys, is_ascii=options.is_ascii, writes_changes_only=options.writes_changes_only
        )
        self._link = link
        self._store = ViewStore(options, clock)
        self.messages = MessageLog(clock)
        self.main = MainScreen(options, self._store, link.send, keys, self.messages)

    @property
    def view(self) -> View:
        """The state that the panels draw."""
        return self._store.view

    def get_driver_class(self) -> type[Driver]:
        """Return the driver of the terminal, or of a browser."""
        if not self.options.is_served:
            return super().get_driver_class()
        from gputop.ui.render.served_driver import ServedDriver

        return ServedDriver

    def get_default_screen(self) -> Screen[None]:
        """Return the main screen."""
        return self.main

    def get_system_commands(self, screen: Screen[Any]) -> Iterable[SystemCommand]:  # noqa: ARG002 - Textual's signature
        """Fill the palette."""
        return commands(self.keymap.actions, self.run_action)

    def on_mount(self) -> None:
        """Open the link, and check the age of the frame once a second."""
        self._link.open(self._post)
        problems = (*self.options.problems, *self.keymap.problems)
        if problems:
            self.notify(_in_short(problems), severity="warning", timeout=12)
        self.set_interval(1.0, self.check_age)

    def on_unmount(self) -> None:
        """Stop the sampler, a probe's workers, and programs that send notifications."""
        self._link.close()
        if self.options.prober is not None:
            self.options.prober.close()
        if self.options.notifier is not None:
            self.options.notifier.close()

    def on_news_arrived(self, message: NewsArrived) -> None:
        """Take news of the link; pass an answer to the page or dialog that requested it."""
        match message.news:
            case Frame() as frame:
                self._store.take(frame)
                self.main.take_frame(frame)
                self._draw()
            case Stretch() as stretch:
                self._play(stretch)
            case Down() as down:
                self._lose(down)
            case Delay() as delay:
                self._store.delay(delay)  # the frame that follows draws it
            case Outcome() as outcome:
                if not self._hand_on(outcome):
                    self.main.controllers.signal.take_outcome(outcome)
            case ProcessStatuses() as statuses if self.main.controllers.take_statuses(statuses):
                pass
            case answer:
                self._hand_on(answer)

    def on_signal_requested(self, message: SignalRequested) -> None:
        """Open the signal dialog for processes."""
        self.main.controllers.signal.choose_for(*message.processes, is_kill=message.is_kill)

    def on_process_requested(self, message: ProcessRequested) -> None:
        """Open the page of a process."""
        self.main.controllers.page.process_of(message.process)

    def on_history_requested(self, message: HistoryRequested) -> None:
        """Open the history of a process."""
        self.main.controllers.page.history_of(message.process)

    def on_why_requested(self, message: WhyRequested) -> None:
        """Ask where a process or its job hangs."""
        self.main.controllers.page.why_of(message.about)

    def on_finding_copied(self, message: FindingCopied) -> None:
        """Copy a finding."""
        self.main.controllers.copy.copy_finding(message.finding)

    def on_page_copied(self, message: PageCopied) -> None:
        """Copy the text of a page."""
        self.main.controllers.copy.copy_page(message.title, message.text)

    def on_notification_requested(self, message: NotificationRequested) -> None:
        """Choose a notification about the GPU or process of a page."""
        self.main.controllers.notification.choose_about(message.gpus, message.process)

    def on_key_unused(self, message: KeyUnused) -> None:
        """Say that a key has no meaning on the page in front."""
        self.main.say_unused(message.key)

    def check_age(self) -> None:
        """Show the age of a late frame; hide an old message; request the status of signalled processes."""
        self._show_message()
        was_grey = self.view.is_grey
        if self._store.grow_old():
            self.main.draw_age() if was_grey == self.view.is_grey else self.main.draw()
        self.main.controllers.signal.followups.poll()
        self.main.controllers.recording.update()

    def on_settings_changed(self, message: SettingsChanged) -> None:
        """Show the effect of changed settings."""
        if message.after.theme != message.before.theme:
            self.action_theme(message.after.theme)
        if message.after.keymap != message.before.keymap:
            self.keymap = active_keys(message.after, self.options)
            self.main.set_keys(self.keymap)
        self.main.change(density=Density(message.after.density))

    def action_theme(self, name: str) -> None:
        """Change the colours; the settings follow."""
        super().action_theme(name)
        self.main.controllers.settings.set_theme(name)

    async def run_action(
        self,
        action: "str | ActionParseResult",  # an alias that is a string at runtime
        default_namespace: DOMNode | None = None,
        namespaces: Mapping[str, DOMNode] | None = None,
    ) -> bool:
        """Run an action of the table: a method of a controller, or one of Textual's own actions."""
        if isinstance(action, str) and self.main.controllers.run(action):
            return True
        return await super().run_action(action, default_namespace, namespaces)

    def notify(
        self,
        message: str,
        *,
        title: str = "",
        severity: SeverityLevel = "information",
        timeout: float | None = None,
        markup: bool = True,  # noqa: ARG002 - Textual's signature; a message is text
    ) -> None:
        """Show a message in the line above the keys; one with the same ``title``, the id of an action, replaces it."""
        time_s = self.view.frame.time_s if self.view.frame is not None else time.time()
        self.messages.add(message, ink=_INKS[severity], time_s=time_s, for_s=timeout, action=title)
        self._show_message()

    def action_go_to_host(self, step: int) -> None:
        """Quit, for another host."""
        if self.options.go_to_host is not None:
            self.options.go_to_host(step)
            self.exit()

    async def action_quit(self) -> None:
        """Quit at once."""
        self.exit()

    def _post(self, news: News) -> None:
        """Post news of the link, from its thread."""
        self.post_message(NewsArrived(news))

    def _play(self, stretch: Stretch) -> None:
        """Show the next part of a recording, and request more when it is drawn."""
        self._store.play(stretch)
        self.main.controllers.plugin.request()
        self._draw()
        if self.options.player is not None:
            self.call_after_refresh(self.options.player.taken)

    def _lose(self, down: Down) -> None:
        """Grey the values and show the reason; quit if there are none and the link is down for good."""
        if self._store.newest is None and down.retry_s is None:
            self.exit(down)
        if self.options.log_in is not None and down.retry_s is None:
            key = self.keymap.name("log-in")
            self.notify(f"{key} connects again: ssh can ask on the terminal then", severity="warning", timeout=60)
        self._store.lose(down)
        self._draw()

    def _draw(self) -> None:
        """Draw the view; panels below a full page are drawn when it closes."""
        over = self._over
        if not any(screen.is_full for screen in over):
            self.main.draw()
        for screen in over:
            screen.follow(self.view)

    def _show_message(self) -> None:
        """Show the current message on the screen in front, and on no other."""
        screens: list[MainScreen | KeyedScreen[Any]] = [self.main, *self._over]
        key = self.keymap.name("messages")
        for screen in screens:
            screen.show_message(self.messages.current if screen is screens[-1] else None, key)

    def _hand_on(self, news: News) -> bool:
        """Pass news to all pages and dialogs; return whether one of them shows it."""
        heard = [screen.hear(news) for screen in self._over]  # all of them
        return any(heard)

    @property
    def _over(self) -> list[KeyedScreen[Any]]:
        """The pages and dialogs over the main screen."""
        return [screen for screen in self.screen_stack if isinstance(screen, KeyedScreen)]


def _in_short(problems: Sequence[str]) -> str:
    """Return the first problems, and the command that lists the others."""
    more = len(problems) - _MOST_TOLD
    return "\n".join((*problems[:_MOST_TOLD], *((f"and {more} more: gputop config show",) if more > 0 else ())))
