"""Findings page: present and past findings, each with its evidence and remedy.

The list is drawn by hand, not with an OptionList: its rows are redrawn with every frame, and durations stay aligned.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import ClassVar

from textual import events

from gputop.core.detection.watchlist import Watchlist
from gputop.core.model.finding import Finding
from gputop.core.model.units import duration_text
from gputop.ui.messages import FindingCopied, WhyRequested
from gputop.ui.panels.findings import finding_line
from gputop.ui.render.line import BLANK, Line
from gputop.ui.screens.dialogs.list_dialog import MOVES, ListDialog
from gputop.ui.screens.pages.finding_lines import details
from gputop.ui.state.view import View

_LEAST_LIST = 4


class FindingsScreen(ListDialog[None]):
    """Lists findings, and below them the details of the marked one.

    ``go``: jumps to the subject of a finding; ``act``: opens the signal dialog for it; ``hush``: mutes it.
    """

    TAKES: ClassVar[Mapping[str, str]] = {
        "back": "close", "quit": "close", "findings": "close", "accept": "jump", "signal": "act_on", **MOVES,
        "mute": "mute", "why": "why", "copy": "copy", "past-findings": "turn", "help": "show_help",
    }  # fmt: skip

    def __init__(
        self,
        view: View,
        watchlist: Watchlist,
        go: Callable[[Finding], None],
        act: Callable[[Finding], None],
        hush: Callable[[Finding], None],
    ) -> None:
        super().__init__()
        self._view = view
        self._watchlist = watchlist
        self._go, self._act, self._hush = go, act, hush
        self.is_past = False
        self._key: tuple[object, ...] | None = None
        self._rows = 0

    def follow(self, view: View) -> None:
        """Draw the present findings; the mark stays on its finding."""
        self._view = view
        keys = [one.key for one in self.listed]
        if self._key in keys:
            self.at = keys.index(self._key)
        self.redraw()

    @property
    def listed(self) -> Sequence[Finding]:
        """The findings in the list."""
        if self.is_past:
            return [each.finding for each in self._watchlist.past]
        return (*self._view.standing.findings, *self._view.standing.muted)

    @property
    def marked(self) -> Finding | None:
        """The finding under the mark."""
        listed = self.listed
        return listed[min(self.at, len(listed) - 1)] if listed else None

    def title_line(self) -> str:
        """Return the title with the number of findings."""
        if self.is_past:
            return f"Past findings · {len(self.listed)}"
        muted = len(self._view.standing.muted)
        judged = self._not_judged()
        return f"Findings · {len(self.listed)}" + (f" · {muted} muted" if muted else "") + (judged and f" · {judged}")

    def _not_judged(self) -> str:
        """Return when gputop will have judged the machine; empty if it has."""
        judged_in_s = self._view.frame.judged_in_s if self._view.frame else None
        return "" if judged_in_s is None else f"not judged yet, {duration_text(judged_in_s)} to go"

    def keys_line(self) -> str:
        """Return the keys."""
        name = self.name_of
        if self.is_past:
            return f"{name('past-findings')} current findings  {name('back')} close"
        return (
            f"{name('accept')} show it  {name('why')} why  {name('signal')} signal  {name('mute')} mute 1h  "
            f"{name('past-findings')} past findings  {name('back')} close"
        )

    def page(self, width: int, height: int) -> Sequence[Line]:
        """Return the list, and the marked finding below it."""
        listed = self.listed
        if not listed:
            words = "no past findings yet" if self.is_past else self._not_judged() or "no findings"
            return [BLANK, Line(((f"  {words}", "muted"),)), BLANK]
        self.at = max(0, min(self.at, len(listed) - 1))
        self._key = listed[self.at].key
        details = self._details(listed[self.at], width)
        self._rows = rows = min(len(listed), max(_LEAST_LIST, height - len(details) - 1))
        lines = self.window([self._line(one, at, width) for at, one in enumerate(listed)], rows)
        return [*lines, Line((("─" * width, "faint"),)), *details][:height]

    def on_click(self, event: events.Click) -> None:
        """Mark the clicked finding; close on a click outside."""
        at = event.screen_y - self.frame.region.y - 1
        if not self.frame.region.contains(event.screen_x, event.screen_y):
            self.close()
        elif 0 <= at < self._rows:
            self.move_to(self.first_shown + at)

    def jump(self) -> None:
        """Close, and jump to the subject of the marked finding."""
        if not self._is_over():
            self._close_with(self._go)

    def act_on(self) -> None:
        """Close, and open the signal dialog for the subject of the marked finding."""
        if not self._is_over():
            self._close_with(self._act)

    def why(self) -> None:
        """Ask where the process or job of the marked finding hangs."""
        if self.marked is not None and not self._is_over():
            self.post_message(WhyRequested(self.marked))

    def copy(self) -> None:
        """Copy the marked finding."""
        if self.marked is not None:
            self.post_message(FindingCopied(self.marked))

    def mute(self) -> None:
        """Mute the marked finding for an hour, or unmute it."""
        if self.marked is not None and not self._is_over():
            self._hush(self.marked)

    def turn(self) -> None:
        """Switch between present and past findings."""
        self.is_past, self.at, self.first_shown = not self.is_past, 0, 0
        self.redraw()

    def _is_over(self) -> bool:
        """Return whether the marked finding has ended, and say so: there is nothing left to act on."""
        if self.is_past and self.marked is not None:
            self.notify(f"{self.marked.subject.label}: this finding has ended", timeout=3)
        return self.is_past

    def _close_with(self, then: Callable[[Finding], None]) -> None:
        finding = self.marked
        self.dismiss(None)
        if finding is not None:
            then(finding)

    def _line(self, finding: Finding, at: int, width: int) -> Line:
        base = "cursor" if at == self.at else "text"
        line = finding_line(finding, self._view, width, base)
        is_muted = finding.key in {one.key for one in self._view.standing.muted}
        return Line(tuple((text, "faint") for text, _ in line.spans), base) if is_muted else line

    def _details(self, finding: Finding, width: int) -> list[Line]:
        episode = next((each for each in self._watchlist.past if each.finding is finding), None)
        return details(finding, width, episode, key=self.name_of("signal"))
