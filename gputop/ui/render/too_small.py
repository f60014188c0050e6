"""Message in place of the screen in a terminal that is too small for it."""

from textwrap import wrap
from typing import Final

from rich.console import Console

from gputop.ui.render.textual_private import CompositorUpdate

LEAST: Final = (40, 10)  # columns and lines
_CLEAR: Final = "\x1b[0m\x1b[2J"


def is_too_small(size: tuple[int, int]) -> bool:
    """Return whether a terminal has too few columns or lines."""
    return size[0] < LEAST[0] or size[1] < LEAST[1]


class TooSmall(CompositorUpdate):
    """Clears the terminal and writes the message, cut to its size."""

    def __init__(self, size: tuple[int, int]) -> None:
        self._size = size

    def render_segments(self, console: Console) -> str:  # noqa: ARG002 - Textual's signature
        """Return the terminal sequences."""
        width, height = self._size
        words = "terminal too small: {}x{}, needs at least {}x{}".format(*self._size, *LEAST)
        lines = wrap(words, max(1, width))[:height]
        return _CLEAR + "".join(f"\x1b[{row};1H{line}" for row, line in enumerate(lines, 1))
