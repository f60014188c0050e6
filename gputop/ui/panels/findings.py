"""Findings panel: a few lines between GPUs and processes, hidden without findings."""

import re
from typing import Final

from gputop.core.model.finding import Finding, Stage, Subject
from gputop.core.model.sample import Gpu
from gputop.core.model.units import duration_text
from gputop.core.text.fit import fit, fit_parts
from gputop.ui.render.line import Line, Span, Spans, ends, length
from gputop.ui.render.line_widget import OpeningLines
from gputop.ui.state.view import View

INKS: Final = {Stage.ALARM: "alarm", Stage.SUSPECT: "warm", Stage.OBSERVATION: "muted"}
MARKS: Final = {Stage.ALARM: "hot", Stage.SUSPECT: "warm"}
_WORDS: Final = {Stage.ALARM: " ALARM ", Stage.SUSPECT: "suspect", Stage.OBSERVATION: "observation"}
_WIDEST_LABEL: Final = 24
_NARROW: Final = 60  # a narrower line shows the verdict in place of the duration
_DURATION: Final = re.compile(r"\bfor (?:at least )?\d+[smhd]")
_VERDICT_END: Final = re.compile(r":| · | \(|; ")


class FindingsPanel(OpeningLines):
    """Shows suspects and alarms, the gravest first. A click opens the findings page."""

    opens = "finding.open"

    def show(self, view: View, width: int, most: int, key: str) -> int:
        """Draw findings in at most ``most`` lines; return their number. ``key``: opens the findings page."""
        lines = panel(view, width, most, key)
        return self.draw_fitted(lines, is_grey=view.is_grey)


def panel(view: View, width: int, most: int, key: str) -> list[Line]:
    """Return a line for each suspect and alarm; the last line counts those that do not fit."""
    found = [one for one in view.findings if one.stage is not Stage.OBSERVATION]
    if view.frame is None or not found or most < 1:
        return []
    shown, rest = found[:most], len(found) - most
    word = " more" if width >= _NARROW else ""
    more = (f" +{rest}{word}: {key} ", "key") if rest > 0 else (f" {key}: why ", "muted")
    last = len(shown) - 1
    return [finding_line(one, view, width, more=(more,) if n == last else ()) for n, one in enumerate(shown)]


def finding_line(finding: Finding, view: View, width: int, base: str = "text", *, more: tuple[Span, ...] = ()) -> Line:
    """Return a finding in a line: stage, subject, verdict, numbers, age. ``more``: at its right end.

    A summary that gives its duration needs no age beside it.
    """
    now_s = view.frame.time_s if view.frame else finding.since_s
    has_age = width >= _NARROW and not _DURATION.search(finding.summary)
    age: Spans = [(f" {duration_text(now_s - finding.since_s):>6} ago ", "muted")] if has_age else []
    right = [*age, *more]
    verdict, rest = split_verdict(finding.summary)
    left: Spans = [
        (" ", "text"), (_WORDS[finding.stage], INKS[finding.stage]), (" ", "text"),
        (_short(finding.subject, view), "text"), (" · ", "faint"), (verdict, "title"),
    ]  # fmt: skip
    left.append((fit_parts(rest, max(0, width - length(left) - length(right))), "text"))
    return Line(ends(left, right, width), base)


def split_verdict(summary: str) -> tuple[str, str]:
    """Return the verdict that a summary begins with, and the rest."""
    found = _VERDICT_END.search(summary)
    at = found.start() if found else len(summary)
    return summary[:at], summary[at:]


def _short(subject: Subject, view: View) -> str:
    """Return the subject without the command line, which the process table shows."""
    if subject.process is None or subject.job is not None:
        return fit(subject.label, min(_WIDEST_LABEL, length([(subject.label, "")])))
    where = next((f" GPU {gpu.index}" for gpu in view.gpus if gpu.uuid == subject.gpu), "")
    return f"{subject.process.pid}{where}"


def mark(gpu: Gpu, view: View) -> str:
    """Return ``!`` for a GPU with a finding, and ``@`` for one that a notification is about."""
    return ("@" if gpu.uuid in view.awaited else "") + ("!" if gpu.uuid in view.standing.marks else "")


def mark_ink(gpu: Gpu, view: View) -> str:
    """Return the ink of a GPU's number: of its gravest finding, or of the GPU in focus."""
    stage = view.standing.marks.get(gpu.uuid)
    return MARKS[stage] if stage else "accent" if view.focus == gpu.index else "title"
