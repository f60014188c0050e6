"""Dialog that plans a MIG layout: the user chooses or types one, and sees its plan before anything changes.

The list is drawn by hand, not with an OptionList: it is filtered while the user types in the field, and each row has
its note aligned at the right.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import ClassVar, Final, TypeAlias

from textual import events

from gputop.core.mig.explain import NoPlan, answer, pending, possible
from gputop.core.mig.model import MigGpu, layout
from gputop.core.mig.request import RequestError, read_request
from gputop.core.mig.steps import Plan
from gputop.core.mig.text import no_plan_lines, plan_lines, plan_summary, target_text
from gputop.ui.input.text_input import TextInput
from gputop.ui.render.line import Line, ends
from gputop.ui.screens.dialogs import target_list
from gputop.ui.screens.dialogs.list_dialog import MOVES, ListDialog
from gputop.ui.screens.mig.lines import paragraph
from gputop.ui.screens.pages.finding_lines import with_key

_LONGEST: Final = 200
_HINT: Final = "type to filter, or enter a request: 3g,2x1g  +1x2g  all=1g"
_LEAST_LIST: Final = 4
_INKS: Final = {"-": "hot", "+": "accent", "!": "warm", "●": "warm", "=": "muted"}

Answer: TypeAlias = Plan | NoPlan | str


class MigPlanScreen(ListDialog[Plan | tuple[int, ...]]):
    """Returns the plan to apply, or the pids of the processes in the way that the user wants to signal."""

    field: TextInput

    TAKES: ClassVar[Mapping[str, str]] = {
        "back": "cancel", "accept": "choose", **MOVES, "page-up": "scroll_plan(-5)", "page-down": "scroll_plan(5)",
        "signal": "signal",
    }  # fmt: skip

    def __init__(self, gpu: MigGpu, *, refusal: str) -> None:
        super().__init__()
        self._gpu = gpu
        self._refusal = refusal
        self._known: dict[str, Answer] = {}
        self._possible = _choices(gpu)
        self._now = target_text(layout(gpu.instances), gpu) if gpu.is_on else ""
        self.field = TextInput(hint=_HINT)
        self.at = self._possible.index(self._now) if self._now in self._possible else 0
        self._plan_top = 0

    def take(self, gpu: MigGpu) -> None:
        """Plan for the present layout of the GPU; the mark stays on its row."""
        if gpu == self._gpu:
            return
        marked = self.marked
        self._gpu, self._known, self._possible = gpu, {}, _choices(gpu)
        self._now = target_text(layout(gpu.instances), gpu) if gpu.is_on else ""
        listed = self.listed
        self.at = listed.index(marked) if marked in listed else min(self.at, max(0, len(listed) - 1))
        self.redraw()

    @property
    def listed(self) -> list[str]:
        """The typed request, and the possible layouts that contain all parts of it."""
        parts = [part.strip() for part in self.text.split(",") if part.strip()]
        fitting = [each for each in self._possible if all(part in each for part in parts)]
        return [self.text, *(each for each in fitting if each != self.text)] if parts else fitting

    @property
    def marked(self) -> str:
        """The request under the mark; empty if the list is empty."""
        listed = self.listed
        return listed[min(self.at, len(listed) - 1)] if listed else ""

    def answer(self, request: str) -> Answer:
        """Return the plan for a request, the reason why there is none, or the error in the request."""
        if request not in self._known:
            try:
                self._known[request] = answer(self._gpu, read_request(request, self._gpu))
            except RequestError as error:
                self._known[request] = str(error)
        return self._known[request]

    def title_line(self) -> str:
        """Return the index of the GPU."""
        return f"Plan MIG of GPU {self._gpu.index} · nothing changes yet"

    def keys_line(self) -> str:
        """Return the keys."""
        name = self.name_of
        accept = f"({name('accept')} disabled: read-only)" if self._refusal else f"{name('accept')} review the plan"
        signal = f" · {name('signal')} signal those in the way" if self._in_the_way else ""
        move = f"{name('up')} {name('down')} layout"
        return f"{accept}{signal} · {move} · {name('page-down')} scroll plan · {name('back')} cancel"

    def page(self, width: int, height: int) -> Sequence[Line]:
        """Return the layouts, and below them the plan for the marked one."""
        listed = self.listed
        self.at = max(0, min(self.at, len(listed) - 1))
        plan = self._plan_lines(width)
        rows = max(1, min(len(listed), max(_LEAST_LIST, height - 1 - len(plan))))
        lines = self.window([self._row(each, at, width) for at, each in enumerate(listed)], rows)
        lines = lines or [Line((("No layout is possible.", "muted"),))]
        count = f" {self.at + 1} of {len(listed)} " if len(listed) > rows else ""
        rule = Line(((f"{count:─<{width}}", "faint"),))
        shown, self._plan_top = target_list.window(plan, self._plan_top, max(1, height - 1 - len(lines)))
        return [*lines, rule, *shown][:height]

    def typed(self, event: events.Key) -> bool:
        """Edit the request; cursor keys keep their meaning, and blanks are ignored."""
        if event.character == " ":
            return False
        if event.key != "ctrl+u":
            return super().typed(event)
        self.field.clear()
        self.edited()
        return True

    def edited(self) -> None:
        """Mark the typed request; if it is not a complete request, mark the first layout that contains it."""
        self.field.value = "".join(self.field.value.split()).lower()[:_LONGEST]
        self.first_shown = 0
        listed = self.listed
        is_beginning = len(listed) > 1 and isinstance(self.answer(listed[0]), str)
        self.move_to(1 if self.text and is_beginning else 0)

    @property
    def text(self) -> str:
        """The typed text."""
        return self.field.value

    def cancel(self) -> None:
        """Clear the field; close the dialog if it is empty."""
        if self.text:
            self.field.clear()
            self.edited()
        else:
            self.dismiss(None)

    def choose(self) -> None:
        """Return the marked plan, if it has steps and gputop is not read-only."""
        found = self.answer(self.marked) if self.marked else ""
        if self._refusal:
            self.notify(f"not applied: {self._refusal}", severity="warning", timeout=5)
        elif isinstance(found, Plan) and found.steps:
            self.dismiss(found)
        else:
            self.notify("this layout has no plan to apply", timeout=3)

    def signal(self) -> None:
        """Return the processes that block the marked layout."""
        if self._in_the_way:
            self.dismiss(self._in_the_way)
        else:
            self.notify("no process is in the way of this layout", timeout=3)

    @property
    def _in_the_way(self) -> tuple[int, ...]:
        """The pids of the processes that block the marked layout."""
        found = self.answer(self.marked) if self.marked else ""
        return found.blocking_pids if isinstance(found, NoPlan) else ()

    def move_to(self, at: int) -> None:
        """Set the cursor on a layout, and show the begin of its plan."""
        self._plan_top = 0
        super().move_to(max(0, at))

    def scroll_plan(self, step: int) -> None:
        """Scroll the plan."""
        self._plan_top += step
        self.redraw()

    def _row(self, request: str, at: int, width: int) -> Line:
        """Return a layout; the marked one has a summary of its plan."""
        found = self.answer(request) if at == self.at else None
        note = plan_summary(found) if isinstance(found, Plan) else ""
        note = "current layout" if request == self._now else note
        mark = "▶ " if at == self.at else "  "
        left = [(mark, "accent"), (request, "text")]
        return Line(ends(left, [(note, "muted")], width), "cursor" if at == self.at else "text")

    def _plan_lines(self, width: int) -> list[Line]:
        if not self.marked:
            return paragraph("There is no layout to plan.", width, "muted")
        found = self.answer(self.marked)
        if isinstance(found, str):
            return paragraph(found, width, "hot")
        if isinstance(found, NoPlan):
            key = self.name_of("signal")
            return coloured((with_key(line, key) for line in no_plan_lines(found)), width, "hot")
        return coloured(plan_lines(self._gpu, found), width)


def coloured(texts: Iterable[str], width: int, ink: str = "title") -> list[Line]:
    """Return the lines of a plan in colour: removed, created and kept instances, and warnings."""
    lines: list[Line] = []
    for at, text in enumerate(texts):
        bare = text.strip()
        colour = ink if at == 0 else _INKS.get(bare[:1], "text")
        lines += paragraph(bare, width, colour, len(text) - len(text.lstrip()))
    return lines


def _choices(gpu: MigGpu) -> list[str]:
    """Return the possible layouts, and the mode alone; the present layout comes first."""
    if gpu.is_on is None:
        return []
    if pending(gpu):  # then the mode change can be undone, and nothing else
        return ["on" if gpu.is_on else "off"]
    layouts = possible(gpu) if gpu.geometry.profiles else ()
    if not gpu.is_on:
        return ["on", *(each for each in layouts if each != "none")]
    now = target_text(layout(gpu.instances), gpu)
    return [*(each for each in layouts if each == now), *(each for each in layouts if each != now), "off"]
