"""Last line of the screen: the keys, or the letters of a chord."""

from collections.abc import Sequence
from typing import Final

from textual import events

from gputop.core.processes.columns import COLUMN_BY_KEY
from gputop.ui.input.actions import ACTIONS, CHORD, Action
from gputop.ui.input.keymap import key_name
from gputop.ui.input.replay_actions import REPLAY
from gputop.ui.render.line import Line, Spans, length
from gputop.ui.render.line_widget import FastLines

_KEPT: Final = ("quit", "help", "signal", "process", "findings", "detail", "filter")
"""The actions that a narrow line keeps, the most important one first; then the others in the order of the table."""


class FooterPanel(FastLines):
    """Shows keys; a click on one works like the key."""

    def __init__(self, actions: Sequence[Action] = ACTIONS) -> None:
        super().__init__()
        self._actions = actions
        self._ends: list[tuple[int, Action]] = []
        self._said: Line | None = None

    def take(self, actions: Sequence[Action]) -> None:
        """Show these keys from now on."""
        self._actions = actions
        self.show()

    def say(self, line: Line | None) -> None:
        """Show this line in place of the keys; None shows the keys again."""
        self._said = line
        self.show()

    def show(self, *, is_chord: bool = False) -> None:
        """Draw the keys that fit."""
        if self._said is not None:
            self._ends = []
            self.draw((self._said,))
            return
        if is_chord:
            self._ends = []
            self.draw((chord_line(self.size.width),))
            return
        line, self._ends = keys_line(self.size.width, self._actions)
        self.draw((line,))

    def on_resize(self) -> None:
        """Fit the new width."""
        self.show()

    async def on_click(self, event: events.Click) -> None:
        """Run the action of the clicked key."""
        for end, action in self._ends:
            if event.x < end:
                await self.app.run_action(action.run)
                return


def keys_line(width: int, actions: Sequence[Action] = ACTIONS) -> tuple[Line, list[tuple[int, Action]]]:
    """Return the line, and the end of each action in it. Actions that are off are in brackets."""
    spans: Spans = [(" ", "text")]
    ends: list[tuple[int, Action]] = []
    at = 1
    for action in _fitting(actions, width - at):
        key = key_name(action.keys[0])
        if action.off:
            spans.append((f"({key} {action.footer}) ", "faint"))
        else:
            spans += [(key, "key"), (f" {action.footer}  ", "muted")]
        at += _cells(action)
        ends.append((at, action))
    return Line(tuple(spans)), ends


def _fitting(actions: Sequence[Action], width: int) -> list[Action]:
    """Return the actions that fit, in the order of the table: first those of a recording, then the important ones."""
    offered = [action for action in actions if action.footer and action.keys]
    chosen: set[str] = set()
    for action in sorted(offered, key=_rank):
        if _cells(action) <= width:
            chosen.add(action.id)
            width -= _cells(action)
    return [action for action in offered if action.id in chosen]


def _rank(action: Action) -> int:
    if action.group == REPLAY:
        return -1
    return _KEPT.index(action.id) if action.id in _KEPT else len(_KEPT)


def _cells(action: Action) -> int:
    return len(key_name(action.keys[0])) + len(action.footer) + 3


def chord_line(width: int) -> Line:
    """Return the letters of a chord and their columns."""
    spans: Spans = [(" sort by: ", "badge"), (" ", "text")]
    for key, column in CHORD.items():
        spans += [(f" {key}", "key"), (f" {COLUMN_BY_KEY[column].title}", "muted")]
    more = ("   a capital reverses the order", "muted")
    return Line((*spans, more) if length([*spans, more]) <= width else tuple(spans))
