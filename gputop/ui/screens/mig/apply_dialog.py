"""Dialog that applies a MIG plan: the plan and the question, then each step, then the result."""

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
    """Asks before it applies a plan; only `y` does. It returns whether the user wants to copy a setting.

    ``begin`` starts the change and returns its id. The change goes on if the user closes the dialog.
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
        self._is_fresh = False  # whether the layout was read after the change
        self._is_stale = False  # whether another program changed the GPU after the plan was made
        self._is_asking = plan.changes_mode  # whether the list of processes that have the GPU open is pending
        self._holders: Holders | None = None

    def carry_out(self) -> None:
        """Start the change once; a mode change first needs the list of processes that have the GPU open."""
        if self.wants_holders and self._is_asking:
            self.notify("checking which processes have this GPU open…", timeout=3)
        elif not self.change_id and not self._is_stale:
            self.top = 0
            self.change_id = self._begin(self._plan)
            self.redraw()

    @property
    def wants_holders(self) -> str:
        """The uuid of the GPU before a mode change, which needs the processes that have it open; else empty."""
        return self._plan.gpu if self._plan.changes_mode and not self.change_id else ""

    def held_by(self, holders: Holders | None) -> None:
        """Take the processes that have the GPU open; None: they are unknown."""
        if self.wants_holders:
            self._is_asking, self._holders = False, holders
            self.redraw()

    def show_progress(self, progress: MigProgress) -> None:
        """Show the step that begins."""
        if progress.index == self._plan.index and self.change_id and self.outcome is None:
            self.progress.append(progress)
            self.redraw()
            self.scroll_page_to(FAR)

    def end(self, outcome: Outcome) -> bool:
        """Show the result; return whether this dialog started the change."""
        if not self.change_id or outcome.id != self.change_id:
            return False
        self.outcome = outcome
        self.ink = "accent" if outcome.all_worked else "warm" if self._waits else "hot"
        self.top = 0
        self.redraw()
        return True

    def take(self, gpu: MigGpu) -> None:
        """Take the present layout; before the answer, a layout other than the planned one makes the plan stale."""
        if gpu.uuid != self._plan.gpu:
            return
        if self.outcome is not None:
            self._gpu, self._is_fresh = gpu, True
        elif not self.change_id:
            self._is_stale = (bool(gpu.is_on), layout(gpu.instances)) != (self._plan.was_on, self._plan.before)
        self.redraw()

    def copy(self) -> None:
        """Close the dialog and choose a setting to copy."""
        if self.outcome is not None and self._is_fresh:
            self.dismiss(True)

    def title_line(self) -> str:
        """Return the state of the change."""
        whose = f"MIG of GPU {self._plan.index}"
        if self.outcome is not None:
            done = "done and verified" if self.outcome.all_worked else "failed"
            end = "waits for a reset" if self._waits else done
            return f"{whose} · {end}"
        return f"{whose} · changing" if self.change_id else f"Change {whose}?"

    def keys_line(self) -> str:
        """Return the keys."""
        name = self.name_of
        if self.outcome is not None:
            copies = f"{name('mig-copy')} copy a setting · " if self._is_fresh and self.outcome.all_worked else ""
            return f"{copies}{name('back')} close"
        if self.change_id:
            return f"{name('back')} leave this page; the change goes on"
        if self._is_stale:
            return f"({name('yes')} disabled: plan is out of date) · {name('back')} back, plan again"
        if self.wants_holders and self._is_asking:
            return f"({name('yes')} disabled until checked) · {name('back')} cancel"
        return f"{name('yes')} apply the plan · {name('back')} cancel"

    def page(self, width: int, height: int) -> Sequence[Line]:  # noqa: ARG002 - it scrolls
        """Return the plan, the steps, or the result."""
        lines = self._question(width) if not self.change_id else self._steps(width)
        if self.outcome is not None:
            lines = self._ended(self.outcome, width) + (lines if self.progress else [])
        return lines

    @property
    def _waits(self) -> bool:
        """Whether the new MIG mode waits for a GPU reset."""
        return self.outcome is not None and any(one.status is Status.PENDING for one in self.outcome.results)

    def _question(self, width: int) -> list[Line]:
        gone = "! This GPU has changed since the plan was made, so the plan no longer fits. Go back and plan again."
        lines = [*paragraph(gone, width, "hot"), BLANK] if self._is_stale else []
        lines += coloured(plan_lines(self._gpu, self._plan), width)
        for held in self._held_lines() if self._plan.changes_mode else ():
            lines += paragraph(held, width, "warm", 2)
        for warning in self._warnings:
            lines += paragraph(f"! {warning}", width, "warm", 2)
        again = "If a step fails, gputop rolls back to the layout before, and checks the result with the driver."
        lines += [BLANK, *paragraph(again, width, "muted"), BLANK]
        lines += paragraph("The same with nvidia-smi (ID: the instance created just before):", width, "muted")
        return lines + [Line(((f"  {line}", "muted"),)) for line in smi_lines(self._plan.index, self._plan.steps)]

    def _held_lines(self) -> list[str]:
        if self._is_asking:
            return ["checking which processes have this GPU open…"]
        return [f"! {line}" for line in holder_lines(self._holders)] or ["No process seems to have this GPU open."]

    def _steps(self, width: int) -> list[Line]:
        """Return the steps, each marked as done, running or failed, and the rollback if there was one."""
        total = len(self._plan.steps)
        lines = [Line((("Steps", "accent"),))]
        for at, step in enumerate(self._plan.steps):
            mark, ink = self._mark(at)
            lines += paragraph(f"{mark:<4} {at + 1}/{total} {step.text}", width, ink)
        back = [each for each in self.progress if each.is_going_back]
        lines += [BLANK, Line((("Rolling back", "warm"),))] if back else []
        for each in back:
            lines += paragraph(f"     {each.done + 1}/{each.total} {each.text}", width, "warm")
        if not self.progress and self.outcome is None:
            lines += [BLANK, *paragraph("starting…", width, "muted")]
        return lines

    def _mark(self, at: int) -> tuple[str, str]:
        """Return the state of a step, and its ink."""
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
        """Return the GPU with its new instances first."""
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
            lines += [BLANK, Line((("How to use the instances", "accent"),))] if use else []
            for line in use:
                lines += paragraph(line, width, "muted" if line.startswith("#") else "text")
        return [*lines, BLANK]
