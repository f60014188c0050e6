"""Control of a simulated box: the code that changes real processes, above a simulated kernel."""

from collections.abc import Callable
from contextlib import nullcontext
from typing import Any, Final

from msgspec.structs import replace

from gputop.core.mig.answers import MigProgress
from gputop.core.protocol.command import Change
from gputop.core.protocol.outcome import Outcome
from gputop.machine.control.audit import Audit
from gputop.machine.control.control import Control
from gputop.machine.control.handle import TargetOpener
from gputop.machine.control.mig import MigControl
from gputop.machine.control.mps import MpsWork
from gputop.machine.mig.assembly import Around, Partitioning, partitioning
from gputop.machine.nvml.driver import Driver
from gputop.machine.proc.procfs import Proc
from gputop.simulator import Box

_LABEL: Final = "SIMULATED"


class Unwritten(Audit):
    """An audit log of simulated changes, which writes nothing."""

    def __init__(self) -> None:
        super().__init__("", "")

    def begin(self, change: Change) -> None:
        """Open no file."""


class SimulatedControl(Control):
    """A control whose outcomes are labelled as simulated."""

    def execute(self, change: Change) -> Outcome:
        """Execute a change on the simulated box."""
        outcome = super().execute(change)
        return replace(outcome, what=f"{_LABEL} {outcome.what}")


def control_of_box(box: Box, progress: Callable[[MigProgress], None] = lambda _: None) -> Control:
    """Return the control of a simulated box. Its /proc and its kernel do not reach any process of this machine."""
    opener = TargetOpener(box.proc, box.users.get, box.kernel, frozenset())
    mig = MigControl(lambda: partitioning_of_box(box.driver, box.proc, box.users.get).partitioner, progress)
    return SimulatedControl(
        box.proc, box.kernel, opener, Unwritten(), box.viewer, mig=mig, mps=MpsWork(lambda *_: box.mps.daemon())
    )


def partitioning_of_box(functions: Any, proc: Proc, users: Callable[[int], str | None]) -> Partitioning:
    """Return the MIG parts of a box. ``functions``: its driver. They need no lock, and write no file."""
    driver = Driver(functions)
    driver.start()
    around = Around(lock=lambda _: nullcontext(), keep=lambda _: "", exists=lambda _: False)
    return partitioning(driver, proc, users, around)
