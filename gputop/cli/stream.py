"""gputop stream: a frame a line until it is stopped. With --control it is the screen's sampler."""

import argparse
import gc
import sys

from gputop.cli.arguments import OK, add_common, whole
from gputop.cli.machine import monitored, opened
from gputop.wire.server import Rhythm, obey, serve


def add(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    parser.add_argument("--count", type=whole(1), metavar="N", help="end after so many frames")
    parser.add_argument("--control", action="store_true", help="obey commands on stdin, end when it closes")
    add_common(parser)


def run(options: argparse.Namespace) -> int:
    """Print frames."""
    source = opened(options, is_once=False)
    rhythm = Rhythm(source)
    if options.control:
        obey(sys.stdin.buffer, rhythm)
    gc.enable()
    gc.freeze()
    serve(monitored(source, options), sys.stdout.buffer, rhythm, options.count)
    return OK
