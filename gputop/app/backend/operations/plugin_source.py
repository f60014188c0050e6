"""Operations on the samples of a plugin's source: each refuses."""

from collections.abc import Callable
from typing import Final, NoReturn

from gputop.app.backend.operations.operations import Control
from gputop.app.backend.operations.read_only import ReadOnlyControl
from gputop.app.errors import BadRequestError
from gputop.core.insight.explanation import Explanation
from gputop.core.inspection.inspection import Inspection
from gputop.core.mig.answers import MigProgress
from gputop.core.protocol.command import Explain, Inspect, ReadStatus
from gputop.core.protocol.process_status import ProcessStatuses

_CONTROL: Final = "the samples come from a plugin's source: gputop cannot change that host from here"
_REMEDY: Final = "Change it on the host that the samples come from."
_INSPECT: Final = "a plugin's source provides no process details beyond the table"
_EXPLAIN: Final = "a plugin's source cannot ask the processes of its host"
_MIG: Final = "a plugin's source does not report MIG layouts"
_FACTS: Final = "a plugin's source provides no facts for the doctor"


class PluginOperations:
    """Refusals, with a message for each operation."""

    def control(self, protected: frozenset[int], progress: Callable[[MigProgress], None]) -> Control:
        """Return a control that refuses every change."""
        del protected, progress
        return ReadOnlyControl(_CONTROL, _REMEDY)

    def inspect(self, question: Inspect) -> Inspection:
        """Return that there are no details of the process."""
        return Inspection(id=question.id, pid=question.pid, problem=_INSPECT)

    def explain(self, question: Explain, send: Callable[[Explanation], None]) -> None:
        """Send that nothing can be asked."""
        send(Explanation(id=question.id, members=question.members, is_complete=True, problem=_EXPLAIN))

    def process_status(self, question: ReadStatus) -> ProcessStatuses:
        """Return that the status is unknown."""
        return ProcessStatuses(id=question.id, statuses=())

    def mig(self) -> NoReturn:
        """Refuse."""
        raise BadRequestError(_MIG)

    def facts(self, expected: int | None) -> NoReturn:
        """Refuse."""
        del expected
        raise BadRequestError(_FACTS)
