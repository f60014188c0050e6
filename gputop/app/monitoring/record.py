"""Record: frames into a file, for replay and analyse."""

import os
import sys
from collections.abc import Callable
from functools import partial
from typing import Final

from gputop.app.backend.choice import open_backend
from gputop.app.errors import BadRequestError
from gputop.app.interrupts import StopRequest
from gputop.app.monitoring.frames import FramesRequest, frames, open_source
from gputop.core.model.sample import Frame
from gputop.core.recording.recording import Recording
from gputop.core.text.text import clean
from gputop.lazy_imports import collect_seldom
from gputop.wire.server import Rhythm
from gputop.wire.tape.file import TapeFile, cannot_record, stopped
from gputop.wire.tape.writer import Out, TapeWriter

_STDOUT: Final = "-"


class RecordRequest(FramesRequest, frozen=True, kw_only=True):
    """A recording. ``path``: a new file, or - for standard output. ``duration_s``: None: until a signal ends it."""

    path: str
    duration_s: float | None = None
    is_forced: bool = False


def record(request: RecordRequest, notify: Callable[[str], None]) -> bool:
    """Record until the time is over, a signal ends it, or the file accepts no more; return whether it is complete.

    ``notify``: receives lines for the user.
    """
    backend = open_backend(request.backend)
    source = open_source(backend, is_once=False)
    out = _created(request)
    rhythm = Rhythm(source)
    stop = StopRequest(rhythm.hurry)
    step = frames(source, backend, request, notify=notify)
    collect_seldom()
    name = clean(request.path)
    notify(f"recording to {name} every {source.interval_s:g}s; Ctrl-C ends it")
    writer = TapeWriter(out)
    problem = ""
    try:
        write_frames(step, writer, rhythm.wait, partial(_is_over, writer, stop, request, source.interval_s))
    except OSError as error:
        problem = stopped(request.path, error)
    sum_ = Recording(path=request.path, frames=writer.frames, bytes=writer.bytes, seconds=writer.seconds).text
    notify(f"{problem}; {sum_}" if problem else f"{sum_} in {name}")
    return not problem


def write_frames(
    step: Callable[[], Frame], writer: TapeWriter, wait: Callable[[], None], is_over: Callable[[], bool]
) -> None:
    """Write frames until it is over. Raises OSError if the file accepts no more."""
    while True:
        writer.write(step())
        if is_over():
            break
        wait()
        if is_over():
            break
    writer.close()


class Stdout:
    """Standard output, as a pipe or a file."""

    def write(self, raw: memoryview) -> int:
        """Write a part of ``raw``; return its length."""
        return os.write(sys.stdout.fileno(), raw)


def _created(request: RecordRequest) -> Out:
    if request.path == _STDOUT:
        if sys.stdout.isatty():
            raise BadRequestError("a recording is unreadable on a terminal: name a file, or use a pipe")
        return Stdout()
    try:
        return TapeFile(request.path, force=request.is_forced)
    except OSError as error:
        remedy = ". To overwrite it, add --force" if isinstance(error, FileExistsError) else ""
        raise BadRequestError(cannot_record(request.path, error) + remedy) from None


def _is_over(writer: TapeWriter, stop: StopRequest, request: RecordRequest, interval_s: float) -> bool:
    return stop.is_wanted or (request.duration_s is not None and writer.seconds + interval_s / 2 >= request.duration_s)
