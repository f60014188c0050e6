"""What lies behind a dialog, dimmed. Textual mixes the colours of each piece of text; here each style is mixed once."""

from functools import lru_cache

from rich.segment import Segment
from rich.style import Style
from textual.color import Color
from textual.renderables.background_screen import BackgroundScreen
from textual.strip import Strip


def dimmed(strip: Strip, color: Color) -> Strip:
    """Return a line with its colours mixed with this one."""
    segments = [Segment(text, _mixed(style or _PLAIN, color)) for text, style, control in strip if not control]
    return Strip(segments, strip.cell_length)


_PLAIN = Style.null()


@lru_cache(maxsize=512)
def _mixed(style: Style, color: Color) -> Style:
    (mixed,) = BackgroundScreen.process_segments([Segment("", style)], color)
    return mixed.style or _PLAIN
