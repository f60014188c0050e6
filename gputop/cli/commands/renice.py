"""gputop renice: change the nice value of processes on GPUs."""

import argparse

from gputop.cli.commands.process_change import add_choice, carry_out, new_id
from gputop.core.model.sample import HostProcess
from gputop.core.protocol.command import Change, Renice
from gputop.core.protocol.targets import targets


def add(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    parser.add_argument("nice", type=_nice, metavar="NICE", help="from -20 (goes first; needs root) to 19 (goes last)")
    add_choice(parser, "gputop renice 10 --pid 4711,4712", "gputop renice 19 --user bob --dry-run")
    parser.description = (
        "List the processes on GPUs that are meant, ask, and change the nice value of all their threads."
    )


def run(options: argparse.Namespace) -> int:
    """List, ask, renice."""

    def make(processes: tuple[HostProcess, ...]) -> Change:
        return Renice(id=new_id(), nice=options.nice, targets=targets(processes))

    return carry_out(options, make)


def _nice(text: str) -> int:
    if not text.removeprefix("-").isdecimal() or not -20 <= int(text) <= 19:
        raise argparse.ArgumentTypeError(f"{text!r} is not a nice value from -20 to 19")
    return int(text)
