"""Findings panel: a few lines between GPUs and processes, hidden without findings."""

from typing import Final

from gputop.core.model.finding import Finding, Stage
from gputop.core.model.sample import Gpu
from gputop.core.model.units import duration_text
from gputop.core.text.text import fit
from gputop.ui.render.line import Line, Span, Spans, ends, length
from gputop.ui.render.line_widget import OpeningLines
from gputop.ui.state.view import View

INKS: Final = {Stage.ALARM: "alarm", Stage.SUSPECT: "warm", Stage.OBSERVATION: "muted"}
MARKS: Final = {Stage.ALARM: "hot", Stage.SUSPECT: "warm"}
_WORDS: Final = {Stage.ALARM: " ALARM ", Stage.SUSPECT: "suspect", Stage.OBSERVATION: "observation"}
_LABEL_SHARE: Final = 4


class FindingsPanel(OpeningLines):
    """Shows suspects and alarms, the gravest first. A click opens the findings page."""

    opens = "finding.open"

    def show(self, view: View, width: int, most: int, key: str) -> int:
        """Draw findings in at most ``most`` lines; return their number. ``key``: opens the findings page."""
        lines = panel(view, width, most, key)
        return self.draw_fitted(lines, is_grey=view.is_grey)


def panel(view: View, width: int, most: int, key: str) -> list[Line]:
    """Return a line for each suspect and alarm; the last line counts those that do not fit."""
    found = [one for one in view.standing.findings if one.stage is not Stage.OBSERVATION]
    if view.frame is None or not found or most < 1:
        return []
    shown, rest = found[:most], len(found) - most
    more = (f" +{rest} more: {key} ", "key") if rest > 0 else (f" {key}: why ", "muted")
    now_s, last = view.frame.time_s, len(shown) - 1
    return [finding_line(one, now_s, width, more=(more,) if n == last else ()) for n, one in enumerate(shown)]


def finding_line(
    finding: Finding, now_s: float, width: int, base: str = "text", *, more: tuple[Span, ...] = ()
) -> Line:
    """Return a finding in a line: stage, subject, summary and duration. ``more``: at its right end."""
    right: Spans = [(f" {duration_text(now_s - finding.since_s):>6} ", "muted"), *more]
    left: Spans = [(" ", "text"), (_WORDS[finding.stage], INKS[finding.stage]), (" ", "text")]
    room = max(0, width - length(left) - length(right))
    label = min(len(finding.subject.label), max(12, room // _LABEL_SHARE))
    left += [(fit(finding.subject.label, label), "title"), (" · ", "faint"), (finding.summary, "text")]
    return Line(ends(left, right, width), base)


def mark(gpu: Gpu, view: View) -> str:
    """Return ``!`` for a GPU with a finding, else nothing."""
    return "!" if gpu.uuid in view.standing.marks else ""


def mark_ink(gpu: Gpu, view: View) -> str:
    """Return the ink of a GPU's number: of its gravest finding, or of the GPU in focus."""
    stage = view.standing.marks.get(gpu.uuid)
    return MARKS[stage] if stage else "accent" if view.focus == gpu.index else "title"
