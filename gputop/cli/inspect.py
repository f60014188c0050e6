"""gputop inspect: all that /proc tells about one process."""

import argparse
import sys
from typing import Final

from gputop.cli.arguments import BAD_INPUT, OK, fail, whole
from gputop.cli.lookout import opened_lookout
from gputop.core.command import Inspect
from gputop.core.inspection import Inspection

_NOTHING: Final = 4  # as where a signal reached nobody


def add(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    parser.add_argument("pid", type=whole(1), metavar="PID", help="the process")
    parser.add_argument("--json", action="store_true", help="one line of JSON, with the reason where a part is missing")
    parser.add_argument("--reveal", action="store_true", help="with the values of secrets in its environment")
    parser.add_argument(
        "--demo", nargs="?", const="training", default=argparse.SUPPRESS, metavar="BOX",
        help="a process of a simulated box; write it behind the PID",
    )  # fmt: skip


def run(options: argparse.Namespace) -> int:
    """Look and print."""
    try:
        found = opened_lookout(options)(Inspect(id="", pid=options.pid, reveal=options.reveal))
    except ValueError as error:
        fail(BAD_INPUT, str(error))
    if found.problem and not options.json:
        fail(_NOTHING, f"{options.pid}: {found.problem}")
    sys.stdout.buffer.write(_json(found) if options.json else _text(found))
    return _NOTHING if found.problem else OK


def _json(found: Inspection) -> bytes:
    from gputop.wire.encode import encode

    return encode(found)


def _text(found: Inspection) -> bytes:
    from gputop.core.inspection_text import lines

    text = "".join(f"{line}\n" for line in lines(found))
    return text.encode(sys.stdout.encoding or "utf-8", "replace")
