"""Widget of lines that redraws only changed lines, without Textual's box model (no border, padding or tint)."""

from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from itertools import zip_longest
from typing import Any, ClassVar, Final

from rich.segment import Segment
from rich.style import Style
from rich.text import Text
from textual.app import App
from textual.color import Color
from textual.filter import ANSIToTruecolor
from textual.geometry import Region
from textual.renderables.background_screen import BackgroundScreen
from textual.strip import Strip
from textual.widget import Widget

from gputop.ui.render.line import BLANK, Line, cut, length
from gputop.ui.render.textual_private import mark_painted
from gputop.ui.render.theme import INKS

_GREYED: Final = frozenset(INKS) - {"badge", "alarm", "head", "mark", "cursor", "track", "faint"}


class _Styles(dict[str, Style]):
    """Styles by ink, each mixed on first use."""

    def __init__(self, mixed: Callable[[str], Style]) -> None:
        super().__init__()
        self._mixed = mixed

    def __missing__(self, ink: str) -> Style:
        style = self[ink] = self._mixed(ink)
        return style


class _WholeStrip(Strip):
    """A strip that leaves nothing to the garbage collector: Textual's own keeps itself in a cache of its pieces."""

    def divide(self, cuts: Iterable[int]) -> Sequence[Strip]:
        """Return the pieces between these columns."""
        cuts = list(cuts)
        return [self] if cuts == [self.cell_length] else super().divide(cuts)


class FastLines(Widget):
    """Shows lines; ``is_grey`` draws them muted, because their values are old."""

    ALLOW_SELECT: ClassVar[bool] = False
    is_grey = False

    def __init__(self) -> None:
        super().__init__()
        self.lines: Sequence[Line] = ()
        self._styles: dict[str, _Styles] = {}
        self._strips: dict[int, Strip] = {}  # Textual requests all lines of a widget, however few changed
        self._strips_width = 0

    def draw(self, lines: Sequence[Line], *, is_grey: bool = False) -> None:
        """Show these lines; unchanged lines are not painted again."""
        before, self.lines = self.lines, lines
        if is_grey is not self.is_grey:
            self.is_grey = is_grey
            self._forget()
            self.refresh()
            return
        changed = [y for y, (old, new) in enumerate(zip_longest(before, lines)) if old != new]
        for y in changed:
            self._strips.pop(y, None)
        if changed:
            self.refresh(*_regions(changed, self.size.width))

    def render_line(self, y: int) -> Strip:
        """Paint a line, in the width that `render_lines` found."""
        line = self.lines[y] if y < len(self.lines) else BLANK
        styles, width = self._styles_on(line.base), self._strips_width
        cells = length(line.spans)
        spans = line.spans if cells <= width else cut(line.spans, width)
        segments = [Segment(text, styles[ink]) for text, ink in spans]
        if cells < width:
            segments.append(Segment(" " * (width - cells), styles[line.base]))
        return _WholeStrip(segments, width)

    def render_lines(self, crop: Region) -> list[Strip]:
        """Paint without the box model, but through the line filters (NO_COLOR)."""
        width = self.size.width
        if self._strips_width != width:
            self._strips_width = width
            self._strips.clear()
        known = self._strips
        new = [y for y in range(crop.y, crop.bottom) if y not in known]
        known.update(zip(new, filtered(self, [self.render_line(y) for y in new]), strict=True))
        strips = [known[y] for y in range(crop.y, crop.bottom)]
        if crop.x or crop.width != width:
            strips = [strip.crop(crop.x, crop.right) for strip in strips]
        mark_painted(self)
        return strips

    def notify_style_update(self) -> None:
        """Forget the styles of the theme before."""
        self._forget()
        super().notify_style_update()

    def _styles_on(self, base: str) -> _Styles:
        """Return the styles of all inks on a base, from the theme."""
        styles = self._styles.get(base)
        if styles is None:
            styles = self._styles[base] = _Styles(lambda ink: self._mixed(ink, base))
        return styles

    def _forget(self) -> None:
        self._styles.clear()
        self._strips.clear()

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
        return self.app.get_component_styles(f"ink--{ink}").partial_rich_style


class OpeningLines(FastLines):
    """Lines that take as much of the screen as they are many, or nothing. ``opens``: the action of a click."""

    opens: ClassVar[str]

    def draw_fitted(self, lines: Sequence[Line], *, is_grey: bool = False) -> int:
        """Draw the lines; return their number."""
        self.display = bool(lines)
        self.styles.height = max(1, len(lines))
        self.draw(lines, is_grey=is_grey)
        return len(lines)

    async def on_click(self) -> None:
        """Open the page with all of it."""
        await self.app.run_action(self.opens)


def as_text(line: Line, app: App[Any]) -> Text:
    """Return a line for one of Textual's widgets."""
    spans = [(text, app.get_component_styles(f"ink--{ink}").partial_rich_style) for text, ink in line.spans]
    return Text.assemble(*spans, no_wrap=True, end="")


def filtered(widget: Widget, strips: list[Strip]) -> list[Strip]:
    """Apply the line filters, except the one for ANSI colours: gputop's themes do not need it."""
    for line_filter in widget.get_line_filters():
        if not isinstance(line_filter, ANSIToTruecolor):
            background = widget.background_colors[1]
            strips = [strip.apply_filter(line_filter, background) for strip in strips]
    return strips


def dimmed(strip: Strip, color: Color) -> Strip:
    """Return a line with its colours mixed with ``color``; unlike Textual's own, it mixes each style once."""
    segments = [Segment(text, _mixed(style or Style.null(), color)) for text, style, control in strip if not control]
    return Strip(segments, strip.cell_length)


@lru_cache(maxsize=512)
def _mixed(style: Style, color: Color) -> Style:
    (mixed,) = BackgroundScreen.process_segments([Segment("", style)], color)
    return mixed.style or Style.null()


def _regions(rows: Sequence[int], width: int) -> list[Region]:
    """Return the regions of these rows; neighbours share one."""
    regions: list[Region] = []
    start = 0
    for at, y in enumerate(rows, 1):
        if at == len(rows) or rows[at] > y + 1:
            regions.append(Region(0, rows[start], width, at - start))
            start = at
    return regions


def _back(style: Style) -> Style:
    """Return the style without its foreground, as the background of an ink."""
    return Style(bgcolor=style.bgcolor, reverse=style.reverse, underline=style.underline)
