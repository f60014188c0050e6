"""What the main screen does to the view: how large GPUs are, which one is looked at, how often it is read."""

from collections.abc import Callable
from typing import Any, Final

from textual.screen import Screen

from gputop.core.protocol.command import Command, ReadNow, SetInterval
from gputop.ui.options import ViewOptions
from gputop.ui.panels.gpus import GpuPanel
from gputop.ui.render.layout import Density
from gputop.ui.state.view import View
from gputop.ui.state.view_store import ViewStore

INTERVALS: Final = (0.25, 0.5, 1.0, 2.0, 5.0, 10.0)
_TYPING_S: Final = 1.0  # between two digits of one number


class ViewingScreen(Screen[None]):
    """The part of the main screen that changes the view. ``ask`` sends a command to the sampler."""

    def __init__(self, options: ViewOptions, reception: ViewStore, ask: Callable[[Command], None]) -> None:
        super().__init__()
        self._options = options
        self._reception = reception
        self._ask = ask
        self._digit, self._typed_s = 0, float("-inf")

    @property
    def _view(self) -> View:
        return self._reception.view

    def show(self) -> None:
        """Draw the view."""
        raise NotImplementedError

    def show_age(self) -> None:
        """Draw only the first line."""
        raise NotImplementedError

    def change(self, **changes: Any) -> None:  # noqa: ANN401 - the fields of View
        """Show something else."""
        self._reception.change(**changes)
        self.show()

    def action_read_now(self) -> None:
        """Ask for a sample."""
        self._ask(ReadNow())

    def step_interval(self, step: int) -> None:
        """Take the next longer or shorter interval."""
        now = self._view.interval_s
        nearest = min(range(len(INTERVALS)), key=lambda at: abs(INTERVALS[at] - now))
        chosen = INTERVALS[max(0, min(len(INTERVALS) - 1, nearest + step))]
        self._ask(SetInterval(chosen))
        self.change(interval_s=chosen)

    def action_density(self) -> None:
        """Take the next size of the GPU panel."""
        order = list(Density)
        density = order[(order.index(self._view.density) + 1) % len(order)]
        self.change(density=density)
        self.notify(f"GPU panel: {density.value}", markup=False, timeout=2)

    def action_focus_gpu(self, digit: int) -> None:
        """Look at a GPU; a second digit right after the first makes 12 of 1 and 2, where there are so many."""
        now = self._reception.clock()
        both = self._digit * 10 + digit
        is_second = self._digit > 0 and now - self._typed_s < _TYPING_S and self._has(both)
        self._digit, self._typed_s = 0 if is_second else digit, now
        self._focus(both if is_second else digit)

    def _has(self, index: int) -> bool:
        return any(gpu.index == index for gpu in self._view.gpus)

    def _focus(self, index: int) -> None:
        """Look at one GPU, or at all again."""
        if self._has(index):
            self.change(focus=None if self._view.focus == index else index)
        else:
            self.notify(f"there is no GPU {index}", markup=False, timeout=2)

    def on_gpu_panel_picked(self, message: GpuPanel.Picked) -> None:
        """Look at the clicked GPU."""
        self._focus(message.index)

    def action_pause(self) -> None:
        """Hold the picture, or show the newest frame again."""
        self._reception.change(is_paused=not self._view.is_paused)
        self._reception.release()
        self.show()
