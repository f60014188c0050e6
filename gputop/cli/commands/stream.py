"""gputop stream: a frame a line until it is stopped. With --control it is the screen's sampler."""

import argparse
import os
import sys
from collections.abc import Callable
from functools import cache
from typing import Final

from gputop.cli.args.exits import OK, warn
from gputop.cli.args.options import add_common, add_ending, whole
from gputop.cli.backend.control import opened_door
from gputop.cli.backend.monitoring import Opened, monitored, opened
from gputop.cli.backend.questions import opened_lookout, opened_status_reader
from gputop.core.mig.answers import MigBox
from gputop.core.protocol.command import Change, ChangeMig, ReadMig
from gputop.core.protocol.outcome import Outcome
from gputop.lazy_imports import collect_seldom
from gputop.wire.server import LAST_CHANGES_S, Door, Lines, Lookout, Rhythm, obey, serve
from gputop.wire.survey import Survey, told

_FOREIGN: Final = "the source of a plugin does not tell how GPUs can be split"


def add(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    parser.add_argument("--count", type=whole(1), metavar="N", help="end after N lines")
    parser.add_argument(
        "--control",
        action="store_true",
        help="obey lines of JSON on standard input, as the screen sends them; end when it closes",
    )
    add_common(parser, changes=True)
    add_ending(
        parser,
        "gputop stream --interval 5 | jq -c --unbuffered '.gpus[] | select(.state != \"ok\") | {index, state}'",
        status="0 done, 2 bad input, 3 no driver",
    )


def run(options: argparse.Namespace) -> int:
    """Print frames."""
    source = opened(options, is_once=False)
    rhythm, lines = Rhythm(source), Lines(sys.stdout.buffer)
    door = None
    if options.control:
        protected = frozenset({os.getpid(), os.getppid()})
        door = Door(_followed(opened_door(options, protected, progress=told(lines)).execute, source), lines, rhythm)
        lookout = Lookout(opened_lookout(options), lines, opened_status_reader(options))
        obey(sys.stdin.buffer, rhythm, door, lookout=lookout, survey=_survey(options, lines))
    collect_seldom()
    try:
        serve(monitored(source, options, tell=None if options.control else warn), lines, rhythm, options.count)
    finally:
        if door is not None:
            door.close(LAST_CHANGES_S)
    return OK


def _followed(execute: Callable[[Change], Outcome], source: Opened) -> Callable[[Change], Outcome]:
    """Return what carries changes out and has the source look at GPUs that were split anew; not every driver tells."""

    def act(change: Change) -> Outcome:
        outcome = execute(change)
        for plan in change.plans if isinstance(change, ChangeMig) else ():
            source.look_again(plan.gpu)
        return outcome

    return act


def _survey(options: argparse.Namespace, lines: Lines) -> Callable[[ReadMig], None]:
    """Return what is told of questions about MIG. The driver is started when the first one comes."""

    @cache
    def made() -> Callable[[ReadMig], MigBox]:
        from gputop.cli.commands.mig_machine import opened_survey

        return opened_survey(options)

    def read(question: ReadMig) -> MigBox:
        if options.source is not None:
            return MigBox(id=question.id, problem=_FOREIGN)
        return made()(question)

    return Survey(read, lines).ask
