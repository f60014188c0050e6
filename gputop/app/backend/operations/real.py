"""Operations on this host."""

import os
from collections.abc import Callable
from functools import cache

from gputop.app.backend.operations.operations import Control, MigReader
from gputop.app.backend.operations.read_only import read_only_control
from gputop.core.doctor.facts import Facts
from gputop.core.insight.explanation import Explanation
from gputop.core.inspection.inspection import Inspection
from gputop.core.mig.answers import MigProgress
from gputop.core.protocol.command import Explain, Inspect, ReadStatus
from gputop.core.protocol.process_status import ProcessStatuses


class RealOperations:
    """Changes of this host, and questions about it. ``is_read_only``: as the user said; the settings may add it."""

    def __init__(self, *, is_read_only: bool = False) -> None:
        self._is_read_only = is_read_only

    def control(self, protected: frozenset[int], progress: Callable[[MigProgress], None]) -> Control:
        """Return the control of this host."""
        from gputop.machine.control.control import control_of_this_machine

        return control_of_this_machine(protected, progress)

    def inspect(self, question: Inspect) -> Inspection:
        """Inspect a process."""
        return _inspect()(question)

    def explain(self, question: Explain, send: Callable[[Explanation], None]) -> None:
        """Ask the sources of insight about processes."""
        from gputop.machine.insight.explainer import explainer_of_this_machine

        is_read_only = read_only_control(is_read_only=self._is_read_only) is not None
        explainer_of_this_machine(is_read_only=is_read_only).explain(question, send)

    def process_status(self, question: ReadStatus) -> ProcessStatuses:
        """Read the status of processes."""
        return _process_status()(question)

    def mig(self) -> MigReader:
        """Start the driver and return the reader of MIG layouts."""
        from gputop.machine.mig.assembly import partitioning_of_this_machine

        return partitioning_of_this_machine()

    def facts(self, expected: int | None) -> Facts:
        """Collect the facts; the number of expected GPUs is the user's, or else that of the configuration."""
        from gputop.machine.doctor.collect import collect, real_box

        return collect(real_box(), _expected() if expected is None else expected)


@cache
def _inspect() -> Callable[[Inspect], Inspection]:
    from gputop.machine.inspect.inspector import inspector_of_this_machine

    return inspector_of_this_machine().inspect


@cache
def _process_status() -> Callable[[ReadStatus], ProcessStatuses]:
    from gputop.machine.inspect.process_status import process_status_of_this_machine

    return process_status_of_this_machine().read


def _expected() -> int | None:
    """Return the number of expected GPUs in the configuration."""
    from gputop.machine.files.places import config_file

    if not os.path.exists(config_file()):
        return None
    from gputop.app.settings.settings_file import load

    return load(config_file())[0].expected_gpus or None
