"""Doctor: facts about the box, and the judgement of each."""

import os
from collections.abc import Mapping
from typing import TextIO

from msgspec import Struct
from msgspec.structs import replace

from gputop.app.backend.backend import BackendRequest
from gputop.app.backend.operations.choice import open_operations
from gputop.core.doctor.diagnose import diagnose
from gputop.core.doctor.verdict import Diagnosis


class DoctorRequest(Struct, frozen=True, kw_only=True):
    """An examination. ``expected``: the number of GPUs; ``plugins``: by name why each was rejected, if it was."""

    backend: BackendRequest
    expected: int | None = None
    plugins: Mapping[str, str] = {}


def examine(request: DoctorRequest) -> Diagnosis:
    """Collect the facts and judge them."""
    facts = open_operations(request.backend).facts(request.expected)
    return diagnose(replace(facts, plugins=request.plugins))


def encoded(diagnosis: Diagnosis) -> bytes:
    """Return a diagnosis as a line of JSON."""
    from gputop.wire.encoder import encode

    return encode(diagnosis)


def text(diagnosis: Diagnosis, out: TextIO) -> bytes:
    """Return a diagnosis as lines for ``out``."""
    from gputop.report.doctor import report
    from gputop.report.grid import look

    room, style = look(out, os.environ)
    return f"{report(diagnosis, room, style)}\n".encode(out.encoding or "utf-8", out.errors or "replace")
