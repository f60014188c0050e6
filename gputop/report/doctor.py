"""A diagnosis as text: one line per check, most serious first, with evidence and fix below each problem."""

from collections.abc import Iterator, Sequence
from typing import Final

from msgspec.structs import replace

from gputop.core.doctor.verdict import Checked, Diagnosis, Severity, Verdict
from gputop.core.model.units import NOTHING
from gputop.core.text.cells import width
from gputop.core.text.fit import fit
from gputop.core.text.text import clean
from gputop.core.text.tone import Tone
from gputop.report.grid import Style, paint, simulated, wrap

_SEPARATOR: Final = " · "
_LEAST_ROOM: Final = 40
_INDENT: Final = "    "
_WORDS: Final = {
    Severity.FAIL: ("✗ ACT NOW", Tone.HOT),
    Severity.WARN: ("! WARNING", Tone.WARM),
    Severity.UNKNOWN: ("? unknown", Tone.WARM),
    Severity.INFO: ("i note", Tone.OK),
    Severity.OK: ("✓ ok", Tone.OK),
}
_PROBLEMS: Final = (Severity.FAIL, Severity.WARN, Severity.UNKNOWN)
_COUNTS: Final = {
    Severity.FAIL: ("to act on now", "to act on now"),
    Severity.WARN: ("warning", "warnings"),
    Severity.UNKNOWN: ("unknown", "unknown"),
    Severity.INFO: ("note", "notes"),
    Severity.OK: ("ok", "ok"),
    Severity.NOT_APPLICABLE: ("not applicable (to list them: --json)",) * 2,
}
_MARK: Final = max(len(word) for word, _ in _WORDS.values())


def report(diagnosis: Diagnosis, room: int | None = None, style: Style = Style.PLAIN) -> str:
    """Return the diagnosis as lines of text, without a newline at the end.

    ``room``: columns of the terminal, None without one. Commands are never cut, so that they can be copied.
    """
    page = _Page(diagnosis, None if room is None else max(room, _LEAST_ROOM), style)
    return "\n".join([*page.head(), "", *page.body(), "", *page.tail()])


def problems(diagnosis: Diagnosis, room: int | None = None, style: Style = Style.PLAIN) -> str:
    """Return only the verdicts that are problems or unknown; empty if there are none."""
    checks = [
        replace(one, verdicts=tuple(verdict for verdict in one.verdicts if verdict.severity in _PROBLEMS))
        for one in diagnosis.checks
    ]
    page = _Page(replace(diagnosis, checks=tuple(checks)), None if room is None else max(room, _LEAST_ROOM), style)
    lines = list(page.body())
    return "\n".join([*page.mark(), *lines] if lines else ())


class _Page:
    """The parts of the page, in one width and style."""

    def __init__(self, diagnosis: Diagnosis, room: int | None, style: Style) -> None:
        self._diagnosis = diagnosis
        self._room = room
        self._style = style
        shown = [one for one in diagnosis.checks if one.severity is not Severity.NOT_APPLICABLE]
        self._codes = max((len(one.code) for one in shown), default=0)

    def mark(self) -> Iterator[str]:
        """Yield a line that says so if the machine is simulated."""
        if self._diagnosis.simulated:
            yield simulated(self._diagnosis.simulated, self._room, self._style)

    def head(self) -> Iterator[str]:
        """Yield the header: host, driver, number of GPUs."""
        diagnosis = self._diagnosis
        yield from self.mark()
        parts = (
            "gputop doctor",
            clean(diagnosis.host),
            f"driver {clean(diagnosis.driver_version or NOTHING)}",
            f"CUDA {clean(diagnosis.cuda_version or NOTHING)}",
            f"{diagnosis.gpus} GPU{'' if diagnosis.gpus == 1 else 's'}",
            "as root" if diagnosis.is_root else "without root",
        )
        yield from wrap(parts, _SEPARATOR, self._room)

    def body(self) -> Iterator[str]:
        """Yield the verdicts; checks that failed to run for the same reason share a line."""
        shared = _shared(self._diagnosis.checks)
        shown: set[str] = set()
        for code, verdict in _worst_first(self._diagnosis.checks):
            why = verdict.summary
            if verdict.severity is Severity.UNKNOWN and why in shared:
                if why not in shown:
                    yield from self._several(why, shared[why])
                shown.add(why)
            else:
                yield from self._line(verdict.severity, code, clean(why))
                yield from self._beneath(verdict)

    def tail(self) -> Iterator[str]:
        """Yield the totals."""
        diagnosis = self._diagnosis
        counted = [(severity, count) for severity, count in diagnosis.counts.items() if count]
        parts = [f"{count} {_COUNTS[severity][count > 1]}" for severity, count in counted]
        yield from wrap(parts, _SEPARATOR, self._room)
        if diagnosis.counts.get(Severity.UNKNOWN) and not diagnosis.is_root and not diagnosis.simulated:
            yield from self._wrapped("Some unknown checks need root: sudo gputop doctor", "")

    def _line(self, severity: Severity, code: str, summary: str) -> Iterator[str]:
        word, tone = _WORDS[severity]
        mark = paint(fit(word, _MARK), tone, self._style)
        room = None if self._room is None else self._room - _MARK - self._codes - 4
        if room is not None and room < _LEAST_ROOM // 2:
            yield f"{mark}  {code}"
            yield from self._wrapped(summary, _INDENT)
            return
        first, *rest = wrap(summary.split(" "), " ", room)
        yield f"{mark}  {fit(code, self._codes)}  {first}"
        yield from (" " * (_MARK + self._codes + 4) + line for line in rest)

    def _beneath(self, verdict: Verdict) -> Iterator[str]:
        for line in verdict.evidence:
            yield from self._wrapped(clean(line), f"{_INDENT}· ", _INDENT + "  ", tone=Tone.NONE)
        for line in verdict.fix:
            if line.startswith("$ "):
                yield f"{_INDENT}  {clean(line)}"
            else:
                yield from self._wrapped(clean(line), f"{_INDENT}→ ", _INDENT + "  ")

    def _several(self, why: str, codes: Sequence[str]) -> Iterator[str]:
        word, tone = _WORDS[Severity.UNKNOWN]
        yield f"{paint(fit(word, _MARK), tone, self._style)}  {len(codes)} checks: {clean(why)}"
        yield from self._wrapped(", ".join(codes), _INDENT, tone=Tone.NONE)

    def _wrapped(self, text: str, first: str, rest: str | None = None, tone: Tone = Tone.OK) -> Iterator[str]:
        """Return the text wrapped between words, with one indent for its first line and another for the rest."""
        rest = first if rest is None else rest
        lines = wrap(text.split(" "), " ", None if self._room is None else self._room - width(rest))
        return (paint(f"{rest if n else first}{line}", tone, self._style) for n, line in enumerate(lines))


def _worst_first(checks: Sequence[Checked]) -> list[tuple[str, Verdict]]:
    """Return the verdicts to show with the codes of their checks, most serious first."""
    verdicts = [(one.code, verdict) for one in checks for verdict in one.verdicts]
    shown = [(code, verdict) for code, verdict in verdicts if verdict.severity is not Severity.NOT_APPLICABLE]
    return sorted(shown, key=lambda pair: pair[1].severity.rank)


def _shared(checks: Sequence[Checked]) -> dict[str, list[str]]:
    """Return the reasons that stopped more than one check, with the checks' codes."""
    found: dict[str, list[str]] = {}
    for one in checks:
        if one.severity is Severity.UNKNOWN and len(one.verdicts) == 1:
            found.setdefault(one.verdicts[0].summary, []).append(one.code)
    return {why: codes for why, codes in found.items() if len(codes) > 1}
