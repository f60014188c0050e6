"""GPU page: findings, values, plots and processes of a GPU, then every metric or the reason why it is missing."""

from collections.abc import Mapping, Sequence
from typing import ClassVar

from textual import events

from gputop.core.model.process_id import ProcessId
from gputop.core.model.sample import Gpu, HostProcess
from gputop.core.model.units import NOTHING
from gputop.ui.messages import NotificationRequested, ProcessRequested, SignalRequested
from gputop.ui.render.line import Line
from gputop.ui.screens.pages.gpu_lines import gpu_page, users_of
from gputop.ui.screens.pages.page import Page
from gputop.ui.state.view import View


class GpuScreen(Page):
    """Shows one GPU in full, and each new frame."""

    TAKES: ClassVar[Mapping[str, str]] = {
        **Page.TAKES, "detail": "close", "mig": "open_mig", "history": "open_history",
        "left": "turn(-1)", "right": "turn(1)", "up": "move(-1)", "down": "move(1)", "accept": "open_process",
        "signal": "signal(False)", "kill": "signal(True)", "notify": "notify_me",
    }  # fmt: skip
    is_full = True

    def __init__(self, gpu: Gpu, view: View) -> None:
        super().__init__()
        self.gpu = gpu
        self._view = view
        self._cursor: ProcessId | None = None
        self._first = 0  # line of the first process

    def page(self, width: int, height: int) -> Sequence[Line]:
        """Return the page of the GPU from the latest frame."""
        lines, self._first = gpu_page(self.gpu, self._view, (width, height), self._at)
        return lines

    def keys_line(self) -> str:
        """Return the keys, with those for MIG and for the other GPUs."""
        name = self.name_of
        turn = f"{name('left')} {name('right')} GPU · " if len(self._view.gpus) > 1 else ""
        chosen = f"{name('accept')} process · {name('signal')} signal · " if self._at is not None else ""
        return f"{super().keys_line()} · {chosen}{turn}{name('history')} history · {name('mig')} MIG"

    def title_line(self) -> str:
        """Return the index and name of the GPU."""
        return f"GPU {self.gpu.index} · {self.gpu.name or NOTHING}"

    def turn(self, step: int) -> None:
        """Show the next or previous GPU."""
        gpus = self._view.gpus
        at = next((number for number, gpu in enumerate(gpus) if gpu.uuid == self.gpu.uuid), None)
        if at is not None:
            self.gpu, self._cursor = gpus[(at + step) % len(gpus)], None
            self.redraw()

    def move(self, step: int) -> None:
        """Move the cursor among the processes in view; else scroll."""
        users, at = users_of(self.gpu, self._view), self._at
        to = (0 if step > 0 else None) if at is None else at + step
        if to is None or not 0 <= to < len(users) or not self._is_seen(to if at is None else at):
            self.scroll_lines(step)
            return
        self._cursor = users[to][0].id
        self.redraw()
        if not self._is_seen(to):
            self.scroll_lines(step)

    def on_click(self, event: events.Click) -> None:
        """Put the cursor on a process, or open the page of the one under the cursor."""
        users, at = users_of(self.gpu, self._view), event.screen_y - self.body.region.y - self._first
        if not 0 <= at < len(users):
            return
        if at == self._at:
            self.open_process()
        else:
            self._cursor = users[at][0].id
            self.redraw()

    def open_process(self) -> None:
        """Open the page of the process under the cursor; without one, close."""
        process = self._process
        if process is None:
            self.close()
        else:
            self.post_message(ProcessRequested(process))

    def signal(self, is_kill: bool) -> None:  # noqa: FBT001 - an argument of a key
        """Open the signal dialog for the process under the cursor; ``is_kill``: for SIGKILL."""
        process = self._process
        if process is None:
            self.notify(f"Select a process first, with {self.name_of('down')}.", timeout=3)
        else:
            self.post_message(SignalRequested(process, is_kill=is_kill))

    def notify_me(self) -> None:
        """Choose a notification about this GPU or the process under the cursor."""
        self.post_message(NotificationRequested([self.gpu.uuid], self._process))

    def open_mig(self) -> None:
        """Open the MIG page of this GPU on top."""
        self.call_later(self.app.run_action, f"page.mig({self.gpu.index})")

    def open_history(self) -> None:
        """Open the history of this GPU on top."""
        self.call_later(self.app.run_action, f"page.history({self.gpu.index})")

    def follow(self, view: View) -> None:
        """Draw the new values."""
        self._view = view
        for gpu in view.gpus:
            if gpu.uuid == self.gpu.uuid:
                self.gpu = gpu
                self.redraw()

    @property
    def _at(self) -> int | None:
        """The place of the cursor among the processes; None if there is none, or its process has left the GPU."""
        users = [one.id for one, _ in users_of(self.gpu, self._view)]
        return users.index(self._cursor) if self._cursor in users else None

    @property
    def _process(self) -> HostProcess | None:
        at = self._at
        return None if at is None else users_of(self.gpu, self._view)[at][0]

    def _is_seen(self, at: int) -> bool:
        """Return whether the line of a process is in view."""
        return self.top <= self._first + at < self.top + self.room[1]
