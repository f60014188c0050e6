"""The command line of gputop. Each command is a module of `gputop.cli.commands`, imported only if it is called."""

import argparse
import os
import sys
from collections.abc import Collection, Sequence
from contextlib import suppress
from errno import EDQUOT, EFBIG, ENOSPC
from importlib import import_module
from io import TextIOWrapper
from typing import Final, NoReturn

from gputop import __version__
from gputop.app.errors import BAD_INPUT, CANNOT_WRITE, OK, BadRequestError, UseCaseError
from gputop.app.remote.input_end import end_with_input
from gputop.app.terminal import warn
from gputop.cli.args.host import without_host
from gputop.cli.args.options import add_common, add_ending
from gputop.cli.args.parser import Parser
from gputop.core.text.system_limits import limit_text
from gputop.machine.plugins.discover import plug_in

_OF_SOURCES: Final = (
    "screen", "snapshot", "stream", "watch", "wait", "export", "serve", "notify", "record", "signal", "renice",
)  # fmt: skip
CANNOT_RUN: Final = 1
_OF_THE_SCREEN: Final = ("gputop.ui", "textual", "rich")
_HELP: Final = ("-h", "--help")
_FULL: Final = (ENOSPC, EDQUOT, EFBIG)
NO_PLUGINS: Final = "GPUTOP_NO_PLUGINS"
COMMANDS: Final = {
    "snapshot": "print the current state once, as a table, JSON, CSV or series of Prometheus",
    "stream": "print the state repeatedly as lines of JSON, until stopped",
    "signal": "send a signal to processes on GPUs",
    "renice": "change the nice value of processes on GPUs",
    "pick": "choose the freest GPUs for a job; optionally wait for them, or start a command on them",
    "free": "list the free GPUs; optionally wait for one",
    "wait": "wait until a GPU is free, a job ends or a problem comes; optionally notify you",
    "inspect": "print everything known about one process",
    "explain": "say where a process or job hangs: stacks of all ranks, kernel, collective operations",
    "watch": "watch for some time, then print the problems found",
    "export": "serve GPUs, jobs and findings to Prometheus, under the names of dcgm-exporter and of gputop",
    "serve": "serve the screen, or a simple page for a wall display, to browsers",
    "notify": "send problems to Alertmanager, a webhook, Slack, mail or others",
    "rules": "print alerting rules for Prometheus, for the series of gputop or of dcgm-exporter",
    "record": "record samples to a file for later",
    "replay": "show a recording on the screen, as if it were live",
    "analyse": "print the problems in a recording",
    "doctor": "check driver, GPUs and configuration of this host, and suggest fixes",
    "probe": "test GPUs: correct results, memory, speed, sustained load",
    "mig": "show, plan and change the MIG layout of the GPUs",
    "fleet": "show all GPU hosts that a Prometheus server knows; list those with free GPUs",
    "hosts": "keep a list of hosts to reach by ssh; show which gputop they have; remove copies from them",
    "schema": "print the JSON Schema of the output of snapshot, stream, doctor or explain",
    "plugins": "list the plugins, what each adds, and why any was rejected",
    "config": "write, check or show the configuration file",
}


def main(arguments: Sequence[str]) -> NoReturn:
    """Run the command and end the process, without waiting for threads that hang in a driver."""
    _fill_streams()
    _write_plainly()
    try:
        status = _run(arguments)
        sys.stdout.flush()
    except BrokenPipeError:
        status = OK  # the reader closed the pipe
    except OSError as error:
        status = _stopped_by(error)
    except (RuntimeError, MemoryError) as error:
        status = _limited_by(error)
    except ModuleNotFoundError as error:
        status = _lacking(error)
    except KeyboardInterrupt:
        status = 130
    except UseCaseError as error:
        warn(str(error))
        status = Parser.usage_status if isinstance(error, BadRequestError) else error.status
    except SystemExit as end:  # argparse, after it has printed
        with suppress(OSError):
            sys.stdout.flush()
        status = end.code if isinstance(end.code, int) else BAD_INPUT
    sys.stderr.flush()
    os._exit(status)


def _run(arguments: Sequence[str]) -> int:
    """Run the command, here or on another host, and return its exit status."""
    end_with_input(os.environ)
    hosts, others = without_host(arguments)
    own, command = _without_command(others)
    if hosts and _called(own):
        from gputop.app.remote.command import run_there

        return run_there(hosts, others)
    plugins = plug_in(() if os.environ.get(NO_PLUGINS) else sys.path)  # before their tables are imported
    named = ",".join(hosts) or None
    given = argparse.Namespace(command=command, plugins=plugins, host=named, remotes=hosts, words=others)
    options = _parser(own).parse_args(own, given)
    if options.host != named:
        raise BadRequestError("write --host in full")
    if options.source is not None:
        _check_source(options.run.__module__.rpartition(".")[2], options.demo)
    return int(options.run(options))


def _stopped_by(error: OSError) -> int:
    """Report an error of the system that ends any command, and return the exit status; raise any other."""
    if error.errno not in _FULL:
        return _limited_by(error)
    print(f"gputop: cannot write the output: {error.strerror}", file=sys.stderr)
    return CANNOT_WRITE


def _lacking(error: ModuleNotFoundError) -> int:
    """Report that this gputop has no screen, and return the exit status; raise the error for any other module."""
    if error.name is None or not error.name.startswith(_OF_THE_SCREEN):
        raise error
    warn(f"this gputop has no screen ({error.name} is missing), as a copy that came by ssh. Install gputop here")
    return CANNOT_RUN


def _limited_by(error: Exception) -> int:
    """Report a limit of the system that ends any command, and return the exit status; raise any other error."""
    text = limit_text(error)
    if not text:
        raise error
    warn(text)
    return CANNOT_RUN


def _write_plainly() -> None:
    """Replace characters that the locale lacks by ASCII, instead of failing."""
    for stream in (sys.stdout, sys.stderr):
        if not isinstance(stream, TextIOWrapper):
            continue
        if stream.encoding.lower().startswith("utf") and not _is_ascii_terminal(stream):
            stream.reconfigure(errors="replace")
        else:
            import codecs

            from gputop.core.text.ascii import replaced

            codecs.register_error("gputop", replaced)
            stream.reconfigure(encoding="ascii" if stream.encoding.startswith("utf") else None, errors="gputop")


def _is_ascii_terminal(stream: TextIOWrapper) -> bool:
    """Return whether a stream is a terminal of the C locale, where Python writes UTF-8 all the same (PEP 540).

    Many containers set no locale at all; their terminals show UTF-8.
    """
    locale = os.environ.get("LC_ALL") or os.environ.get("LANG") or "utf8"
    is_c = bool(sys.flags.utf8_mode) and "utf8" not in locale.lower().replace("-", "")
    return is_c and stream.isatty()


def _check_source(command: str, demo: str | None) -> None:
    """Refuse a source that the command cannot read."""
    if command not in _OF_SOURCES:
        text = f"gputop {command} has no --source; {', '.join(_OF_SOURCES[1:])} and the screen do"
        raise UseCaseError(BAD_INPUT, text)
    if demo is not None:
        raise UseCaseError(BAD_INPUT, "--demo and --source cannot be combined")


def _fill_streams() -> None:
    """Open /dev/null in place of a closed stdin, stdout or stderr, so that no other file takes its descriptor."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115 - for as long as we run


def _without_command(arguments: Sequence[str]) -> tuple[Sequence[str], list[str] | None]:
    """Split off the command after `gputop pick --exec`; argparse would parse its options and stop at its ``--``."""
    if "pick" not in arguments or "--exec" not in arguments:
        return arguments, None
    after = arguments.index("--exec") + 1
    return arguments[:after], list(arguments[after:])


def _called(arguments: Sequence[str]) -> list[str]:
    """Return the named commands, none if a help option comes first. ``mig`` after ``--demo`` is a simulated box."""
    plain = [word for before, word in zip(("", *arguments), arguments, strict=False) if before != "--demo"]
    first = next((word for word in plain if word in COMMANDS or word in _HELP), "")
    return [] if first in _HELP else [name for name in COMMANDS if name in plain]


def whole() -> Parser:
    """Return the parser with the options of all commands, for documents and shell completions."""
    return _of((), COMMANDS)


def _parser(arguments: Sequence[str]) -> Parser:
    """Return the parser. Only the called command is imported and adds its options."""
    called = _called(arguments)
    return _of(called, called)


def _of(called: Collection[str], filled: Collection[str]) -> Parser:
    """Return the parser of the called commands, or of all if none is called; ``filled`` parsers add their options."""
    parser = Parser(
        prog="gputop",
        description="Show the GPUs of this host and the processes on them, and manage those processes.\n"
        "Without a command, gputop shows the screen. Press F1 there for its keys.",
    )
    parser.add_argument("--version", action="version", version=f"gputop {__version__}", help="print the version")
    add_ending(
        parser,
        "gputop --demo trouble        the screen, on a simulated machine",
        "gputop -i 0,2 --user ann     only GPUs 0 and 2, and only ann's processes",
        "gputop snapshot --json | jq '.gpus[].metrics.power_average_w'",
        status="0 success, 1 partial success, 2 bad input, 3 no driver, 4 nothing succeeded; commands may have others",
    )
    parser.add_argument(
        "--host", metavar="NAME",
        help="run on another host, by ssh: the screen, or any command: gputop --host node7 snapshot; several hosts"
        " (a,b or node[01-08]; all: those of gputop hosts): a screen with a row for each",
    )  # fmt: skip
    if not called:
        screen = import_module("gputop.cli.commands.screen")
        screen.add(parser)
        parser.set_defaults(run=screen.run)
    add_common(parser, is_inner=False, changes=True)
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", prog="gputop")
    for name in called or COMMANDS:
        about = COMMANDS[name]
        command = commands.add_parser(name, help=about, description=f"{about[0].upper()}{about[1:]}.")
        if name in filled:
            module = import_module(f"gputop.cli.commands.{name}")
            module.add(command)
            command.set_defaults(run=module.run)
    return parser
