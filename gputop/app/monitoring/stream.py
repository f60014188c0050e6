"""Stream: a frame a line, until a signal ends it."""

from collections.abc import Callable
from typing import BinaryIO

from gputop.app.backend.choice import open_backend
from gputop.app.monitoring.frames import FramesRequest, frames, open_source, watch_host
from gputop.lazy_imports import collect_seldom
from gputop.wire.server import Lines, Rhythm, serve


class StreamRequest(FramesRequest, frozen=True, kw_only=True):
    """A stream. ``count``: of frames; None: unlimited."""

    count: int | None = None


def stream(request: StreamRequest, out: BinaryIO, notify: Callable[[str], None] | None) -> None:
    """Write frames. ``notify``: receives a line if the configuration has mistakes."""
    backend = open_backend(request.backend)
    source = open_source(backend, is_once=False)
    watch_host(source, request)
    rhythm, lines = Rhythm(source), Lines(out)
    collect_seldom()
    serve(frames(source, backend, request, notify=notify), lines, rhythm, request.count)
