"""gputop replay: playback of a recording on the screen."""

import argparse

from gputop.app.backend.backend import Viewer
from gputop.app.backend.real import own_user
from gputop.app.monitoring.screen import Parts, has_terminal, overridden, run_screen
from gputop.app.settings.config_path import path
from gputop.app.settings.settings_file import settled, written
from gputop.cli.args.exits import BAD_INPUT, fail, warn
from gputop.cli.args.options import add_ending
from gputop.cli.commands import screen
from gputop.core.recording.playback import PLACES, Playing, place
from gputop.wire.codec import Problem
from gputop.wire.tape.player import TapePlayer
from gputop.wire.tape.reader import Tape, open_tape


def add(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    parser.add_argument("file", metavar="FILE", help="a recording made by gputop record")
    parser.add_argument(
        "--at", metavar="PLACE", help="where to start: 12:30, 1:02:03, 50%%, 90s (default: at the start)"
    )
    screen.add(parser)
    add_ending(parser, "gputop replay night.tape --at 1:02:03", status="0 done, 2 bad input")


def run(options: argparse.Namespace) -> int:
    """Play the recording."""
    tape = open_tape(options.file)
    if isinstance(tape, Problem):
        fail(BAD_INPUT, tape.text)
    if not has_terminal():
        fail(
            BAD_INPUT,
            "replay needs a terminal. Without one: gputop analyse FILE prints the findings, zcat FILE every frame",
        )
    player = TapePlayer(tape)
    if options.at is not None:
        player.go(_place(options.at, tape))
    said = written(path())
    settings = overridden(settled(said=said).settings, screen.request(options))
    parts = Parts(viewer=Viewer(own_user()), player=player)
    return screen.status_of(run_screen(player, settings, said, parts, warn))


def _place(text: str, tape: Tape) -> float:
    at_s = None if text.startswith("@") else place(text, Playing(length_s=tape.length_s), 0.0)
    if at_s is None:
        fail(BAD_INPUT, f"--at {text}: not a place in a recording: {PLACES.rpartition(', or')[0]}")
    return at_s
