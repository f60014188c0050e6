"""Carrying out a MIG plan: the plan and the question, then each step as it is done, then how it ended."""

from collections.abc import Callable, Mapping, Sequence
from typing import ClassVar

from msgspec.structs import replace

from gputop.core.mig.answers import MigProgress
from gputop.core.mig.model import Holders, MigGpu, layout
from gputop.core.mig.steps import Plan
from gputop.core.mig.text import holder_lines, plan_lines, smi_lines, use_lines
from gputop.core.protocol.outcome import Outcome, Status
from gputop.ui.render.line import BLANK, Line
from gputop.ui.screens.dialogs.dialog import Dialog
from gputop.ui.screens.dialogs.modal import FAR, SCROLLS
from gputop.ui.screens.dialogs.outcome import outcome_lines
from gputop.ui.screens.mig.lines import paragraph
from gputop.ui.screens.mig.plan_dialog import coloured


class MigApplyScreen(Dialog[bool]):
    """Asks; only `y` carries the plan out. It ends with whether a line of the new instances is to be copied.

    ``begin`` has the plan carried out and returns the id of the change. Once begun, the screen may go: the change does
    not depend on it.
    """

    TAKES: ClassVar[Mapping[str, str]] = {
        "back": "close", "quit": "close", "refuse": "close", "yes": "carry_out", "mig-copy": "copy", **SCROLLS,
    }  # fmt: skip
    ink = "warm"

    def __init__(self, gpu: MigGpu, plan: Plan, warnings: Sequence[str], begin: Callable[[Plan], str]) -> None:
        super().__init__()
        self._gpu = gpu
        self._plan = plan
        self._warnings = warnings
        self._begin = begin
        self.change_id = ""
        self.progress: list[MigProgress] = []
        self.outcome: Outcome | None = None
        self._is_fresh = False  # whether the GPU was looked at since the end
        self._is_stale = False  # whether it was changed by somebody else since it was planned
        self._is_asking = plan.changes_mode  # whether who has the GPU open is still to be told
        self._holders: Holders | None = None

    def carry_out(self) -> None:
        """Begin, once; not before it is told who has the GPU open, where that matters."""
        if self.wants_holders and self._is_asking:
            self.notify("it is being looked who has the GPU open", markup=False, timeout=3)
        elif not self.change_id and not self._is_stale:
            self.top = 0
            self.change_id = self._begin(self._plan)
            self.redraw()

    @property
    def wants_holders(self) -> str:
        """The uuid of the GPU while it matters who has it open: its mode is about to be changed. Nothing otherwise."""
        return self._plan.gpu if self._plan.changes_mode and not self.change_id else ""

    def held_by(self, holders: Holders | None) -> None:
        """Take who has the GPU open; None: that could not be told."""
        if self.wants_holders:
            self._is_asking, self._holders = False, holders
            self.redraw()

    def told(self, progress: MigProgress) -> None:
        """Show which step begins."""
        if progress.index == self._plan.index and self.change_id and self.outcome is None:
            self.progress.append(progress)
            self.redraw()
            self.scroll_page_to(FAR)

    def end(self, outcome: Outcome) -> bool:
        """Show how it ended; say whether this was the change of this screen."""
        if not self.change_id or outcome.id != self.change_id:
            return False
        self.outcome = outcome
        self.ink = "accent" if outcome.all_worked else "warm" if self._waits else "hot"
        self.top = 0
        self.redraw()
        return True

    def take(self, gpu: MigGpu) -> None:
        """Take how the GPU is split now: before the answer it may not be as it was planned for any more."""
        if gpu.uuid != self._plan.gpu:
            return
        if self.outcome is not None:
            self._gpu, self._is_fresh = gpu, True
        elif not self.change_id:
            self._is_stale = (bool(gpu.is_on), layout(gpu.instances)) != (self._plan.was_on, self._plan.before)
        self.redraw()

    def copy(self) -> None:
        """Go, and choose a line to copy."""
        if self.outcome is not None and self._is_fresh:
            self.dismiss(True)

    def title_line(self) -> str:
        """Say how far it is."""
        whose = f"MIG of GPU {self._plan.index}"
        if self.outcome is not None:
            done = "done and verified" if self.outcome.all_worked else "did not work"
            end = "waits for a reset" if self._waits else done
            return f"{whose} · {end}"
        return f"{whose} · being changed" if self.change_id else f"Change {whose}?"

    def keys_line(self) -> str:
        """Name the keys."""
        name = self.name_of
        if self.outcome is not None:
            copies = f"{name('mig-copy')} copy a line · " if self._is_fresh and self.outcome.all_worked else ""
            return f"{copies}{name('back')} closes"
        if self.change_id:
            return f"{name('back')} leaves this page; the change goes on"
        if self._is_stale:
            return f"({name('yes')} is refused) · {name('back')} back, to plan again"
        if self.wants_holders and self._is_asking:
            return f"({name('yes')} waits) · {name('back')} leaves everything as it is"
        return f"{name('yes')} carries it out · {name('back')} leaves everything as it is"

    def page(self, width: int, height: int) -> Sequence[Line]:  # noqa: ARG002 - it scrolls
        """Return the plan, the steps, or the end."""
        lines = self._question(width) if not self.change_id else self._steps(width)
        if self.outcome is not None:
            lines = self._ended(self.outcome, width) + (lines if self.progress else [])
        return lines

    @property
    def _waits(self) -> bool:
        """Whether it ended with a mode that waits for a reset."""
        return self.outcome is not None and any(one.status is Status.PENDING for one in self.outcome.results)

    def _question(self, width: int) -> list[Line]:
        gone = "! Somebody else has changed this GPU since: this plan cannot be carried out any more."
        lines = [*paragraph(gone, width, "hot"), BLANK] if self._is_stale else []
        lines += coloured(plan_lines(self._gpu, self._plan), width)
        for held in self._held_lines() if self._plan.changes_mode else ():
            lines += paragraph(held, width, "warm", 2)
        for warning in self._warnings:
            lines += paragraph(f"! {warning}", width, "warm", 2)
        again = "If a step fails, everything is put back as it was; the driver is asked afterwards whether it is so."
        lines += [BLANK, *paragraph(again, width, "muted"), BLANK]
        lines += paragraph("the same with nvidia-smi (ID: of the instance that was just created):", width, "muted")
        return lines + [Line(((f"  {line}", "muted"),)) for line in smi_lines(self._plan.index, self._plan.steps)]

    def _held_lines(self) -> list[str]:
        if self._is_asking:
            return ["looking who has the GPU open…"]
        return [f"! {line}" for line in holder_lines(self._holders)] or ["nobody is seen to have the GPU open"]

    def _steps(self, width: int) -> list[Line]:
        """Return the steps with a mark: done, running, failed; and the way back, if there was one."""
        total = len(self._plan.steps)
        lines = [Line((("Steps", "accent"),))]
        for at, step in enumerate(self._plan.steps):
            mark, ink = self._mark(at)
            lines += paragraph(f"{mark:<4} {at + 1}/{total} {step.text}", width, ink)
        back = [each for each in self.progress if each.is_going_back]
        lines += [BLANK, Line((("Going back", "warm"),))] if back else []
        for each in back:
            lines += paragraph(f"     {each.done + 1}/{each.total} {each.text}", width, "warm")
        if not self.progress and self.outcome is None:
            lines += [BLANK, *paragraph("asking the sampler to begin…", width, "muted")]
        return lines

    def _mark(self, at: int) -> tuple[str, str]:
        """Return how far a step is, and its ink."""
        if self.outcome is not None and self.outcome.all_worked:
            return "done", "muted"
        last = max((each.done for each in self.progress if not each.is_going_back), default=-1)
        if at == last and self._waits:
            return "wait", "warm"
        if at == last:
            has_failed = self.outcome is not None or any(each.is_going_back for each in self.progress)
            return ("fail", "hot") if has_failed else ("now", "title")
        return ("done", "muted") if at < last else ("", "text")

    def _newest_first(self) -> MigGpu:
        """Return the GPU with the instances first that have just come."""
        new = {(target.profile, target.start) for target in self._plan.created}
        order = sorted(self._gpu.instances, key=lambda one: (one.profile, one.start) not in new)
        return replace(self._gpu, instances=tuple(order))

    def _ended(self, outcome: Outcome, width: int) -> list[Line]:
        lines = outcome_lines(outcome, width)
        for result in outcome.results:
            if result.after is not None and outcome.all_worked:
                lines += paragraph(f"{result.before} → {result.after}", width)
        if outcome.all_worked and self._is_fresh:
            use = list(use_lines(self._newest_first()))
            lines += [BLANK, Line((("What uses the instances", "accent"),))] if use else []
            for line in use:
                lines += paragraph(line, width, "muted" if line.startswith("#") else "text")
        return [*lines, BLANK]
