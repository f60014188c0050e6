"""The partitioner: it runs a plan step by step, checks the result with the driver, and rolls back if a step fails.

Before the first step it takes the lock, and checks that the GPU is unchanged since the plan and that no process uses an
instance to destroy. After the last step the driver must report the planned layout. If the rollback fails too, it stops,
and the result names the current and the planned layout.
"""

from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager, ExitStack
from typing import Final

from msgspec import Struct

from gputop.core.mig.explain import pending, unreadable
from gputop.core.mig.model import MigGpu, User, layout
from gputop.core.mig.planner import plan_layout
from gputop.core.mig.steps import Plan, StepKind
from gputop.core.mig.text import reset_line, state_text
from gputop.core.model.metric import Missing
from gputop.core.protocol.outcome import Result, Status
from gputop.machine.mig.layout import LayoutReader
from gputop.machine.mig.lock import LockedError, mig_lock
from gputop.machine.mig.rights import Right, reading_right, right_for
from gputop.machine.mig.steps import PendingError, StepRunner
from gputop.machine.nvml import codes
from gputop.machine.nvml.driver import Driver, RefusedError

Report = Callable[[int, int, str, bool], None]  # steps done, of how many, what comes now, whether going back
_REASONS: Final = {
    codes.IN_USE: "the driver reports that it is in use",
    codes.INSUFFICIENT_RESOURCES: "the driver reports insufficient resources",
    codes.NOT_SUPPORTED: "the driver does not support it: MIG is off, this is a vGPU, or the driver is too old",
    codes.NOT_FOUND: "the instance no longer exists",
}


class Surroundings(Struct, frozen=True):
    """The parts of the host that a partitioner needs besides the driver.

    ``lock``: of a GPU; ``holders``: the processes that have a GPU open; ``keep``: saves the previous layout and
    returns the path; ``right``: the right that a step needs.
    """

    lock: Callable[[str], AbstractContextManager[None]] = mig_lock
    holders: Callable[[str], tuple[User, ...]] = lambda _: ()
    keep: Callable[[MigGpu], str] = lambda _: ""
    right: Callable[[StepKind], Right] = right_for


class Partitioner:
    """Changes the MIG layout of GPUs."""

    def __init__(self, driver: Driver, reader: LayoutReader, surroundings: Surroundings) -> None:
        self._driver = driver
        self._reader = reader
        self._around = surroundings

    def change(self, plan: Plan, report: Report, *, is_forced: bool = False) -> Result:
        """Run a plan. Driver errors become results. ``report``: called before each step."""
        with ExitStack() as stack:
            try:
                stack.enter_context(self._around.lock(plan.gpu))
            except LockedError as locked:
                holder = f"process {locked.pid}" if locked.pid else "another gputop"
                return _result(
                    plan, Status.REFUSED, f"{holder} is changing this GPU right now", "Wait until it is done."
                )
            except OSError as error:
                return _result(plan, Status.FAILED, f"cannot lock the GPU against a second gputop: {error.strerror}")
            return self._change(plan, report, is_forced=is_forced)

    def _change(self, plan: Plan, report: Report, *, is_forced: bool) -> Result:
        before = self._read(plan)
        if before is None:
            return _result(plan, Status.FAILED, "the driver no longer lists this GPU")
        refusal = self._refusal(plan, before, is_forced=is_forced)
        if refusal is not None:
            return refusal
        kept = self._around.keep(before) if plan.steps else ""
        runner = StepRunner(self._driver, before)
        problem = self._run(plan, runner, report) or self._mismatch(plan)
        if problem is None:
            text = state_text(plan.after, is_on=plan.is_on)
            return _result(plan, Status.DONE, "" if plan.steps else "already in this layout", after=text)
        if problem.status is Status.PENDING:
            return problem
        now = self._read(plan)
        if now is not None and _is_same(now, before):
            return _as_before(plan, problem, now)
        return self._roll_back(plan, runner, report, problem, kept)

    def _run(self, plan: Plan, runner: StepRunner, report: Report) -> Result | None:
        """Run the steps; return the failure, or None."""
        number = 0
        try:
            for number, step in enumerate(plan.steps):
                report(number, len(plan.steps), step.text, False)
                runner.run(step)
        except PendingError as pending:
            return _pending(plan, number) if pending.code == codes.RESET_REQUIRED else self._busy(plan, number)
        except RefusedError as error:
            return self._failed(plan, number, error)
        except KeyboardInterrupt:
            return _result(plan, Status.FAILED, f"interrupted at {_where(plan, number)}")
        return None

    def _mismatch(self, plan: Plan) -> Result | None:
        """Return a failure if the driver reports another layout than the plan's."""
        after = self._read(plan)
        is_settled = after is not None and after.is_on_next in (None, plan.is_on)
        if after is not None and is_settled and _is(after, plan.after, is_on=plan.is_on):
            return None
        found = "not readable" if after is None else _text(after)
        return _result(plan, Status.FAILED, f"the driver accepted every step, but then reported: {found}")

    def _refusal(self, plan: Plan, gpu: MigGpu, *, is_forced: bool) -> Result | None:
        """Return why the plan cannot start, or None."""
        is_mode_alone = all(step.kind in (StepKind.ENABLE, StepKind.DISABLE) for step in plan.steps)
        obstacle = unreadable(gpu) or ("" if is_mode_alone else pending(gpu))
        if Missing.FORBIDDEN in gpu.missing.values():
            right = reading_right()
            return _result(plan, Status.NOT_PERMITTED, right.detail, right.remedy)
        if obstacle:
            return _result(plan, Status.REFUSED, obstacle)
        if not _is(gpu, plan.before, is_on=plan.was_on):
            now = state_text(layout(gpu.instances), is_on=bool(gpu.is_on))
            return _result(plan, Status.REFUSED, f"the layout has changed since the plan: {now}", "Plan again.")
        users = () if is_forced else _in_the_way(gpu, plan)
        if users:
            return _result(plan, Status.REFUSED, f"in use: {_texts(users)}", _how(users))
        return None

    def _roll_back(self, plan: Plan, runner: StepRunner, report: Report, problem: Result, kept: str) -> Result:
        """Roll back to the previous layout; the result reports the first failure in any case."""
        now = self._read(plan)
        way = None if now is None else plan_layout(now, plan.before, is_on=plan.was_on, is_forced=True)
        second = "" if way is None else _rollback_failure(way, runner, report)
        after = self._read(plan)
        if after is not None and not second and _is(after, plan.before, is_on=plan.was_on):
            return _as_before(plan, problem, after)
        found = "not readable" if after is None else _text(after)
        detail = (
            f"{problem.detail}. The rollback failed too{': ' + second if second else ''}. "
            f"Now: {found}. Planned: {state_text(plan.after, is_on=plan.is_on)}. "
            f"Before: {state_text(plan.before, is_on=plan.was_on)}"
        )
        remedy = (
            f"{problem.remedy} To retry the rollback: gputop mig restore {kept}".strip() if kept else problem.remedy
        )
        return _result(plan, Status.FAILED, detail, remedy, after=found)

    def _failed(self, plan: Plan, number: int, error: RefusedError) -> Result:
        if error.code == codes.NO_PERMISSION:
            right = self._around.right(plan.steps[number].kind)
            detail = f"{_where(plan, number)}: {right.detail}"
            return _result(plan, Status.NOT_PERMITTED, detail, right.remedy)
        if error.code == codes.IN_USE:
            return self._busy(plan, number)
        return _result(plan, Status.FAILED, f"{_where(plan, number)}: {_code_text(error)}")

    def _busy(self, plan: Plan, number: int) -> Result:
        """Build the failure of a busy instance, with all its processes, listed by the driver or not."""
        now = self._read(plan)
        users = {user.pid: user for user in (now.everyone if now else ())}
        users |= {user.pid: user for user in self._around.holders(plan.gpu)}
        who = f" by {_texts(users.values())}" if users else "; no process visible from here has it open"
        remedy = (
            _how(users.values())
            if users
            else "Run with sudo to see other users' processes, nv-hostengine and containers."
        )
        return _result(plan, Status.FAILED, f"{_where(plan, number)}: {_REASONS[codes.IN_USE]}{who}", remedy)

    def _read(self, plan: Plan) -> MigGpu | None:
        handle = self._driver.ask("nvmlDeviceGetHandleByUUID", plan.gpu)
        return None if isinstance(handle, Missing) else self._reader.read(plan.index, handle)


def _is(gpu: MigGpu, wanted: Sequence[object], *, is_on: bool) -> bool:
    return bool(gpu.is_on) is is_on and layout(gpu.instances) == tuple(wanted) and not gpu.missing


def _is_same(now: MigGpu, before: MigGpu) -> bool:
    """Say whether layout, mode and pending mode are unchanged."""
    modes = (now.is_on, now.is_on_next) == (before.is_on, before.is_on_next)
    return modes and layout(now.instances) == layout(before.instances) and not now.missing


def _as_before(plan: Plan, problem: Result, gpu: MigGpu) -> Result:
    detail = f"{problem.detail}. The layout is as before"
    return _result(plan, problem.status, detail, problem.remedy, after=_text(gpu))


def _in_the_way(gpu: MigGpu, plan: Plan) -> tuple[User, ...]:
    """Return the processes on instances that the plan destroys; for a mode change, all processes."""
    if plan.changes_mode:
        return gpu.everyone
    lost = [step for step in plan.steps if step.kind in (StepKind.DESTROY_COMPUTE, StepKind.DESTROY_INSTANCE)]
    whole = {(step.profile, step.start) for step in lost if step.kind is StepKind.DESTROY_INSTANCE}
    parts = {(step.profile, step.start, step.compute_start) for step in lost}
    found: dict[int, User] = {}
    for instance in gpu.instances:
        place = (instance.profile, instance.start or 0)
        if place in whole:
            found |= {user.pid: user for user in instance.everyone}
        for compute in instance.computes:
            if (*place, compute.start or 0) in parts:
                found |= {user.pid: user for user in compute.users}
    return tuple(found.values())


def _rollback_failure(way: Plan, runner: StepRunner, report: Report) -> str:
    """Run the steps of a rollback; return the failure as text, empty if it succeeded."""
    number = 0
    try:
        for number, step in enumerate(way.steps):
            report(number, len(way.steps), step.text, True)
            runner.run(step)
    except (RefusedError, PendingError) as error:
        return f"{way.steps[number].text}: {_code_text(error)}"
    except KeyboardInterrupt:
        return f"interrupted at {way.steps[number].text}"
    return ""


def _where(plan: Plan, number: int) -> str:
    return f"step {number + 1} of {len(plan.steps)}, {plan.steps[number].text}"


def _pending(plan: Plan, number: int) -> Result:
    rest = len(plan.steps) - number - 1
    remedy = f"Stop all programs that use the GPU, then run {reset_line(plan.index)} (or reboot)"
    if rest:
        remedy += f"; then repeat the request for the other {rest} steps"
    return _result(plan, Status.PENDING, f"{_where(plan, number)}: takes effect when the GPU is reset", f"{remedy}.")


def _code_text(error: RefusedError | PendingError) -> str:
    return _REASONS.get(error.code, f"NVML error {error.code}")


def _texts(users: Iterable[User]) -> str:
    return ", ".join(user.text for user in users)


def _how(users: Iterable[User]) -> str:
    ways = dict.fromkeys(user.how for user in users if user.how)
    return f"To end them: {'; '.join(ways)}" if ways else ""


def _text(gpu: MigGpu) -> str:
    return state_text(layout(gpu.instances), is_on=bool(gpu.is_on))


def _result(plan: Plan, status: Status, detail: str = "", remedy: str = "", *, after: str | None = None) -> Result:
    before = state_text(plan.before, is_on=plan.was_on)
    return Result(
        gpu=plan.index,
        status=status,
        detail=detail,
        remedy=remedy,
        before=None if after is None else before,
        after=after,
    )
