"""Dialog about processes: the frozen list of targets, and the switch for their scope."""

from collections.abc import Callable, Mapping, Sequence
from typing import ClassVar, Final, TypeVar, cast

from gputop.core.model.process_id import ProcessId
from gputop.core.model.sample import HostProcess
from gputop.core.protocol.targets import users_text
from gputop.ui.render.line import Line, Spans
from gputop.ui.screens.dialogs import target_list
from gputop.ui.screens.dialogs.dialog import Dialog
from gputop.ui.state.signal_targets import Scope, TargetSelection, count_text, sum_text

T = TypeVar("T")
V = TypeVar("V")

_SWITCH: Final = {Scope.PROCESS: "scope-process", Scope.JOB: "scope-job", Scope.TREE: "scope-tree"}


class TargetsDialog(Dialog[T]):
    """Asks something about processes. The list and its texts do not change while the dialog is open.

    ``is_row``: the scope is what the user pointed at. A wider scope must be confirmed by its key before Enter counts.
    """

    TAKES: ClassVar[Mapping[str, str]] = {
        "back": "close", "quit": "close", "refuse": "close", "page-up": "scroll_targets(-1)",
        "page-down": "scroll_targets(1)", "scope-process": "take_scope('process')", "scope-job": "take_scope('job')",
        "scope-tree": "take_scope('tree')",
    }  # fmt: skip

    def __init__(self, selection: TargetSelection, *, scope: Scope, is_row: bool = True) -> None:
        super().__init__()
        self.selection = selection
        self.by_scope = selection.by_scope()
        self.scope = selection.beginning(scope if scope in self.by_scope else Scope.PROCESS)
        self.targets = self.by_scope[self.scope]
        self.is_confirmed = is_row or len(self.targets) <= len(selection.selected)
        self._top = 0
        self._page_lines = 1
        self._made: dict[tuple[object, ...], object] = {}

    def scroll_targets(self, pages: int) -> None:
        """Scroll the targets by pages."""
        self._top += pages * self._page_lines
        self.redraw()

    def on_mouse_scroll_down(self) -> None:
        """Scroll the targets down."""
        self.scroll_targets(1)

    def on_mouse_scroll_up(self) -> None:
        """Scroll the targets up."""
        self.scroll_targets(-1)

    def take_scope(self, scope: str) -> None:
        """Take another scope, if it has targets of its own."""
        wanted = Scope(scope)
        if wanted in self.by_scope:
            self.scope, self.targets, self._top = wanted, self.by_scope[wanted], 0
            self.is_confirmed = True
            self.redraw()

    @property
    def confirming_key(self) -> str:
        """The key that confirms the change."""
        return self.name_of("accept")

    @property
    def is_ready(self) -> bool:
        """Whether Enter counts: the scope is confirmed, and not every target will be refused."""
        return self.is_confirmed and not self._owners

    @property
    def _owners(self) -> str:
        return self.once(("owners",), lambda: target_list.foreign_owners(self.selection, self.targets))

    def warning_lines(self) -> list[Line]:
        """Return why Enter does not count, or how many targets will be refused."""
        if self._owners:
            text = f"Needs root: all belong to {self._owners}. Run gputop with sudo, or ask {self._owners}."
            return [Line(((text, "hot"),))]
        if not self.is_confirmed:
            return [Line(((self._scope_question(), "warm"),))]
        foreign = self.once(("foreign",), lambda: sum(bool(self.selection.foreign_owner(one)) for one in self.targets))
        text = f"{foreign} of {count_text(self.targets)} belong to others and will be refused."
        return [Line(((text, "warm"),))] if foreign else []

    def choice_keys(self) -> str:
        """Return the keys that confirm a scope, for the line of keys; empty if Enter can never count."""
        if self.is_confirmed:
            return ""
        wide, alone = (self.name_of(_SWITCH[scope]) for scope in (self.scope, Scope.PROCESS))
        return f"{wide} {self.targets_text()} · {alone} {self._alone()} · "

    def _scope_question(self) -> str:
        wide, alone = (self.name_of(_SWITCH[scope]) for scope in (self.scope, Scope.PROCESS))
        return f"Press {wide} for {self.targets_text()}, or {alone} for {self._alone()}, before {self.confirming_key}."

    def _alone(self) -> str:
        selected = self.selection.selected
        return f"{selected[0].pid} alone" if len(selected) == 1 else f"the {len(selected)} chosen"

    def once(self, key: tuple[object, ...], make: Callable[[], V]) -> V:
        """Return the cached value of a key and the scope: with thousands of targets a key press must stay fast."""
        whole = (self.scope, *key)
        if whole not in self._made:
            self._made[whole] = make()
        return cast("V", self._made[whole])

    def target_lines(self, width: int, room: int, via_launcher: Mapping[ProcessId, HostProcess]) -> list[Line]:
        """Return the titles of the list and the lines that fit."""
        shape = self.once(("shape", width), lambda: target_list.shape_of(self.targets, width))
        key = ("lines", width, frozenset(via_launcher))
        listed = self.once(key, lambda: target_list.Listed(self.selection, self.targets, via_launcher, shape))
        shown, self._top = target_list.window(listed, self._top, room - 1)
        self._page_lines = max(1, room - 2)
        return [target_list.head(shape), *shown]

    def user_lines(self) -> list[Line]:
        """Return the warning that the targets belong to several users, or would in a wider scope; else nothing."""
        text, ink = self.once(("users",), self._users_warning)
        return [Line(((text, ink),))] if text else []

    def scope_lines(self) -> list[Line]:
        """Return the scope switch, and below it a summary of the targets."""
        spans: Spans = [("Scope ", "muted")]
        for scope in Scope:
            spans += self._choice(scope)
        label = self.once(("label",), lambda: self.selection.label(self.scope))
        text = self.once(("sums",), lambda: sum_text(self.targets))
        sums = Line((("      ", "text"), (f"{label}: " if label else "", "title"), (text, "text")))
        return [Line(tuple(spans)), sums]

    def targets_text(self) -> str:
        """Return the scope and the number of targets, for a title."""
        several = users_text(self.targets).partition(":")[0]
        count = count_text(self.targets) + (f" of {several}" if several else "")
        if self.scope is Scope.PROCESS:
            return f"process {self.targets[0].pid}" if len(self.targets) == 1 else count
        return f"the whole {self.scope.value}: {count}"

    def short_targets_text(self) -> str:
        """Return the targets in a word or two, for the line of keys."""
        if self.scope is not Scope.PROCESS:
            return f"the {self.scope.value}"
        return str(self.targets[0].pid) if len(self.targets) == 1 else count_text(self.targets)

    def _users_warning(self) -> tuple[str, str]:
        users = users_text(self.targets)
        if users:
            return f"This affects processes of {users}.", "hot"
        for scope, held in self.by_scope.items():
            users = users_text(held)
            if users:
                key = self.name_of(_SWITCH[scope])
                only = self.short_targets_text()
                return f"The {scope.value} has processes of {users}. Only {only} is chosen; {key} takes all.", "warm"
        return "", "text"

    def _choice(self, scope: Scope) -> Sequence[tuple[str, str]]:
        """Return a position of the switch: its key, its name and its number of targets."""
        held = self.by_scope.get(scope)
        if held is None:
            return [(f" no {scope.value}  ", "faint")]
        key, words = self.name_of(_SWITCH[scope]), f"{self.selection.word(scope)} ({len(held)})"
        if scope is self.scope:
            return [(f" {key} {words} ", "cursor"), (" ", "text")]
        return [(f" {key}", "key"), (f" {words}  ", "muted")]
