"""The main screen: panels, and the controllers that keys lead to."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import lru_cache
from typing import Any, TypeVar

from textual import events
from textual.app import ComposeResult
from textual.screen import Screen

from gputop.core.model.sample import Frame
from gputop.core.protocol.command import Command
from gputop.ui.input.keymap import Keymap, key_name
from gputop.ui.messages import NotificationFailed, PanelChanged, ProbeProgressed
from gputop.ui.options import ViewOptions
from gputop.ui.panels.findings import FindingsPanel
from gputop.ui.panels.footer import FooterPanel
from gputop.ui.panels.gpus import GpuPanel
from gputop.ui.panels.header import HeaderPanel
from gputop.ui.panels.host import DETAILED_LINES, HostPanel
from gputop.ui.panels.message import MessagePanel
from gputop.ui.panels.plugins import PluginsPanel
from gputop.ui.panels.processes import ProcessPanel
from gputop.ui.panels.prompt import PromptPanel
from gputop.ui.panels.replay import ReplayPanel
from gputop.ui.render.layout import Arrangement, Density, Kind, Plan, arrange, steady
from gputop.ui.render.line import Line
from gputop.ui.render.textual_private import in_place_of, painted
from gputop.ui.screens.dialogs.modal import KeyedScreen
from gputop.ui.screens.main.controllers import Controllers
from gputop.ui.state.message_log import MessageLog, Said
from gputop.ui.state.view import View
from gputop.ui.state.view_store import ViewStore
from gputop.ui.terminal_app import TerminalApp

T = TypeVar("T")
_arranged = lru_cache(maxsize=4)(arrange)  # the same from frame to frame


class MainScreen(Screen[None]):
    """Lays the panels out, passes keys to controllers and frames to panels. It is the controllers' `ScreenHost`."""

    ALLOW_SELECT = False
    AUTO_FOCUS = "ProcessPanel"

    def __init__(
        self,
        options: ViewOptions,
        store: ViewStore,
        send: Callable[[Command], None],
        keys: Keymap,
        messages: MessageLog,
    ) -> None:
        super().__init__()
        self.options, self.store, self.send, self.messages = options, store, send, messages
        self._arranged = Arrangement(Plan(kind=Kind.LINES, height=0), 0)
        self._wanted = 0  # lines that processes, findings and plugins may take
        self.header = HeaderPanel()
        self.replay = ReplayPanel()
        self.gpus = GpuPanel()
        self.host = HostPanel()
        self.findings = FindingsPanel()
        self.plugins = PluginsPanel()
        self.processes = ProcessPanel(own_user=options.own_user)
        self.message = MessagePanel()
        self.prompt = PromptPanel()
        self.footer = FooterPanel()
        self.controllers = Controllers(self)
        self.set_keys(keys)

    def compose(self) -> ComposeResult:
        """Put the panels below each other."""
        yield self.header
        yield self.replay
        yield self.gpus
        yield self.host
        yield self.findings
        yield self.plugins
        yield self.processes
        yield self.message
        yield self.prompt
        yield self.footer

    # --- for controllers -------------------------------------------------------------------------------------------
    @property
    def view(self) -> View:
        """The state that the panels draw."""
        return self.store.view

    @property
    def top(self) -> Screen[Any]:
        """The screen in front."""
        return self.app.screen

    def show_message(self, said: Said | None, key: str) -> None:
        """Show a message above the keys, or none."""
        self.message.show(said, key)

    @property
    def text(self) -> str:
        """The main screen as text."""
        return "\n".join(strip.text.rstrip() for strip in painted(self)) + "\n"

    def copy_to_clipboard(self, text: str) -> None:
        """Copy a text with OSC 52."""
        self.app.copy_to_clipboard(text)

    def write_sequence(self, text: str) -> None:
        """Write to the terminal as it is, between two updates of the screen."""
        if isinstance(self.app, TerminalApp):
            self.app.write_sequence(text)

    def leave(self) -> AbstractContextManager[None]:
        """Give the terminal back while the context lasts, and draw the screen again afterwards."""
        return self.app.suspend()

    def push(self, screen: Screen[T], then: Callable[[T | None], None] | None = None) -> None:
        """Open a page or a dialog; ``then`` gets its result, even if the page that asked for it has closed."""
        with in_place_of(self):
            self.app.push_screen(screen, then)

    def change(self, **changes: Any) -> None:  # noqa: ANN401 - the fields of View
        """Change fields of the view, and draw it."""
        self.store.change(**changes)
        self.draw()

    def draw(self) -> None:
        """Draw the view."""
        view, size = self.view, (self.size.width, self.size.height)
        if 0 in size:
            return
        self._arrange(view, size)
        arranged = self._arranged
        self.header.show(view)
        self.gpus.show(view, arranged.gpus, size[0])
        self.host.show(view, (size[0], arranged.host_lines))
        self.processes.show(view)
        self.footer.show(is_chord=self.controllers.table.is_chord)

    def _arrange(self, view: View, size: tuple[int, int]) -> None:
        """Give each panel its lines. A filter changes none of them; few new processes or findings do not either."""
        settings = self.controllers.settings.current
        self.replay.show(view)
        others = self.findings.show(view, size[0], size[1] // 10, self.keys.name("findings"))
        others += self.controllers.plugin.draw(is_shown=settings.show_panels)
        self._wanted = steady(self._wanted, view.uses + others)
        counts = tuple(len(view.values(gpu).instances) for gpu in view.shown)
        density = view.density if view.focus is None else Density.AUTO
        room = (size[0], size[1] - self.replay.display - others)
        wanted = self._wanted - others if view.frame else None
        arranged = _arranged(room, counts, density, has_host=settings.show_host, wanted=wanted)
        if arranged != self._arranged:
            self._arranged = arranged
            self.gpus.styles.height = arranged.gpus.height
            self.host.styles.height = arranged.host_lines

    def draw_age(self) -> None:
        """Draw only the header, which shows the age of the values."""
        self.header.show(self.view)

    # --- frames and keys -------------------------------------------------------------------------------------------
    def take_frame(self, frame: Frame) -> None:
        """Pass a new frame to the controllers that use it."""
        self.controllers.signal.followups.take_frame(frame)
        self.controllers.recording.take_frame(frame)
        self.controllers.notification.take_frame(frame)
        settings = self.controllers.settings.current
        if self.store.has_new_alarm and settings.bell:
            self.app.bell()
        if self.store.has_new_alarm and settings.insight_on_alarm:
            self.controllers.finding.explain_hangs(frame)
        self.controllers.plugin.request()
        if self._arranged.host_lines >= DETAILED_LINES:
            self.controllers.view.watch_host()

    def set_keys(self, keys: Keymap) -> None:
        """Use these keys from now on."""
        self.keys = keys
        self._begun = ""  # the first of two keys
        self._said: set[str] = set()  # keys without a meaning
        self._runs = keys.runs()
        self.footer.take(keys.actions)
        self.controllers.search.set_keys(keys)

    async def on_key(self, event: events.Key) -> None:
        """Do what keys do, one after the other in the order in which they were typed."""
        event.stop()
        event.prevent_default()
        top = self.app.screen
        if isinstance(top, KeyedScreen):  # an earlier key opened it
            top.on_key(event)
        elif self.prompt.display:
            self.prompt.on_key(event)
        elif self.controllers.table.is_chord:
            self.controllers.table.end_chord(event.character or "")
        else:
            await self._press(f"{self._begun} {event.key}" if self._begun else event.key)

    async def _press(self, keys: str) -> None:
        """Run the action of one or two keys; after the first of two keys, show it and wait for the other."""
        was_begun, self._begun = self._begun, ""
        if keys in self._runs:
            await self.app.run_action(self._runs[keys])
        elif any(one.startswith(f"{keys} ") for one in self._runs):
            self._begun = keys
        elif not was_begun:
            self.say_unused(keys)
        if was_begun or self._begun:
            self.footer.say(Line(((f" {key_name(keys)}…", "badge"),)) if self._begun else None)

    def say_unused(self, key: str) -> None:
        """Say that a key has no meaning, once for each key."""
        if key not in self._said:
            self._said.add(key)
            self.app.notify(self.keys.unused(key), timeout=4)

    # --- messages --------------------------------------------------------------------------------------------------
    def on_screen_resume(self) -> None:
        """Draw the view, and show failures that came while a dialog was open."""
        self.draw()
        self.controllers.changes.show_waiting()

    def on_resize(self) -> None:
        """Draw once the panels have their new size."""
        self.call_after_refresh(self.draw)

    def on_prompt_panel_changed(self, message: PromptPanel.Changed) -> None:
        """Filter or search while the user types."""
        self.controllers.search.change_text(message.text)

    def on_prompt_panel_stepped(self, message: PromptPanel.Stepped) -> None:
        """Go to the next match."""
        self.controllers.search.step(message.step)

    def on_prompt_panel_ended(self, message: PromptPanel.Ended) -> None:
        """Close the prompt, unless the filter has an error."""
        if self.controllers.search.close(message.text, is_kept=message.is_kept):
            self.set_focus(self.processes)
        else:
            self.app.bell()

    def on_panel_changed(self, _: PanelChanged) -> None:
        """Draw new lines of a plugin."""
        self.controllers.plugin.draw_changed()

    def on_notification_failed(self, message: NotificationFailed) -> None:
        """Show why a channel sent no notification."""
        self.app.notify(message.text, title=message.shown_as, severity="error", timeout=60)

    def on_probe_progressed(self, _: ProbeProgressed) -> None:
        """Show the progress of a probe."""
        self.controllers.probe.show_progress(self.app.screen_stack)
        self.draw_age()
