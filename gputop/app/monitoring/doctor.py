"""Doctor: facts about the box, and the judgement of each."""

import os
import sys

from msgspec import Struct
from msgspec.structs import replace

from gputop.app.backend.backend import BackendRequest
from gputop.app.backend.operations.choice import open_operations
from gputop.app.terminal import print_json
from gputop.core.doctor.diagnose import diagnose
from gputop.machine.plugins.discover import Found


class DoctorRequest(Struct, frozen=True, kw_only=True):
    """A visit. ``expected``: how many GPUs there should be; ``plugins``: the installed ones.

    ``is_quiet``: print only problems.
    """

    demo: str | None = None
    expected: int | None = None
    plugins: tuple[Found, ...] = ()
    is_json: bool = False
    is_quiet: bool = False


def doctor(request: DoctorRequest) -> int:
    """Collect the facts, judge them, print the diagnosis, and return the exit status."""
    facts = open_operations(BackendRequest(demo=request.demo)).facts(request.expected)
    diagnosis = diagnose(replace(facts, plugins={found.entry.name: found.rejected for found in request.plugins}))
    if request.is_json:
        print_json(diagnosis)
    else:
        from gputop.report.doctor import problems, report
        from gputop.report.grid import look

        lines = (problems if request.is_quiet else report)(diagnosis, *look(sys.stdout, os.environ))
        print(lines, end="\n" if lines else "")
    return diagnosis.status
