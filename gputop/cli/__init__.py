"""The front door: arguments in, the rooms joined, the exit status out. A file a command, imported when called."""

import argparse
import os
import sys
from collections.abc import Sequence
from errno import EDQUOT, EFBIG, ENOSPC
from importlib import import_module
from io import TextIOWrapper
from typing import Final, NoReturn

from gputop import __version__
from gputop.cli.arguments import BAD_INPUT, OK, Parser, add_common
from gputop.machine.discover import plug_in

CANNOT_WRITE: Final = 1
_FULL: Final = (ENOSPC, EDQUOT, EFBIG)
NO_PLUGINS: Final = "GPUTOP_NO_PLUGINS"
COMMANDS: Final = {
    "snapshot": "print what is now, and end",
    "stream": "print a frame a line as JSON, until stopped",
    "signal": "send a signal to processes on GPUs",
    "renice": "change the nice value of processes on GPUs",
    "pick": "name the freest GPUs, for CUDA_VISIBLE_DEVICES",
    "inspect": "print all that is known of one process",
    "watch": "look for a while, print what is wrong, and tell by the exit status",
    "record": "write frames to a file, to be looked at later",
    "replay": "show a recording as if it were now",
    "analyse": "print what the detectors find on a recording",
    "doctor": "say whether this box is well, and what to type where it is not",
    "probe": "test GPUs: exact results, memory, speed, steady load",
    "mig": "show how GPUs are split with MIG, plan it anew, carry that out",
    "schema": "print the JSON Schema of a frame",
    "plugins": "list what is installed, what each adds, and why any was rejected",
    "config": "write, check or show the configuration file",
}


def main(arguments: Sequence[str]) -> NoReturn:
    """Run what the arguments say and end the process; threads that hang in a driver are not waited for."""
    _fill_streams()
    if isinstance(sys.stdout, TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")  # a locale without our signs is no reason to fail
    try:
        own, command = _without_command(arguments)
        plugins = plug_in(() if os.environ.get(NO_PLUGINS) else sys.path)  # before any of their tables is imported
        options = _parser(own).parse_args(own, argparse.Namespace(command=command, plugins=plugins))
        status = options.run(options)
        sys.stdout.flush()
    except BrokenPipeError:
        status = OK  # the reader has seen enough
    except OSError as error:
        if error.errno not in _FULL:
            raise
        print(f"gputop: cannot write the output: {error.strerror}", file=sys.stderr)
        status = CANNOT_WRITE
    except KeyboardInterrupt:
        status = 130
    except SystemExit as end:  # argparse, after it has printed
        status = end.code if isinstance(end.code, int) else BAD_INPUT
    sys.stderr.flush()
    os._exit(status)


def _fill_streams() -> None:
    """Open what is closed of stdin, stdout and stderr: the next file to be opened would take its place."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115 - for as long as we run


def _without_command(arguments: Sequence[str]) -> tuple[Sequence[str], list[str] | None]:
    """Part off the command behind `gputop pick --exec`: argparse would take its options, and stop at its ``--``."""
    if "pick" not in arguments or "--exec" not in arguments:
        return arguments, None
    after = arguments.index("--exec") + 1
    return arguments[:after], list(arguments[after:])


def _called(arguments: Sequence[str]) -> list[str]:
    """Return the commands that are named; of the simulated boxes one is called ``mig`` as well."""
    plain = [word for before, word in zip(("", *arguments), arguments, strict=False) if before != "--demo"]
    return [name for name in COMMANDS if name in plain]


def _parser(arguments: Sequence[str]) -> Parser:
    """Return the parser. Only the command that is called is imported and gets its options."""
    parser = Parser(
        prog="gputop",
        description="Watch and manage the GPUs of this machine and the processes on them.",
        epilog="example: gputop snapshot --json | jq '.gpus[].metrics.power_average_w'",
    )
    parser.add_argument("--version", action="version", version=f"gputop {__version__}")
    called = _called(arguments)
    if not called:
        screen = import_module("gputop.cli.screen")
        screen.add(parser)
        parser.set_defaults(run=screen.run)
    add_common(parser, is_inner=False)
    commands = parser.add_subparsers(title="without the screen", metavar="COMMAND", prog="gputop")
    for name in called or COMMANDS:
        about = COMMANDS[name]
        command = commands.add_parser(name, help=about, description=f"{about[0].upper()}{about[1:]}.")
        if called:
            module = import_module(f"gputop.cli.{name}")
            module.add(command)
            command.set_defaults(run=module.run)
    return parser
