"""Actions that change the view: the size of the GPU panel, the GPU in focus, pause, back."""

from typing import Final

from gputop.core.protocol.command import ReadNow, WatchHost
from gputop.ui.input.typed_number import TypedNumber
from gputop.ui.render.layout import Density
from gputop.ui.screens.main.host import ScreenHost
from gputop.ui.screens.main.search_actions import SearchActions
from gputop.ui.screens.main.target_actions import TargetActions
from gputop.ui.state.rows import Grouping

_HOST_S: Final = 30.0  # how long the sampler reads the details of the host after each request


class ViewActions:
    """Changes the view, and takes one step back."""

    def __init__(self, host: ScreenHost, selected: TargetActions, search: SearchActions) -> None:
        self._host = host
        self._selected = selected
        self._search = search
        self._typed = TypedNumber(host.store.clock)
        self._host_due_s = float("-inf")

    def read_now(self) -> None:
        """Request a sample."""
        self._host.send(ReadNow())

    def watch_host(self) -> None:
        """Request the details of the host, now and again while they are shown."""
        now = self._host.store.clock()
        if now >= self._host_due_s:
            self._host_due_s = now + _HOST_S / 3
            self._host.send(WatchHost(_HOST_S))

    def next_density(self) -> None:
        """Take the next size of the GPU panel."""
        order = list(Density)
        density = order[(order.index(self._host.view.density) + 1) % len(order)]
        self._host.change(density=density)
        self._host.notify(f"GPU panel: {density.value}", timeout=2)

    def show_density(self, name: str) -> None:
        """Take a size of the GPU panel."""
        self._host.change(density=Density(name))

    def type_gpu(self, digit: int) -> None:
        """Show one GPU alone; a second digit right after the first makes 12 of 1 and 2, where there are so many."""
        self.focus_gpu(self._typed.add(digit, self._has))

    def focus_gpu(self, index: int) -> None:
        """Show one GPU alone, or all again."""
        if self._has(index):
            self._host.change(focus=None if self._host.view.focus == index else index)
        else:
            self._host.notify(f"there is no GPU {index}", timeout=2)

    def pause(self) -> None:
        """Freeze the screen, or show the newest frame again."""
        self._host.store.change(is_paused=not self._host.view.is_paused)
        self._host.store.release()
        self._host.draw()

    def back(self) -> None:
        """Take one step back: tags, cursor, search or filter, GPU, view."""
        if self._selected.clear_tags() or self._host.processes.clear_cursor() or self._search.clear():
            return
        if self._host.view.focus is not None:
            self._host.change(focus=None)
        else:
            self._host.processes.group(Grouping.PROCESSES)

    def _has(self, index: int) -> bool:
        return any(gpu.index == index for gpu in self._host.view.gpus)
