"""gputop record: frames into a file, to be looked at later."""

import argparse
import os
import sys
from collections.abc import Callable
from functools import partial
from typing import Final

from gputop.cli.args.exits import BAD_INPUT, OK, fail, warn
from gputop.cli.args.interrupts import StopRequest
from gputop.cli.args.options import add_common, add_ending, duration
from gputop.cli.backend.monitoring import monitored, opened
from gputop.core.model.sample import Frame
from gputop.core.recording.recording import Recording
from gputop.core.text.text import clean
from gputop.lazy_imports import collect_seldom
from gputop.wire.server import Rhythm
from gputop.wire.tape.file import TapeFile, cannot_record, stopped
from gputop.wire.tape.writer import Out, TapeWriter

_CUT_SHORT: Final = 1
_STDOUT: Final = "-"


def add(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    parser.add_argument("file", metavar="FILE", help="a new file; - for standard output")
    parser.add_argument(
        "--for",
        dest="duration",
        type=duration,
        metavar="DURATION",
        help="how long, such as 90s, 10m, 1h30m (default: until Ctrl-C)",
    )
    parser.add_argument("--force", action="store_true", help="overwrite the file if it is there")
    add_common(parser)
    add_ending(
        parser, "gputop record night.tape --for 8h --interval 5", status="0 done, 1 cut short, 2 bad input, 3 no driver"
    )


def run(options: argparse.Namespace) -> int:
    """Record until the time is over, somebody ends it, or the file takes no more."""
    source = opened(options, is_once=False)
    out = _created(options.file, is_forced=options.force)
    rhythm = Rhythm(source)
    end = StopRequest(rhythm.hurry)
    step = monitored(source, options, tell=warn)
    collect_seldom()
    name = clean(options.file)
    print(f"gputop: recording to {name} every {source.interval_s:g}s; Ctrl-C ends it", file=sys.stderr)
    writer = TapeWriter(out)
    problem = ""
    try:
        is_over = partial(_is_over, writer, end, options.duration, source.interval_s)
        record(step, writer, rhythm.wait, is_over)
    except OSError as error:
        problem = stopped(options.file, error)
    told = Recording(path=options.file, frames=writer.frames, bytes=writer.bytes, seconds=writer.seconds).text
    print(f"gputop: {problem}; {told}" if problem else f"gputop: {told} in {name}", file=sys.stderr)
    return _CUT_SHORT if problem else OK


def record(
    step: Callable[[], Frame], writer: TapeWriter, wait: Callable[[], None], is_over: Callable[[], bool]
) -> None:
    """Write frames until it is over. Raises OSError where the file takes no more."""
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
        """Write some of it; return how much."""
        return os.write(sys.stdout.fileno(), raw)


def _created(path: str, *, is_forced: bool) -> Out:
    if path == _STDOUT:
        if sys.stdout.isatty():
            fail(BAD_INPUT, "a tape is nothing for a terminal: name a file, or pipe it somewhere")
        return Stdout()
    try:
        return TapeFile(path, force=is_forced)
    except OSError as error:
        remedy = ". --force overwrites it" if isinstance(error, FileExistsError) else ""
        fail(BAD_INPUT, cannot_record(path, error) + remedy)


def _is_over(writer: TapeWriter, end: StopRequest, duration_s: float | None, interval_s: float) -> bool:
    return end.is_wanted or (duration_s is not None and writer.seconds + interval_s / 2 >= duration_s)
