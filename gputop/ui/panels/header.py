"""First line of the screen: host, driver and age of the values."""

from math import ceil
from typing import Final

from gputop.core.model.units import bytes_text, duration_text
from gputop.core.probing.progress import Run
from gputop.core.probing.result import TestStatus
from gputop.core.probing.wording import WORDS
from gputop.core.query.free import summary
from gputop.core.table_rows import turned_off
from gputop.ui.panels import values
from gputop.ui.panels.totals import totals
from gputop.ui.render.line import Line, Span, Spans, length
from gputop.ui.render.line_widget import FastLines
from gputop.ui.state.view import View

_USUAL_S: Final = 1.0
_LONG_S: Final = 1.0


class HeaderPanel(FastLines):
    """Shows the first line."""

    def show(self, view: View) -> None:
        """Draw the view."""
        self.draw((header(view, self.size.width),))


def header(view: View, width: int) -> Line:
    """Return the line; on a narrow screen the least important parts are left out first."""
    right = _right(view)
    room = width - length(right) - 2
    left: Spans = [(" gputop", "accent")]
    if view.frame is None:
        left.append(("" if view.down is not None else f"  {view.waiting}", "muted"))
    else:
        facts = _facts(view)
        kept = length(facts[-1][0]) + 3 if facts and view.interval_s != _USUAL_S else 0  # the user has just chosen it
        for at, forms in enumerate(facts, 1):
            free = room - length(left) - 3 - (kept if at < len(facts) else 0)
            part = next((form for form in forms if length(form) <= free), None)
            if part is not None:
                left += [(" · " if len(left) > 1 else "  ", "faint"), *part]
    gap = max(1, width - length(left) - length(right))
    return Line((*left, (" " * gap, "text"), *right))


def _facts(view: View) -> list[tuple[Spans, ...]]:
    """Return the facts in the order of their importance, each in one or more forms, the longest first."""
    frame = view.frame
    if frame is None:
        return []
    driver = frame.driver
    facts: list[tuple[Spans, ...]] = [([(frame.host.name, "title")],), _free(view)]
    if frame.judged_in_s is not None:
        facts.append(_not_judged(frame.judged_in_s))
    if len(frame.gpus) > 1:
        facts += [(part,) for part in totals(frame.gpus)]
    if driver.version:
        facts.append(([(f"driver {driver.version}", "text")],))
    if driver.cuda_version:
        facts.append(([(f"CUDA {driver.cuda_version}", "text")],))
    facts.append(([(f"every {view.interval_s:g}s", "muted")],))
    return facts


def _free(view: View) -> tuple[Spans, ...]:
    """Return which GPUs are free, or their number if that is not known."""
    found, count = view.vacancies, len(view.gpus)
    number: Spans = [(f"{count} GPU{'' if count == 1 else 's'}", "text")]
    if found is None or not count:
        return (number,)
    ink = "free" if found.free else "text"
    places = len(found.free) + len(found.others)
    words = summary(found), summary(found, has_names=False), f"{len(found.free)} of {places} free"
    return *([(text, ink)] for text in words), number


def _not_judged(in_s: float) -> tuple[Spans, ...]:
    """Return when gputop can judge, in steps of ten seconds: until then, no findings do not mean no problems."""
    due = f"not judged yet, {duration_text(ceil(in_s / 10) * 10)} to go"
    return (*([(text, "muted")] for text in (due, "not judged yet", "not judged")),)


def _right(view: View) -> Spans:
    frame = view.frame
    spans: Spans = []
    if view.down is not None:
        lost = f"NO LINK TO {view.remote}" if view.remote else "SAMPLER DOWN"
        spans += [(f" {lost}: {view.down.reason} ", "alarm"), (_retry(view), "warm")]
    if view.age_s is not None and frame is not None:
        spans.append((f" last frame {duration_text(view.age_s)} ago ", "badge"))
    if frame is not None and view.down is None:
        spans += [(f" {text} ", "warm") for text in (*frame.problems, *frame.left_out, *turned_off())[:1]]
    if view.recording is not None:
        size, span = bytes_text(view.recording.bytes), duration_text(round(view.recording.seconds))
        spans += [(" ", "text"), (f" REC {size} {span} ", "alarm"), (" ", "text")]
    if view.probing is not None:
        spans += [(" ", "text"), _probe(view.probing)]
    if view.is_paused:
        spans.append((" PAUSED ", "badge"))
    if frame is not None and frame.driver.simulated is not None:
        spans += [(" ", "text"), (f" SIMULATED {frame.driver.simulated} ", "badge")]
    if frame is not None and frame.driver.source is not None:
        spans += [(" ", "text"), (f" FROM {frame.driver.source} ", "badge")]
    if view.remote and view.down is None:
        spans.append((f"  {_way(view)}", "muted"))
    clock = "" if frame is None else values.clock(frame.time_s)
    return [*spans, (f"  {clock} ", "muted")]


def _probe(run: Run) -> Span:
    """Return the progress or the result of the probe."""
    if run.report is not None:
        ink = "alarm" if run.report.status in (TestStatus.FAIL, TestStatus.ERROR) else "badge"
        return f" PROBE {WORDS[run.report.status][0]} ", ink
    if run.problem:
        return " PROBE did not run ", "badge"
    return f" PROBE {'stopping' if run.is_stopping else run.course.text} ", "badge"


def _way(view: View) -> str:
    """Return the host that ssh reaches, the age of its values, and the round trip."""
    delay = view.delay
    late = "" if delay is None else f", {delay.age_s:.1f}s old, round trip {_milliseconds(delay.round_trip_s)}"
    return f"ssh {view.remote}{late}"


def _milliseconds(seconds: float) -> str:
    return f"{seconds * 1000:.0f}ms" if seconds < _LONG_S else f"{seconds:.1f}s"


def _retry(view: View) -> str:
    again = "connecting again" if view.remote else "restarting"
    if view.retry_s is None:
        return " not connected again" if view.remote else " not restarted"
    seconds = max(0, round(view.retry_s))
    return f" {again} in {seconds}s" if seconds else f" {again}"
