"""Planning a MIG layout: a layout is chosen or typed, and its plan stands below before anything happens."""

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

_LONGEST: Final = 200
_HINT: Final = "type to narrow down, or a request: 3g,2x1g  +1x2g  all=1g"
_LEAST_LIST: Final = 4
_INKS: Final = {"-": "hot", "+": "accent", "!": "warm", "●": "warm", "=": "muted"}

Answer: TypeAlias = Plan | NoPlan | str


class MigPlanScreen(ListDialog[Plan | None]):
    """Ends with the plan that is to be carried out, or None. It changes nothing itself."""

    field: TextInput

    TAKES: ClassVar[Mapping[str, str]] = {
        "back": "cancel", "accept": "choose", **MOVES, "page-up": "scroll_plan(-5)", "page-down": "scroll_plan(5)",
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
        """Plan for the GPU as it is now; the mark stays on its layout."""
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
        """What is offered: what was typed, and the layouts that are possible and have all parts of it."""
        parts = [part.strip() for part in self.text.split(",") if part.strip()]
        fitting = [each for each in self._possible if all(part in each for part in parts)]
        return [self.text, *(each for each in fitting if each != self.text)] if parts else fitting

    @property
    def marked(self) -> str:
        """The request under the mark; nothing where none is offered."""
        listed = self.listed
        return listed[min(self.at, len(listed) - 1)] if listed else ""

    def answer(self, request: str) -> Answer:
        """Return the plan for a request, why there is none, or what cannot be understood about it."""
        if request not in self._known:
            try:
                self._known[request] = answer(self._gpu, read_request(request, self._gpu))
            except RequestError as error:
                self._known[request] = str(error)
        return self._known[request]

    def title_line(self) -> str:
        """Name the GPU."""
        return f"Plan MIG of GPU {self._gpu.index} · nothing changes yet"

    def keys_line(self) -> str:
        """Name the keys."""
        name = self.name_of
        accept = f"({name('accept')} is refused: read-only)" if self._refusal else f"{name('accept')} goes on"
        return f"{accept} · {name('up')} {name('down')} layout · {name('page-down')} plan · {name('back')} cancels"

    def page(self, width: int, height: int) -> Sequence[Line]:
        """Return the field, the layouts, and below them the plan for the marked one."""
        listed = self.listed
        self.at = max(0, min(self.at, len(listed) - 1))
        told = self._told(width)
        rows = max(1, min(len(listed), max(_LEAST_LIST, height - 1 - len(told))))
        lines = self.window([self._row(each, at, width) for at, each in enumerate(listed)], rows)
        lines = lines or [Line((("no layout is possible", "muted"),))]
        count = f" {self.at + 1} of {len(listed)} " if len(listed) > rows else ""
        rule = Line(((f"{count:─<{width}}", "faint"),))
        shown, self._plan_top = target_list.window(told, self._plan_top, max(1, height - 1 - len(lines)))
        return [*lines, rule, *shown][:height]

    def typed(self, event: events.Key) -> bool:
        """Edit the request; the keys that move keep their meaning, and blanks have none."""
        if event.character == " ":
            return False
        if event.key != "ctrl+u":
            return super().typed(event)
        self.field.clear()
        self.edited()
        return True

    def edited(self) -> None:
        """Mark what was typed; a beginning that is no request yet marks the first layout that has it."""
        self.field.value = "".join(self.field.value.split()).lower()[:_LONGEST]
        self.first_shown = 0
        listed = self.listed
        is_beginning = len(listed) > 1 and isinstance(self.answer(listed[0]), str)
        self.move_to(1 if self.text and is_beginning else 0)

    @property
    def text(self) -> str:
        """The request as it is typed so far."""
        return self.field.value

    def cancel(self) -> None:
        """Take back what was typed, or go."""
        if self.text:
            self.field.clear()
            self.edited()
        else:
            self.dismiss(None)

    def choose(self) -> None:
        """Go on with the plan, if there is one that does something and may be carried out."""
        found = self.answer(self.marked) if self.marked else ""
        if self._refusal:
            self.notify(f"nothing is changed: {self._refusal}", markup=False, severity="warning", timeout=5)
        elif isinstance(found, Plan) and found.steps:
            self.dismiss(found)
        else:
            self.notify("there is nothing that could be carried out", markup=False, timeout=3)

    def move_to(self, at: int) -> None:
        """Set the cursor on a layout, and show the begin of its plan."""
        self._plan_top = 0
        super().move_to(max(0, at))

    def scroll_plan(self, step: int) -> None:
        """Scroll the plan."""
        self._plan_top += step
        self.redraw()

    def _row(self, request: str, at: int, width: int) -> Line:
        """Return a layout, with what the plan for it would do, as far as that was asked for."""
        found = self.answer(request) if at == self.at else None
        note = plan_summary(found) if isinstance(found, Plan) else ""
        note = "as it is" if request == self._now else note
        mark = "▶ " if at == self.at else "  "
        left = [(mark, "accent"), (request, "text")]
        return Line(ends(left, [(note, "muted")], width), "cursor" if at == self.at else "text")

    def _told(self, width: int) -> list[Line]:
        if not self.marked:
            return paragraph("There is nothing to plan with.", width, "muted")
        found = self.answer(self.marked)
        if isinstance(found, str):
            return paragraph(found, width, "hot")
        if isinstance(found, NoPlan):
            return coloured(no_plan_lines(found), width, "hot")
        return coloured(plan_lines(self._gpu, found), width)


def coloured(texts: Iterable[str], width: int, ink: str = "title") -> list[Line]:
    """Return the lines of a plan: what goes, what comes, what stays and what to know, each in its ink."""
    lines: list[Line] = []
    for at, text in enumerate(texts):
        bare = text.strip()
        colour = ink if at == 0 else _INKS.get(bare[:1], "text")
        lines += paragraph(bare, width, colour, len(text) - len(text.lstrip()))
    return lines


def _choices(gpu: MigGpu) -> list[str]:
    """Return the layouts to choose from, and the mode alone; first what it is now."""
    if gpu.is_on is None:
        return []
    if pending(gpu):  # then it can be taken back, and nothing else
        return ["on" if gpu.is_on else "off"]
    layouts = possible(gpu) if gpu.geometry.profiles else ()
    if not gpu.is_on:
        return ["on", *(each for each in layouts if each != "none")]
    now = target_text(layout(gpu.instances), gpu)
    return [*(each for each in layouts if each == now), *(each for each in layouts if each != now), "off"]
