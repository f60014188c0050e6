"""Dialog that shows a value of processes and asks for a new one. Enter applies it to the frozen list."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import count
from typing import ClassVar, Final

from gputop.core.model.process_id import ProcessId
from gputop.core.protocol.command import Change, Command, ReadStatus
from gputop.core.protocol.link import News
from gputop.core.protocol.process_status import ProcessStatus, ProcessStatuses
from gputop.core.protocol.targets import targets
from gputop.ui.input.text_input import TextInput
from gputop.ui.render.line import BLANK, Line, cut
from gputop.ui.screens.dialogs.targets_dialog import TargetsDialog
from gputop.ui.state.signal_targets import Processes, Scope, TargetSelection

_QUESTIONS: Final = count(1)
_MOST_KINDS: Final = 3


class ValueScreen(TargetsDialog[Change | None]):
    """Asks for a value. ``change_id``: of the change that it ends with; ``send`` sends a command to the sampler."""

    TAKES: ClassVar[Mapping[str, str]] = {
        **TargetsDialog.TAKES,
        "accept": "apply", "up": "change_by(1)", "down": "change_by(-1)",
    }  # fmt: skip
    field: TextInput
    signs: ClassVar[str] = ""
    asks_for: ClassVar[str] = ""
    proposed_step = 0  # from the present value to the one that is proposed

    def __init__(
        self,
        selection: TargetSelection,
        change_id: str,
        send: Callable[[Command], None],
        *,
        scope: Scope,
        is_row: bool = True,
    ) -> None:
        super().__init__(selection, scope=scope, is_row=is_row)
        self.change_id = change_id
        self._send = send
        self._question = ""
        self._asked: set[ProcessId] = set()
        self._seen: dict[ProcessId, ProcessStatus] = {}
        self._is_touched = False
        self._error = ""
        self.field = TextInput(signs=self.signs, selects=True)

    def first_text(self) -> str:
        """Return the proposed value."""
        return ""

    def change(self, text: str) -> Change:
        """Return the change. Raise ValueError with a message for the user."""
        raise NotImplementedError

    def hints(self) -> list[tuple[str, str]]:
        """Return lines about the value, each with its ink."""
        raise NotImplementedError

    def step(self, by: int) -> None:
        """Put the next value up or down into the field."""

    @property
    def text(self) -> str:
        """The text in the field."""
        return self.field.value

    def on_mount(self) -> None:
        """Ask the sampler for the present values."""
        self.field.propose(self.first_text())
        super().on_mount()
        self._ask_for_present()

    def hear(self, news: News) -> bool:
        """Take the present values; return whether this dialog asked for them. The user's own input stays."""
        if not isinstance(news, ProcessStatuses) or news.id != self._question:
            return False
        self._seen |= {ProcessId(one.pid, one.start_ticks): one for one in news.statuses}
        self._propose()
        return True

    def present(self, value: Callable[[ProcessStatus], str | None]) -> str:
        """Return the present values: ``none``, or ``best-effort 4 (6), idle (1)`` if they differ."""
        seen = [self._seen[one.id] for one in self.targets if one.id in self._seen]
        if not seen:
            return "reading…"
        return kinds_text(value(one) for one in seen)

    def common(self, value: Callable[[ProcessStatus], str | None]) -> str | None:
        """Return the value that all targets have now; None if they differ or it is not known."""
        found = {value(self._seen[one.id]) if one.id in self._seen else None for one in self.targets}
        return found.pop() if len(found) == 1 else None

    def edited(self) -> None:
        """Keep the user's input when the sampler answers later."""
        self._error, self._is_touched = "", True
        self.redraw()

    def apply(self) -> None:
        """Apply the value, or show why it is invalid."""
        if not self.is_ready:
            return
        try:
            self.dismiss(self.change(self.text))
        except ValueError as error:
            self._error = str(error)
            self.redraw()

    def take_scope(self, scope: str) -> None:
        """Take another scope, and request the present values of its targets."""
        super().take_scope(scope)
        self._ask_for_present()
        self._propose()

    def title_line(self) -> str:
        """Return the question."""
        return f"{self.asks_for} of {self.targets_text()}"

    def keys_line(self) -> str:
        """Return the keys."""
        up, down, accept, back = (self.name_of(action) for action in ("up", "down", "accept", "back"))
        if not self.is_ready:
            return f"{self.choice_keys()}{back} cancel"
        return f"{accept} apply to {self.short_targets_text()} · {back} cancel · {up} {down} step"

    def page(self, width: int, height: int) -> Sequence[Line]:
        """Return the hints, the scope and the targets."""
        top = [*self.user_lines(), *self.warning_lines(), *(Line((part,)) for part in self.hints())]
        top += [Line(((self._error, "hot"),)), *self.scope_lines(), BLANK]
        lines = [*top, *self.target_lines(width, max(3, height - len(top)), {})]
        return [Line(tuple(cut(list(line.spans), width)), line.base) for line in lines][:height]

    def change_by(self, by: int) -> None:
        """Choose the next value up or down."""
        self._error, self._is_touched = "", True
        self.step(by)
        self.redraw()

    def _ask_for_present(self) -> None:
        new: Processes = tuple(one for one in self.targets if one.id not in self._asked)
        if new:
            self._asked |= {one.id for one in new}
            self._question = f"present-{next(_QUESTIONS)}"
            self._send(ReadStatus(id=self._question, targets=targets(new)))

    def _propose(self) -> None:
        if not self._is_touched:
            self.field.propose(self.first_text())
        self.redraw()


def kinds_text(values: Iterable[str | None]) -> str:
    """Return the values, the most frequent first; several values have their counts."""
    counts = Counter("unknown" if value is None else value for value in values).most_common()
    if len(counts) == 1:
        return counts[0][0]
    parts = [f"{value} ({number})" for value, number in counts[:_MOST_KINDS]]
    rest = len(counts) - _MOST_KINDS
    return ", ".join([*parts, f"{rest} other values"] if rest > 0 else parts)
