"""Operations on a simulated box."""

from collections.abc import Callable

from gputop.app.backend.operations.operations import Control, MigReader
from gputop.app.backend.simulated import box_named
from gputop.core.doctor.facts import Facts
from gputop.core.insight.explanation import Explanation
from gputop.core.inspection.inspection import Inspection
from gputop.core.mig.answers import MigProgress
from gputop.core.protocol.command import Explain, Inspect, ReadStatus
from gputop.core.protocol.process_status import ProcessStatuses


class SimulatedOperations:
    """Changes of a simulated box, and questions about it. ``name``: of the box."""

    def __init__(self, name: str) -> None:
        self._name = name

    def control(self, protected: frozenset[int], progress: Callable[[MigProgress], None]) -> Control:
        """Return the control of the box, on which gputop itself does not run."""
        del protected
        from gputop.simulator.control import control_of_box

        return control_of_box(box_named(self._name), progress)

    def inspect(self, question: Inspect) -> Inspection:
        """Inspect a process of the box."""
        from gputop.simulator.readers import inspector_of_box

        return inspector_of_box(box_named(self._name)).inspect(question)

    def explain(self, question: Explain, send: Callable[[Explanation], None]) -> None:
        """Ask the sources of insight about processes of the box."""
        from gputop.simulator.insight import explainer_of_box

        explainer_of_box(box_named(self._name)).explain(question, send)

    def process_status(self, question: ReadStatus) -> ProcessStatuses:
        """Read the status of processes of the box."""
        from gputop.simulator.readers import process_status_of_box

        return process_status_of_box(box_named(self._name)).read(question)

    def mig(self) -> MigReader:
        """Return the reader of the MIG layouts of the box."""
        from gputop.simulator.control import partitioning_of_box

        box = box_named(self._name)
        return partitioning_of_box(box.driver, box.proc, box.users.get)

    def facts(self, expected: int | None) -> Facts:
        """Collect the facts of the box."""
        from gputop.machine.doctor.collect import collect
        from gputop.simulator.readers import doctor_box

        return collect(doctor_box(box_named(self._name)), expected)
