"""Finding in full: verdict, remedy, then its evidence as a small table."""

import re
from collections.abc import Sequence
from textwrap import wrap
from typing import Final

from gputop.core.detection.timeline import Episode
from gputop.core.model.finding import Evidence, Finding, confidence_text
from gputop.core.model.units import bytes_text, duration_text
from gputop.core.text.fit import fit
from gputop.ui.panels.findings import split_verdict
from gputop.ui.panels.values import clock
from gputop.ui.render.line import BLANK, Line, Spans

_INDENT: Final = 11
_CELL: Final = 12
_NORMAL: Final = {  # a number, and the evidence that says what it normally is
    "power_w": "power_before_w", "waiting_s": "longest_wait_s", "pause_s": "longest_pause_s",
    "gpu_utilization_percent": "others_utilization_percent",
}  # fmt: skip
_THRESHOLDS: Final = frozenset({"alarm_after_s"})  # of the detector: they support nothing
_NUMBER: Final = re.compile(r"\d[\w.]*")
_END_COMMAND: Final = re.compile(r"`?gputop signal SIGTERM --pid \d+(?! --pid)`?")


def details(finding: Finding, width: int, episode: Episode | None = None, *, key: str = "") -> list[Line]:
    """Return a finding in full. ``key``: sends a signal to its process from this page; it replaces the command."""
    since = f"since {clock(finding.since_s)}"
    if episode is not None and episode.end_s is not None:
        lasted = duration_text(episode.end_s - finding.since_s)
        since = f"from {clock(finding.since_s)} to {clock(episode.end_s)}, {lasted}"
    if finding.returned:
        since += f", returned {finding.returned} times"
    sure = f" · confidence {confidence_text(finding.confidence)}" if finding.confidence is not None else ""
    subject: Spans = [(finding.subject.label, "accent"), (f"  {finding.stage.value} {since}{sure}", "muted")]
    remedy = _part("to do", with_key(finding.remedy, key), width)
    lines = [Line(tuple(subject)), *_verdict(finding.summary, width), *remedy]
    lines += _evidence(finding, width)
    if finding.lacking:
        lines += _part("not known", "; ".join(finding.lacking), width, "muted")
    return [*lines, Line(((f"{finding.code}", "faint"),))]


def findings_part(findings: Sequence[Finding], width: int, *, key: str = "") -> list[Line]:
    """Return the section of a page with the findings about its subject; empty without findings."""
    lines = [line for each in findings for line in (BLANK, *details(each, width, key=key))]
    return [BLANK, Line((("Findings", "accent"),)), *lines[1:]] if lines else []


def with_key(text: str, key: str) -> str:
    """Return a text with the key that signals a process in place of the command, if the page has one."""
    return _END_COMMAND.sub(f"press {key}", text) if key else text


def _verdict(summary: str, width: int) -> list[Line]:
    """Return the summary in lines, its verdict in bold."""
    left = len(split_verdict(summary)[0])
    lines = []
    for text in wrap(summary, max(20, width)):
        bold, left = text[:left], max(0, left - len(text) - 1)
        lines.append(Line(((bold, "title"), (text[len(bold) :], "text"))))
    return lines


def _evidence(finding: Finding, width: int) -> list[Line]:
    """Return numbers with their normal values as a table, and below it the rest that the summary does not contain."""
    held = {one.name: one for one in finding.evidence if one.name not in _THRESHOLDS and one.value is not None}
    pairs = [(one, held[other]) for one in held.values() if (other := _NORMAL.get(one.name)) in held]
    in_table = {one.name for pair in pairs for one in pair}
    rest = [one.text for one in held.values() if one.name not in in_table and not _repeats(one.text, finding.summary)]
    lines = [_row("", "now", "normally", "muted")] if pairs else []
    lines += [_row(_label(now.name), _value(now), _value(normal), "text") for now, normal in pairs]
    return lines + _part("" if pairs else "evidence", " · ".join(rest), width)


def _repeats(text: str, summary: str) -> bool:
    """Return whether a summary contains all numbers of a text; without numbers, the text."""
    numbers = _NUMBER.findall(text)
    return set(numbers) <= set(_NUMBER.findall(summary)) if numbers else text in summary


def _row(label: str, now: str, normal: str, ink: str) -> Line:
    return Line(((fit(label, _INDENT), "muted"), (fit(now, _CELL), ink), (normal, ink)))


def _label(name: str) -> str:
    return name.rpartition("_")[0].removesuffix("_utilization").replace("gpu", "GPU")


def _value(one: Evidence) -> str:
    """Return the number of evidence with the unit that its name ends in."""
    unit = one.name.rpartition("_")[2]
    if not isinstance(one.value, int | float):
        return one.text
    match unit:
        case "s":
            return duration_text(one.value)
        case "bytes":
            return bytes_text(one.value)
        case _:
            return f"{one.value:.0f}{ {'percent': '%', 'w': ' W', 'celsius': '°C'}.get(unit, '') }"


def _part(name: str, text: str, width: int, ink: str = "text") -> list[Line]:
    """Return a paragraph with its name at the left; none without a text."""
    lines = wrap(text, max(20, width - _INDENT))
    return [Line(((fit(name if n == 0 else "", _INDENT), "muted"), (line, ink))) for n, line in enumerate(lines)]
