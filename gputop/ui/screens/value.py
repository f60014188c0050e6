"""A dialog that asks for a value of processes. Enter applies it to the frozen list."""

from collections.abc import Sequence
from typing import ClassVar

from gputop.core.command import Change
from gputop.ui.line import BLANK, Line, cut, fit
from gputop.ui.screens import target_list
from gputop.ui.screens.dialog import Dialog
from gputop.ui.targets import Aim, Scope, count_text, sum_text


class ValueScreen(Dialog[Change | None]):
    """Asks for a value. The list never changes while it is open. ``id``: of the change that it ends with."""

    KEYS: ClassVar[dict[str, str]] = {
        "escape": "cancel", "f10": "cancel", "q": "cancel", "n": "cancel", "enter": "apply", "up": "raise_it",
        "down": "lower_it", "backspace": "erase", "pageup": "page_up", "pagedown": "page_down",
        "p": "scope_process", "j": "scope_job", "t": "scope_tree",
    }  # fmt: skip
    signs: ClassVar[str] = ""
    asks_for: ClassVar[str] = ""

    def __init__(self, aim: Aim, change_id: str, *, scope: Scope, is_ascii: bool) -> None:
        super().__init__(is_ascii=is_ascii)
        self.aim = aim
        self.change_id = change_id
        self.scope = scope
        self.chosen = aim.within(scope)
        self.text = self.first_text()
        self._is_fresh = True  # the first sign takes the place of what was proposed
        self._error = ""
        self._top = 0

    def first_text(self) -> str:
        """Return what is proposed."""
        return ""

    def change(self, text: str) -> Change:
        """Return the change. Raises ValueError in words."""
        raise NotImplementedError

    def hints(self) -> list[tuple[str, str]]:
        """Return lines about the value, each with its ink."""
        raise NotImplementedError

    def step(self, by: int) -> None:
        """Take the next value up or down."""

    def pressed(self, key: str, character: str) -> None:
        """Take the signs of a value."""
        self._error = ""
        if character and character in self.signs:
            self.text = character if self._is_fresh else self.text + character
            self._is_fresh = False
            self.redraw()
        else:
            super().pressed(key, character)

    def cancel(self) -> None:
        """Do nothing, and go."""
        self.dismiss(None)

    def apply(self) -> None:
        """Do it, or say why that is no value."""
        try:
            self.dismiss(self.change(self.text))
        except ValueError as error:
            self._error = str(error)
            self.redraw()

    def erase(self) -> None:
        """Take the last sign away."""
        self.text = "" if self._is_fresh else self.text[:-1]
        self._is_fresh = False
        self.redraw()

    def raise_it(self) -> None:
        """Take the next value up."""
        self._step(1)

    def lower_it(self) -> None:
        """Take the next value down."""
        self._step(-1)

    def page_up(self) -> None:
        """Scroll the targets up."""
        self._top -= 8
        self.redraw()

    def page_down(self) -> None:
        """Scroll the targets down."""
        self._top += 8
        self.redraw()

    def scope_process(self) -> None:
        """Mean what was chosen alone."""
        self._reach(Scope.PROCESS)

    def scope_job(self) -> None:
        """Mean the whole job."""
        self._reach(Scope.JOB)

    def scope_tree(self) -> None:
        """Mean what was chosen and all that it started."""
        self._reach(Scope.TREE)

    def title_line(self) -> str:
        """Name what is asked."""
        return f"{self.asks_for} of {count_text(self.chosen)}"

    def keys_line(self) -> str:
        """Name the keys."""
        return "Enter apply · Esc cancel · ↑ ↓ step · p process, j job, t tree"

    def page(self, width: int, height: int) -> Sequence[Line]:
        """Return the field, what is known of it, and who is meant."""
        field = (f" {fit(self.text + '_', 24)}", "cursor")
        top = [Line(((f"{self.asks_for} ", "title"), field)), *(Line((part,)) for part in self.hints())]
        top.append(Line(((self._error, "hot"),)))
        scope = Line((("Scope ", "muted"), (self.scope.value, "title"), (f": {sum_text(self.chosen)}", "text")))
        listed = target_list.lines(self.aim, self.chosen, {}, width)
        shown, self._top = target_list.window(listed, self._top, max(2, height - len(top) - 3))
        lines = [*top, scope, BLANK, target_list.head(width), *shown]
        return [Line(tuple(cut(list(line.spans), width)), line.base) for line in lines][:height]

    def _step(self, by: int) -> None:
        self._is_fresh = True
        self.step(by)
        self.redraw()

    def _reach(self, scope: Scope) -> None:
        self.scope, self.chosen, self._top = scope, self.aim.within(scope), 0
        self.redraw()
