"""A main screen without Textual: it keeps what its controllers do to it."""

import asyncio
from collections.abc import Callable, Coroutine
from contextlib import AbstractContextManager, nullcontext
from queue import SimpleQueue
from typing import Any

from app_driver import Clock, text_of
from examples import frame
from textual.geometry import Size
from textual.message import Message
from textual.screen import Screen

from gputop.core.model.sample import Frame, HostProcess
from gputop.core.protocol.command import Command
from gputop.ui.input.keymap import Keymap
from gputop.ui.input.replay_actions import EVERY
from gputop.ui.options import ViewOptions
from gputop.ui.panels.footer import FooterPanel
from gputop.ui.panels.plugins import PluginsPanel
from gputop.ui.panels.processes import ProcessPanel
from gputop.ui.panels.prompt import PromptPanel
from gputop.ui.state.message_log import MessageLog
from gputop.ui.state.view import View
from gputop.ui.state.view_store import ViewStore

SIZE = Size(120, 40)


class FakeHost:
    """A `ScreenHost` that shows a frame; ``processes`` and ``footer`` are the real panels, as wide as `SIZE`."""

    def __init__(self, shown: Frame | None = None, **options: Any) -> None:
        self.options = ViewOptions(**{"own_user": "ann"} | options)
        self.clock = Clock()
        self.store = ViewStore(self.options, self.clock)
        self.messages = MessageLog(self.clock)
        self.keys = Keymap(EVERY)
        self.size = SIZE
        self.notices: list[str] = []
        self.screens: list[Screen[Any]] = [Screen()]
        self.sent: list[Command] = []
        self.draws = 0
        self.written = ""
        self._then: Callable[[Any], None] | None = None
        self.processes: ProcessPanel = Table(own_user="ann")
        self.footer: FooterPanel = Footer()
        self.prompt: PromptPanel = Prompt()
        self.plugins = PluginsPanel()
        self.posted: SimpleQueue[Message] = SimpleQueue()
        self.deliver(frame() if shown is None else shown)

    def deliver(self, shown: Frame) -> None:
        """Show another frame."""
        self.store.take(shown)
        self.draw()

    def select(self, process: HostProcess) -> None:
        """Put the cursor on a process."""
        assert self.processes.go_to(process.id)

    def close(self, result: Any) -> None:
        """Close the dialog in front with a result, as the user would."""
        self.screens.pop()
        then, self._then = self._then, None
        if then is not None:
            then(result)

    @property
    def rows(self) -> list[str]:
        """The process table as text, without its titles."""
        return [text_of([line]) for line in self.processes.lines[1:]]

    # --- ScreenHost ------------------------------------------------------------------------------------------------
    @property
    def view(self) -> View:
        return self.store.view

    @property
    def top(self) -> Screen[Any]:
        return self.screens[-1]

    def notify(self, message: str, **_: Any) -> None:
        self.notices.append(message)

    def push(self, screen: Screen[Any], then: Callable[[Any], None] | None = None) -> None:
        self.screens.append(screen)
        self._then = then

    def change(self, **changes: Any) -> None:
        self.store.change(**changes)
        self.draw()

    def draw(self) -> None:
        self.draws += 1
        self.processes.show(self.view)

    def send(self, command: Command) -> None:
        self.sent.append(command)

    text = ""

    def copy_to_clipboard(self, text: str) -> None:
        self.written += text

    def write_sequence(self, text: str) -> None:
        self.written += text

    def post_message(self, message: Message, /) -> bool:
        self.posted.put(message)
        return True

    def leave(self) -> AbstractContextManager[None]:
        return nullcontext()

    def run_worker(self, work: Coroutine[Any, Any, None]) -> object:
        return asyncio.run(work)


class Table(ProcessPanel):
    """The process table, of a size that no layout gave it."""

    size = SIZE


class Footer(FooterPanel):
    """The footer, of a size that no layout gave it."""

    size = SIZE


class Prompt(PromptPanel):
    """A prompt that only remembers its text."""

    size = SIZE

    def ask(self, label: str, text: str, earlier: Any = ()) -> None:  # noqa: ARG002 - as the panel
        self.label, self.display = label, True
