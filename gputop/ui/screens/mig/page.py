"""MIG page: the layout of one GPU at a time, and the way to plan and apply a change."""

from collections.abc import Callable, Mapping, Sequence
from itertools import count
from typing import ClassVar, Final

from textual import events

from gputop.core.mig.answers import MigBox, MigProgress
from gputop.core.mig.model import MigGpu
from gputop.core.mig.steps import Plan
from gputop.core.mig.text import use_lines
from gputop.core.protocol.command import ChangeMig, Command, ReadMig
from gputop.core.protocol.link import News
from gputop.core.protocol.outcome import Outcome
from gputop.ui.messages import SignalRequested
from gputop.ui.options import ViewOptions
from gputop.ui.render.line import BLANK, Line
from gputop.ui.screens.dialogs.menu import Choice, MenuScreen
from gputop.ui.screens.mig.apply_dialog import MigApplyScreen
from gputop.ui.screens.mig.lines import mig_page, paragraph
from gputop.ui.screens.mig.plan_dialog import MigPlanScreen
from gputop.ui.screens.pages.page import Page
from gputop.ui.state.signal_followup import Clock
from gputop.ui.state.signal_targets import all_processes
from gputop.ui.state.view import View

EVERY_S: Final = 3.0
_PATIENCE_S: Final = 10.0
_NUMBERS: Final = count(1)


class MigScreen(Page):
    """Shows a GPU, and asks the sampler regularly for the layout of all GPUs."""

    TAKES: ClassVar[Mapping[str, str]] = {
        **Page.TAKES,
        "mig": "close", "left": "turn(-1)", "right": "turn(1)", "accept": "plan", "mig-plan": "plan",
        "mig-copy": "copy", "read-now": "ask",
    }  # fmt: skip
    is_full = True

    def __init__(
        self, gpu: str, view: View, send: Callable[[Command], None], *, clock: Clock, options: ViewOptions
    ) -> None:
        super().__init__()
        self._uuid = gpu
        self._view = view
        self._send = send
        self._clock = clock
        self._refusal = options.refusal
        self.box: MigBox | None = None
        self._problem = ""
        self._question = ""
        self._asked_s = 0.0
        self._planning: MigPlanScreen | None = None
        self._applying: MigApplyScreen | None = None
        self._ahead: list[events.Key] | None = None  # typed for the plan dialog, which opens with the first layout

    @property
    def gpu(self) -> MigGpu | None:
        """The layout of the shown GPU; None before the first answer."""
        gpus = self.box.gpus if self.box is not None else ()
        return next((gpu for gpu in gpus if gpu.uuid == self._uuid), None)

    def on_mount(self) -> None:
        """Ask now, and then regularly."""
        super().on_mount()
        self.ask()
        self.set_interval(EVERY_S, self.ask)

    def ask(self) -> None:
        """Ask for the layout of the GPUs, unless an answer is pending."""
        if not self._question or self._clock() - self._asked_s >= _PATIENCE_S:
            self._question, self._asked_s = f"mig-look-{next(_NUMBERS)}", self._clock()
            holders_of = self._applying.wants_holders if self._applying is not None else ""
            self._send(ReadMig(id=self._question, holders_of=holders_of))

    def follow(self, view: View) -> None:
        """Draw the present activity of the instances."""
        self._view = view
        self.redraw()

    def take(self, box: MigBox) -> None:
        """Take the layout of the GPUs."""
        if box.id != self._question:
            return
        self._question, self._problem = "", box.problem
        if not box.problem:
            self.box = box
        gpu = self.gpu
        if self._ahead is not None:
            self._plan_ahead(self._ahead)
        if gpu is not None and self._planning is not None:
            self._planning.take(gpu)
        if self._applying is not None:
            self._applying.held_by(box.holders)
            if gpu is not None:
                self._applying.take(gpu)
        self.redraw()

    def hear(self, news: News) -> bool:
        """Take how the GPUs are split, how far a change of that is, and how it ended."""
        match news:
            case MigBox():
                self.take(news)
            case MigProgress() if self._applying is not None:
                self._applying.show_progress(news)
            case Outcome():
                return self._end(news)
        return False

    def _end(self, outcome: Outcome) -> bool:
        """Show the result of a change; return whether this page shows it."""
        self._question = ""  # a pending answer may be older than the change
        self.ask()
        return self._applying is not None and self._applying.end(outcome)

    def title_line(self) -> str:
        """Return the index and name of the GPU."""
        gpu = self.gpu
        shown = next((each for each in self._view.gpus if each.uuid == self._uuid), None)
        index, name = (gpu.index, gpu.name) if gpu is not None else (shown.index, shown.name) if shown else ("?", "")
        return f"MIG · GPU {index} · {name}"

    def keys_line(self) -> str:
        """Return the keys and the number of lines below."""
        name = self.name_of
        more = f"{self.rest} more below · " if self.rest > 0 else ""
        change = f"({name('mig-plan')} plan, read-only)" if self._refusal else f"{name('mig-plan')} change…"
        turn = f"{name('left')} {name('right')} GPU · " if len(self._gpus()) > 1 else ""
        return f"{more}{change} · {name('mig-copy')} copy a setting · {turn}{name('back')} close"

    def page(self, width: int, height: int) -> Sequence[Line]:  # noqa: ARG002 - it scrolls
        """Return the page of the GPU."""
        lines = paragraph(f"! {self._problem}", width, "hot") if self._problem else []
        for warning in self.box.warnings if self.box is not None else ():
            lines += paragraph(f"! {warning}", width, "warm")
        gpu = self.gpu
        if gpu is None:
            return [*lines, *([] if self._problem else paragraph(self._waiting(), width, "muted"))]
        shown = next((self._view.values(each) for each in self._view.gpus if each.uuid == gpu.uuid), None)
        return [*lines, *([BLANK] if lines else []), *mig_page(gpu, shown, self._view.frame, width)]

    def typed(self, event: events.Key) -> bool:
        """Keep the keys for the plan dialog while the layout is being read."""
        if self._ahead is None:
            return super().typed(event)
        if self.method(event.key) == "close":
            self._ahead = None
            self.redraw()
        else:
            self._ahead.append(event)
        return True

    def plan(self) -> None:
        """Open the plan dialog, as soon as the layout is read."""
        gpu = self.gpu
        if self.box is None and not self._problem and self._view.playing is None:
            self._ahead = []
            self.redraw()
            return
        if gpu is None or gpu.is_on is None:
            why = "gputop is still reading the layout" if gpu is None else gpu.why or "this GPU does not support MIG"
            self.notify(f"cannot plan: {why}", timeout=4)
            return
        self._planning = MigPlanScreen(gpu, refusal=self._refusal)
        self.app.push_screen(self._planning, self._planned)

    def _plan_ahead(self, keys: Sequence[events.Key]) -> None:
        """Open the plan dialog, and give it the keys before the one that chooses a plan: the plan is unread."""
        self._ahead = None
        self.plan()
        planning = self._planning
        if planning is None:
            return
        for event in keys:
            planning.post_message(events.Key(event.key, event.character))
            if planning.method(event.key) in {"choose", "cancel", "signal"}:
                return

    def copy(self) -> None:
        """Choose a setting that selects an instance, and copy it."""
        lines = [line for line in use_lines(self.gpu) if not line.startswith("#")] if self.gpu is not None else []
        if not lines:
            self.notify("no MIG instance can be used", timeout=3)
            return
        choices = [Choice(line, line) for line in lines]
        self.app.push_screen(MenuScreen("Copy", choices, None), self._copied)

    def _copied(self, line: str | None) -> None:
        if line is not None:
            self.app.copy_to_clipboard(line)
            self.notify(f"{line}\ncopied, if the terminal supports OSC 52", timeout=8)

    def _planned(self, plan: Plan | tuple[int, ...] | None) -> None:
        """Ask whether to apply a plan, or open the signal dialog for the processes in its way."""
        self._planning = None
        gpu = self.gpu
        if isinstance(plan, tuple):
            self._signal(plan)
            return
        if plan is None or gpu is None or self._refusal:
            return
        warnings = self.box.warnings if self.box is not None else ()
        self._applying = MigApplyScreen(gpu, plan, warnings, self._begin)
        self.app.push_screen(self._applying, self._applied)
        if self._applying.wants_holders:
            self._question = ""  # a pending answer does not list the processes that have the GPU open
            self.ask()

    def _signal(self, pids: Sequence[int]) -> None:
        frame = self._view.frame
        processes = [one for one in all_processes(frame).values() if one.pid in pids] if frame else []
        if processes:
            self.post_message(SignalRequested(*processes, is_kill=False))
        else:
            self.notify(f"the processes in the way are not on the screen: {', '.join(map(str, pids))}", timeout=5)

    def _begin(self, plan: Plan) -> str:
        """Start to apply a plan; return the id of the change."""
        change = ChangeMig(id=f"mig-{next(_NUMBERS)}", plans=(plan,))
        self._send(change)
        return change.id

    def _applied(self, wants_copy: bool | None) -> None:  # noqa: FBT001 - Textual hands it over
        self._applying = None
        if wants_copy:
            self.copy()

    def turn(self, step: int) -> None:
        """Show the next or previous GPU."""
        uuids = self._gpus()
        at = uuids.index(self._uuid) if self._uuid in uuids else 0
        if uuids:
            self._uuid = uuids[(at + step) % len(uuids)]
            self.top = 0
            self.redraw()

    def _gpus(self) -> list[str]:
        return [gpu.uuid for gpu in (self.box.gpus if self.box is not None else self._view.gpus)]

    def _waiting(self) -> str:
        if self._view.playing is not None:
            return "A recording does not contain MIG layouts. The main screen shows the instances."
        if self.box is not None:
            return "The driver no longer lists this GPU."
        if self._ahead is not None:
            return "reading the MIG layout… then the plan opens"
        return "reading the MIG layout…"
