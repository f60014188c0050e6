"""GPU page: findings, values, plots and processes of a GPU, then every metric or the reason why it is missing."""

from collections.abc import Mapping, Sequence
from typing import ClassVar

from gputop.core.model.sample import Gpu
from gputop.core.model.units import NOTHING
from gputop.ui.render.line import Line
from gputop.ui.screens.pages.gpu_lines import gpu_page
from gputop.ui.screens.pages.page import Page
from gputop.ui.state.view import View


class GpuScreen(Page):
    """Shows one GPU in full, and each new frame."""

    TAKES: ClassVar[Mapping[str, str]] = {
        **Page.TAKES, "detail": "close", "mig": "open_mig", "history": "open_history",
        "left": "turn(-1)", "right": "turn(1)",
    }  # fmt: skip
    is_full = True

    def __init__(self, gpu: Gpu, view: View) -> None:
        super().__init__()
        self.gpu = gpu
        self._view = view

    def page(self, width: int, height: int) -> Sequence[Line]:
        """Return the page of the GPU from the latest frame."""
        return gpu_page(self.gpu, self._view, (width, height))

    def keys_line(self) -> str:
        """Return the keys, with those for MIG and for the other GPUs."""
        name = self.name_of
        turn = f"{name('left')} {name('right')} GPU · " if len(self._view.gpus) > 1 else ""
        return f"{super().keys_line()} · {turn}{name('history')} history · {name('mig')} MIG"

    def title_line(self) -> str:
        """Return the index and name of the GPU."""
        return f"GPU {self.gpu.index} · {self.gpu.name or NOTHING}"

    def turn(self, step: int) -> None:
        """Show the next or previous GPU."""
        gpus = self._view.gpus
        at = next((number for number, gpu in enumerate(gpus) if gpu.uuid == self.gpu.uuid), None)
        if at is not None:
            self.gpu = gpus[(at + step) % len(gpus)]
            self.redraw()

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
