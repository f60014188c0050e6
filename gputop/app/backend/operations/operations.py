"""Operations: how gputop changes a box, and its readings besides samples."""

from collections.abc import Callable, Iterable
from typing import Protocol

from gputop.core.doctor.facts import Facts
from gputop.core.insight.explanation import Explanation
from gputop.core.inspection.inspection import Inspection
from gputop.core.mig.answers import MigProgress
from gputop.core.mig.model import Holders, MigGpu
from gputop.core.protocol.command import Change, Explain, Inspect, ReadStatus, Target
from gputop.core.protocol.outcome import Outcome
from gputop.core.protocol.process_status import ProcessStatuses


class Control(Protocol):
    """The only way to change a box."""

    def execute(self, change: Change) -> Outcome:
        """Execute a change. Never raises."""
        ...

    def living(self, targets: Iterable[Target]) -> tuple[Target, ...]:
        """Return the targets that still run."""
        ...


class MigReader(Protocol):
    """The MIG layouts of a box."""

    def gpus(self) -> tuple[MigGpu, ...]:
        """Return the layouts of all GPUs."""
        ...

    def holders(self, uuid: str, /) -> Holders | None:
        """Return the processes that have a GPU open."""
        ...

    def warnings(self) -> tuple[str, ...]:
        """Return warnings about other programs that change MIG layouts."""
        ...


class Operations(Protocol):
    """The operations on one kind of box. All but `inspect`, `explain` and `process_status` raise BadRequestError.

    Its parts open when they are first used.
    """

    def control(self, protected: frozenset[int], progress: Callable[[MigProgress], None]) -> Control:
        """Return the control. ``protected``: pids of gputop itself. ``progress``: receives MIG steps."""
        ...

    def inspect(self, question: Inspect) -> Inspection:
        """Return the inspection of a process."""
        ...

    def explain(self, question: Explain, send: Callable[[Explanation], None]) -> None:
        """Ask all sources of insight; send an explanation after each answer, the last one complete. Never raises."""
        ...

    def process_status(self, question: ReadStatus) -> ProcessStatuses:
        """Return which processes still run, and how they are scheduled."""
        ...

    def mig(self) -> MigReader:
        """Return the reader of MIG layouts. Raises NoDriverError."""
        ...

    def facts(self, expected: int | None) -> Facts:
        """Return the facts that the doctor judges. ``expected``: the expected number of GPUs."""
        ...
