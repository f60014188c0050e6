"""Plugin panels: a few lines of each on the main screen, all lines on a page."""

from collections.abc import Sequence

from gputop.core.plugins.panel import Written
from gputop.ui.render.line import Line, Span, tone_ink
from gputop.ui.render.line_widget import OpeningLines
from gputop.ui.state.plugin_panels import LATE_S, PanelState


class PluginsPanel(OpeningLines):
    """Shows the lines of plugins. A click opens the page with all of them."""

    opens = "plugin.open"

    def show(self, states: Sequence[PanelState], most: int, key: str) -> int:
        """Draw at most ``most`` lines; return their number. ``key``: opens the page with all lines."""
        lines = strip(states, most, key)
        return self.draw_fitted(lines)


def strip(states: Sequence[PanelState], most: int, key: str) -> list[Line]:
    """Return the panels below each other, each with its title, as many as fit."""
    lines: list[Line] = []
    for one in (one for one in states if one.lines or one.problem):
        shown = _body(one)[: one.panel.most_lines]
        rest = len(_body(one)) - len(shown)
        block = [_title(one, f"{rest} more: {key}" if rest else ""), *shown]
        if len(lines) + len(block) > most:
            left = most - len(lines)
            lines += [_title(one, f"show all: {key}"), *shown[: left - 1]] if left >= 2 else []
            break
        lines += block
    return lines


def page(states: Sequence[PanelState]) -> list[Line]:
    """Return all lines of all panels."""
    lines: list[Line] = []
    for one in states:
        lines += [Line()] if lines else []
        lines += [_title(one, one.panel.help), *(_body(one) or [Line(((" nothing to show", "muted"),))])]
    return lines


def _title(one: PanelState, note: str) -> Line:
    spans: list[Span] = [(f" {one.panel.title}", "accent")]
    if one.is_old:
        spans.append((f"  no answer for {LATE_S:.0f} s or more", "warm"))
    return Line((*spans, (f"  {note}", "muted")) if note else tuple(spans))


def _body(one: PanelState) -> list[Line]:
    if one.problem:
        return [Line(((" shut off: ", "warm"), (one.problem, "warm")))]
    return [_line(line) for line in one.lines]


def _line(line: Written) -> Line:
    return Line(((" ", "text"), *((text, tone_ink(tone)) for text, tone in line)))
