"""Stream: a frame a line, until a signal ends it."""

import sys

from msgspec import Struct

from gputop.app.backend.backend import BackendRequest
from gputop.app.monitoring.frames import frames, open_source
from gputop.app.terminal import warn
from gputop.lazy_imports import collect_seldom
from gputop.wire.server import Lines, Rhythm, serve


class StreamRequest(Struct, frozen=True, kw_only=True):
    """A stream. ``count``: of frames; None: unlimited."""

    backend: BackendRequest
    count: int | None = None


def stream(request: StreamRequest) -> None:
    """Write frames."""
    source = open_source(request.backend, is_once=False)
    rhythm, lines = Rhythm(source), Lines(sys.stdout.buffer)
    collect_seldom()
    serve(frames(source, request.backend, notify=warn), lines, rhythm, request.count)
