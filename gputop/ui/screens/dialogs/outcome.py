"""Failures of a change; the dialog stays until the user closes it."""

from collections.abc import Mapping, Sequence
from textwrap import wrap
from typing import ClassVar

from gputop.core.protocol.outcome import Outcome, Result
from gputop.ui.render.line import BLANK, Line
from gputop.ui.screens.dialogs.dialog import Dialog
from gputop.ui.screens.dialogs.modal import SCROLLS


class OutcomeScreen(Dialog[None]):
    """Shows every failure with its reason and its remedy; later outcomes are added."""

    TAKES: ClassVar[Mapping[str, str]] = {
        "back": "close", "quit": "close", "accept": "close", **SCROLLS,
    }  # fmt: skip
    ink = "hot"

    def __init__(self, outcome: Outcome) -> None:
        super().__init__()
        self._outcomes = [outcome]

    def add(self, outcome: Outcome) -> None:
        """Add an outcome; the latest comes first."""
        self._outcomes.insert(0, outcome)
        self.redraw()

    def title_line(self) -> str:
        """Return the number of failures."""
        failed = sum(len(outcome.failures) for outcome in self._outcomes)
        return f"Failed for {failed}" if failed else "Done, with a note"

    def keys_line(self) -> str:
        """Return the keys."""
        more = f"{self.rest} more below · " if self.rest else ""
        return f"{more}{self.name_of('back')} close"

    def page(self, width: int, height: int) -> Sequence[Line]:  # noqa: ARG002 - it scrolls
        """Return each outcome with its failures."""
        lines: list[Line] = []
        for outcome in self._outcomes:
            lines += [BLANK] if lines else []
            lines += outcome_lines(outcome, width)
        return lines


def outcome_lines(outcome: Outcome, width: int) -> list[Line]:
    """Return the summary of an outcome, its note, and its failures grouped by reason."""
    lines = _wrapped(outcome.summary, "title", width)
    if outcome.note:
        lines += _wrapped(outcome.note, "warm", width)
    alike: dict[tuple[str, str], list[Result]] = {}
    for result in outcome.failures:
        said = result.status.text + (f": {result.detail}" if result.detail else "")
        alike.setdefault((said, result.remedy), []).append(result)
    for (said, remedy), results in alike.items():
        lines += _failure(said, remedy, [result.subject for result in results], width)
    return lines


def _failure(said: str, remedy: str, subjects: Sequence[str], width: int) -> list[Line]:
    if len(subjects) == 1:
        lines = _wrapped(f"{subjects[0]:>7}  {said}", "hot", width, indent=9)
    else:
        what = "processes" if subjects[0].isdecimal() else "GPUs"
        lines = _wrapped(f"{len(subjects)} {what}: {said}", "hot", width, indent=9)
        lines += _wrapped(" " * 9 + " ".join(subjects), "text", width, indent=9)
    return lines + (_wrapped(" " * 9 + remedy, "text", width, indent=9) if remedy else [])


def _wrapped(text: str, ink: str, width: int, *, indent: int = 0) -> list[Line]:
    """Return text in lines; leading blanks stay."""
    parts = wrap(text, width, subsequent_indent=" " * indent, drop_whitespace=True, break_long_words=True)
    return [Line(((part, ink),)) for part in parts]
