"""Finding in full: verdict, remedy, then its evidence as a small table."""

import re
from collections.abc import Sequence
from textwrap import wrap
from typing import Final

from gputop.core.detection.timeline import Episode
from gputop.core.model.finding import Evidence, Finding, confidence_text, measured
from gputop.core.model.units import duration_text
from gputop.core.text.fit import fit
from gputop.ui.panels.findings import split_verdict
from gputop.ui.panels.values import clock
from gputop.ui.render.line import BLANK, Line, Spans

_INDENT: Final = 11
_CELL: Final = 12
_WORDS: Final = {
    "gpu": "GPU", "sm": "SM", "pcie": "PCIe", "nvlink": "NVLink", "ecc": "ECC", "waiting": "hung", "pause": "stalled",
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
    held = [one for one in finding.evidence if one.name not in _THRESHOLDS and one.value is not None]
    table = [one for one in held if one.normal is not None]
    rest = [one.text for one in held if one.normal is None and not _repeats(one.text, finding.summary)]
    labels = [_label(one) for one in table]
    indent = max([_INDENT, *(len(label) + 2 for label in labels)])
    lines = [_row("", "now", "normally", indent, "muted")] if table else []
    lines += [_row(label, one.now_text, one.normal_text, indent) for label, one in zip(labels, table, strict=True)]
    return lines + _part("" if table else "evidence", " · ".join(rest), width)


def _repeats(text: str, summary: str) -> bool:
    """Return whether a summary contains all numbers of a text; without numbers, the text."""
    numbers = _NUMBER.findall(text)
    return set(numbers) <= set(_NUMBER.findall(summary)) if numbers else text in summary


def _row(label: str, now: str, normal: str, indent: int, ink: str = "text") -> Line:
    return Line(((fit(label, indent), "muted"), (fit(now, _CELL), ink), (normal, ink)))


def _label(one: Evidence) -> str:
    return " ".join(_WORDS.get(word, word) for word in measured(one.name).split("_"))


def _part(name: str, text: str, width: int, ink: str = "text") -> list[Line]:
    """Return a paragraph with its name at the left; none without a text."""
    lines = wrap(text, max(20, width - _INDENT))
    return [Line(((fit(name if n == 0 else "", _INDENT), "muted"), (line, ink))) for n, line in enumerate(lines)]
