"""The MIG part of `Control`. The first change starts the driver."""

from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Protocol

from gputop.core.mig.answers import MigProgress
from gputop.core.mig.steps import Plan
from gputop.core.protocol.command import ChangeMig
from gputop.core.protocol.outcome import Result, Status
from gputop.machine.control.audit import Audit
from gputop.machine.nvml.driver import NoDriverError


class Changer(Protocol):
    """An executor of plans: `machine.mig.partitioner.Partitioner`."""

    def change(self, plan: Plan, tell: Callable[[int, int, str, bool], None], *, is_forced: bool = False) -> Result:
        """Execute a plan. Never raises for a driver error."""
        ...


class MigControl:
    """Executes plans, one GPU after the other. ``opened``: starts the driver. ``progress``: receives each step."""

    def __init__(self, opened: Callable[[], Changer], progress: Callable[[MigProgress], None]) -> None:
        self._opened = opened
        self._progress = progress
        self._held: Changer | None = None

    def settle(self, change: ChangeMig, audit: Audit) -> tuple[Result, ...]:
        """Return the result for each GPU; after a failure the remaining GPUs are not changed."""
        return tuple(self._results(change, audit))

    def _results(self, change: ChangeMig, audit: Audit) -> Iterator[Result]:
        failed: int | None = None
        for plan in change.plans:
            if failed is not None:
                yield Result(gpu=plan.index, status=Status.REFUSED, detail=f"not started, because GPU {failed} failed")
                continue
            audit.intend_plan(plan)
            result = self._carry_out(plan, change)
            audit.conclude_plan(plan, result)
            if result.status is not Status.DONE:
                failed = plan.index
            yield result

    def _carry_out(self, plan: Plan, change: ChangeMig) -> Result:
        def tell(done: int, total: int, text: str, is_going_back: bool) -> None:  # noqa: FBT001 - of the protocol
            step = MigProgress(
                id=change.id, index=plan.index, done=done, total=total, text=text, is_going_back=is_going_back
            )
            with suppress(OSError):  # the reader of the progress exited; to stop half-way would be worse
                self._progress(step)

        try:
            self._held = self._held or self._opened()
        except NoDriverError as error:
            return Result(gpu=plan.index, status=Status.FAILED, detail=str(error))
        return self._held.change(plan, tell, is_forced=change.is_forced)


def partitioner_of_this_machine() -> Changer:
    """Start the driver of this machine. Raises NoDriverError."""
    from gputop.machine.mig.assembly import partitioning_of_this_machine  # noqa: PLC0415 - the driver's binding is heavy

    return partitioning_of_this_machine().partitioner
