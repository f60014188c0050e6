"""The door of a simulated box: the same that changes real processes, before a kernel that has none."""

from collections.abc import Callable
from typing import Final

from msgspec.structs import replace

from gputop.core.mig.answers import MigProgress
from gputop.core.protocol.command import Change
from gputop.core.protocol.outcome import Outcome
from gputop.machine.control.audit import Audit
from gputop.machine.control.control import Control
from gputop.machine.control.handle import Holder
from gputop.machine.control.mig import MigControl
from gputop.machine.mig.assembly import of_box
from gputop.simulator import Box

_LABEL: Final = "SIMULATED"


class Unwritten(Audit):
    """An audit of what does not happen: nothing is written down."""

    def __init__(self) -> None:
        super().__init__("", "")

    def begin(self, change: Change) -> None:
        """Open no file, so that nothing is written."""


class SimulatedControl(Control):
    """A door whose outcomes say that they are simulated."""

    def execute(self, change: Change) -> Outcome:
        """Carry a change out on the simulated box."""
        outcome = super().execute(change)
        return replace(outcome, what=f"{_LABEL} {outcome.what}")


def control_of_box(box: Box, progress: Callable[[MigProgress], None] = lambda _: None) -> Control:
    """Return the door of a simulated box. Neither its /proc nor its kernel reaches a process of this machine."""
    holder = Holder(box.proc, box.users.get, box.kernel, frozenset())
    mig = MigControl(lambda: of_box(box).partitioner, progress)
    return SimulatedControl(box.proc, box.kernel, holder, Unwritten(), box.viewer, mig=mig)
