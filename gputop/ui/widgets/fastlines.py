"""A widget of lines that redraws only those that changed, past Textual's box model (no border, padding or tint)."""

from collections.abc import Sequence
from typing import ClassVar, Final

from rich.segment import Segment
from rich.style import Style
from textual.filter import ANSIToTruecolor
from textual.geometry import Region
from textual.strip import Strip
from textual.widget import Widget

from gputop.ui.line import BLANK, Line, length, plain
from gputop.ui.theme import INKS

_GREYED: Final = frozenset(INKS) - {"badge", "alarm", "head", "mark", "cursor", "track", "faint"}


class FastLines(Widget):
    """Shows lines. ``is_grey`` draws them muted: what they say is old."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {f"ink--{ink}" for ink in INKS}
    ALLOW_SELECT: ClassVar[bool] = False
    is_ascii = False
    is_grey = False

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
        self.lines: Sequence[Line] = ()
        self._styles_of: dict[tuple[str, str], Style] = {}

    def draw(self, lines: Sequence[Line], *, is_grey: bool = False) -> None:
        """Show these lines; those that stay as they were are not painted again."""
        before, self.lines = self.lines, lines
        if is_grey is not self.is_grey:
            self.is_grey = is_grey
            self._styles_of.clear()
            self.refresh()
            return
        width = self.size.width
        changed = [
            Region(0, y, width, 1)
            for y in range(max(len(before), len(lines)))
            if y >= len(before) or y >= len(lines) or before[y] != lines[y]
        ]
        if changed:
            self.refresh(*changed)

    def style_of(self, ink: str, base: str) -> Style:
        """Return the style of an ink on a base, from the theme."""
        style = self._styles_of.get((ink, base))
        if style is None:
            style = self._styles_of[ink, base] = self._mixed(ink, base)
        return style

    def render_line(self, y: int) -> Strip:
        """Paint a line."""
        line = self.lines[y] if y < len(self.lines) else BLANK
        base = line.base
        style_of, width = self.style_of, self.size.width
        if self.is_ascii:
            segments = [Segment(plain(text), style_of(ink, base)) for text, ink in line.spans]
        else:
            segments = [Segment(text, style_of(ink, base)) for text, ink in line.spans]
        cells = length(line.spans)
        if cells < width:
            segments.append(Segment(" " * (width - cells), style_of(base, base)))
        strip = Strip(segments, max(cells, width))
        return strip if cells <= width else strip.crop(0, width)

    def render_lines(self, crop: Region) -> list[Strip]:
        """Paint without the box model, but through the filters for NO_COLOR and for colours of the terminal."""
        strips = [self.render_line(y) for y in range(crop.y, crop.bottom)]
        background = self.background_colors[1]
        for line_filter in self.get_line_filters():
            if isinstance(line_filter, ANSIToTruecolor):
                continue  # a theme without the terminal's own colours has nothing to convert: a tenth of the frame
            strips = [strip.apply_filter(line_filter, background) for strip in strips]
        if crop.x or crop.width != self.size.width:
            strips = [strip.crop(crop.x, crop.right) for strip in strips]
        self._dirty_regions.clear()
        return strips

    def notify_style_update(self) -> None:
        """Forget the styles of the theme that was."""
        self._styles_of.clear()
        super().notify_style_update()

    def _mixed(self, ink: str, base: str) -> Style:
        if self.is_grey and ink in _GREYED:
            ink = "muted"
        style: Style = self.rich_style
        if ink != base or base == "text":
            style += self._ink(ink)
        if base != "text":
            over = self._ink(base)
            style = style + over if base in ("cursor", ink) else style + _back(over)
        return style

    def _ink(self, ink: str) -> Style:
        return self.get_component_rich_style(f"ink--{ink}", partial=True)


def _back(style: Style) -> Style:
    """Return the style without its foreground, to lie under an ink."""
    return Style(bgcolor=style.bgcolor, reverse=style.reverse, underline=style.underline)
