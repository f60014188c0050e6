"""Record: frames into a file, for replay and analyse."""

import os
import sys
from collections.abc import Callable
from typing import Final

from msgspec import Struct

from gputop.app.backend.backend import BackendRequest
from gputop.app.errors import OK, BadRequestError
from gputop.app.interrupts import StopRequest
from gputop.app.monitoring.frames import frames, open_source
from gputop.app.terminal import warn
from gputop.core.model.sample import Frame
from gputop.core.recording.recording import Recording
from gputop.core.text.text import clean
from gputop.lazy_imports import collect_seldom
from gputop.machine.files.output import create_output
from gputop.wire.server import Rhythm
from gputop.wire.tape.file import TapeFile, cannot_record, stopped
from gputop.wire.tape.writer import Out, TapeWriter

_CUT_SHORT: Final = 1
_STDOUT: Final = "-"


class RecordRequest(Struct, frozen=True, kw_only=True):
    """A recording. ``path``: a new file, or - for standard output. ``duration_s``: None: until a signal ends it."""

    backend: BackendRequest
    path: str
    duration_s: float | None = None
    is_forced: bool = False


def record(request: RecordRequest) -> int:
    """Record until the time is over, a signal ends it, or the file takes no more; return the exit status."""
    source = open_source(request.backend, is_once=False)
    out = _created(request)
    rhythm = Rhythm(source)
    stop = StopRequest(rhythm.hurry)
    step = frames(source, request.backend, notify=warn)
    collect_seldom()
    name = clean(request.path)
    warn(f"recording to {name} every {source.interval_s:g}s; press Ctrl-C to stop")
    writer = TapeWriter(out)
    problem = ""

    def is_over() -> bool:
        in_time = request.duration_s is None or writer.seconds + source.interval_s / 2 < request.duration_s
        return stop.is_wanted or not in_time

    try:
        write_frames(step, writer, rhythm.wait, is_over)
    except OSError as error:
        problem = stopped(request.path, error)
    sum_ = Recording(path=request.path, frames=writer.frames, bytes=writer.bytes, seconds=writer.seconds).text
    warn(f"{problem}; {sum_}" if problem else f"{sum_} in {name}")
    return _CUT_SHORT if problem else OK


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
        return TapeFile(create_output(request.path, replaces=request.is_forced))
    except OSError as error:
        remedy = ". To overwrite it, add --force" if isinstance(error, FileExistsError) else ""
        raise BadRequestError(cannot_record(request.path, error) + remedy) from None
