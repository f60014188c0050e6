"""The front door: arguments in, the rooms joined, the exit status out."""

import argparse
import gc
import os
import sys
from collections.abc import Callable, Sequence
from typing import Any, Final, NoReturn

from gputop import __version__
from gputop.core.monitor import Monitor, Source
from gputop.core.selection import Selection

OK: Final = 0
BAD_INPUT: Final = 2
NO_DRIVER: Final = 3
_FIRST_WAIT_S: Final = 1.0


def main(arguments: Sequence[str]) -> NoReturn:
    """Run what the arguments say and end the process; threads that hang in a driver are not waited for."""
    try:
        options = _parser(arguments).parse_args(arguments)
        status = options.run(options)
        sys.stdout.flush()
    except BrokenPipeError:
        status = OK  # the reader has seen enough
    except KeyboardInterrupt:
        status = 130
    except SystemExit as end:  # argparse, after it has printed
        status = end.code if isinstance(end.code, int) else BAD_INPUT
    sys.stderr.flush()
    os._exit(status)


def _fail(status: int, message: str) -> NoReturn:
    print(f"gputop: {message}", file=sys.stderr)
    raise SystemExit(status)


# --- arguments ---------------------------------------------------------------------------------------------------
class _Help(argparse.HelpFormatter):
    """Takes the width from the terminal; argparse would import shutil for it, at each argument's definition."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, width=_columns(sys.stdout.fileno()) or 80)


class _Parser(argparse.ArgumentParser):
    """Says what is wrong in one line."""

    def __init__(self, **options: Any) -> None:  # noqa: ANN401 - what argparse takes
        super().__init__(formatter_class=_Help, **options)

    def error(self, message: str) -> NoReturn:
        self.exit(BAD_INPUT, f"gputop: {message}. See: {self.prog} --help\n")


def _parser(arguments: Sequence[str]) -> argparse.ArgumentParser:
    """Return the parser. Only the command that is called gets its options: defining one takes 0.1 ms."""
    parser = _Parser(
        prog="gputop",
        description="Watch and manage the GPUs of this machine and the processes on them.",
        epilog="example: gputop snapshot --json | jq '.gpus[].metrics.power_average_w'",
    )
    parser.add_argument("--version", action="version", version=f"gputop {__version__}")
    _add_view(parser)
    _add_common(parser)
    parser.set_defaults(run=_screen)
    commands = parser.add_subparsers(title="without the screen", metavar="COMMAND", prog="gputop")
    for name, (run, about, add) in _COMMANDS.items():
        command = commands.add_parser(name, help=about, description=f"{about[0].upper()}{about[1:]}.")
        command.set_defaults(run=run)
        if name in arguments:
            add(command)
    return parser


def _add_snapshot(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--format", choices=("table", "json", "csv", "csv-processes"), default="table")
    parser.add_argument("--json", action="store_const", dest="format", const="json", help="short for --format json")
    parser.add_argument(
        "--wait", type=_seconds(0), default=_FIRST_WAIT_S, metavar="S",
        help="time between the two readings that rates need (default 1; 0: one reading, no rates)",
    )  # fmt: skip
    _add_common(parser, is_inner=True)


def _add_stream(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--count", type=_whole(1), metavar="N", help="end after so many frames")
    parser.add_argument("--control", action="store_true", help="obey commands on stdin, end when it closes")
    _add_common(parser, is_inner=True)


def _add_nothing(_: argparse.ArgumentParser) -> None:
    pass


def _add_common(parser: argparse.ArgumentParser, *, is_inner: bool = False) -> None:
    """Add the options of all commands. Those after a subcommand must not reset those before it."""
    absent: Any = argparse.SUPPRESS if is_inner else None
    parser.add_argument(
        "-i", "--gpu", action="append", type=_words, default=absent, metavar="GPU",
        help="only these GPUs: index, uuid or bus id; 0,2 or -i 0 -i 2",
    )  # fmt: skip
    parser.add_argument("-u", "--user", action="append", type=_words, default=absent, help="only their processes")
    parser.add_argument(
        "--only-compute", action="store_true", default=absent or False, help="leave out graphics processes"
    )
    parser.add_argument(
        "--interval", type=_seconds(0.1), default=absent if is_inner else 1.0, metavar="S",
        help="time between readings (default 1)",
    )  # fmt: skip
    parser.add_argument(
        "--demo", nargs="?", const="training", default=absent, metavar="BOX",
        help="a simulated box instead of this machine: training, h200, mig, workstation, dying",
    )  # fmt: skip


def _add_view(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--theme", choices=("auto", "dark", "light", "high-contrast", "monochrome", "16-colour"), default="auto",
        help="colours (default: as the terminal can)",
    )  # fmt: skip
    parser.add_argument("--density", choices=("auto", "compact", "detailed"), default="auto", help="of the GPU panels")
    parser.add_argument("--ascii", action="store_true", help="no signs beyond ASCII")


def _columns(descriptor: int) -> int | None:
    """Return the width of the terminal behind a descriptor; None where there is none."""
    try:
        return os.get_terminal_size(descriptor).columns or None
    except OSError:
        return None


def _words(text: str) -> tuple[str, ...]:
    words = tuple(word.strip() for word in text.split(","))
    if not all(words):
        raise argparse.ArgumentTypeError(f"an empty name in {text!r}")
    return words


def _seconds(least: float) -> Callable[[str], float]:
    def seconds(text: str) -> float:
        try:
            value = float(text)
        except ValueError:
            value = -1.0
        if not least <= value < 86_400:  # a NaN is not
            raise argparse.ArgumentTypeError(f"{text!r} is not a number of seconds from {least:g} to 86400")
        return value

    return seconds


def _whole(least: int) -> Callable[[str], int]:
    def whole(text: str) -> int:
        if not text.isdecimal() or int(text) < least:
            raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from {least}")
        return int(text)

    return whole


# --- commands ----------------------------------------------------------------------------------------------------
def _snapshot(options: argparse.Namespace) -> int:
    import time

    from gputop.wire import codec

    monitor = Monitor(_opened(options, is_once=True))
    frame = monitor.step()
    if options.wait:
        time.sleep(options.wait)
        frame = monitor.step()
    if options.format == "json":
        sys.stdout.buffer.write(codec.encode(frame))
        return OK
    if options.format.startswith("csv"):
        from gputop.report.csv import csv

        sys.stdout.write(csv(frame, "processes" if options.format == "csv-processes" else "gpus"))
        return OK
    from gputop.report.table import table

    print(table(frame))
    return OK


def _stream(options: argparse.Namespace) -> int:
    from gputop.wire.server import Rhythm, obey, serve

    source = _opened(options, is_once=False)
    rhythm = Rhythm(source)
    if options.control:
        obey(sys.stdin.buffer, rhythm)
    gc.enable()
    gc.freeze()
    serve(Monitor(source).step, sys.stdout.buffer, rhythm, options.count)
    return OK


def _schema(_: argparse.Namespace) -> int:
    import json

    from gputop.report.schema import schema

    print(json.dumps(schema(), indent=2))
    return OK


def _screen(options: argparse.Namespace) -> int:
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        options.format, options.wait = "table", _FIRST_WAIT_S
        return _snapshot(options)
    from gputop.wire.client import Client, sampler_command

    link = Client(sampler_command(_forwarded(options)))  # it reads while the screen is still importing
    gc.enable()
    from gputop.ui.app import GputopApp
    from gputop.ui.options import Density, ViewOptions

    view = ViewOptions(
        theme=options.theme,
        density=Density(options.density),
        is_ascii=options.ascii or not _speaks_unicode(),
        own_user=os.environ.get("USER"),
    )
    end = GputopApp(link, view).run(mouse=True)
    return OK if end is None else _fail(NO_DRIVER, end)


def _speaks_unicode() -> bool:
    """Say whether the terminal shows more than ASCII; the Linux console lacks braille."""
    return (sys.stdout.encoding or "").lower().replace("-", "") == "utf8" and os.environ.get("TERM") != "linux"


def _opened(options: argparse.Namespace, *, is_once: bool) -> Source:
    from gputop.machine.build import build
    from gputop.machine.nvml import NoDriverError

    try:
        source = build(_selection(options), options.interval, options.demo, is_once=is_once)
        source.open()
    except NoDriverError as error:
        _fail(NO_DRIVER, f"{error} To look around without a GPU: gputop --demo")
    except ValueError as error:
        _fail(BAD_INPUT, str(error))
    return source


def _selection(options: argparse.Namespace) -> Selection:
    return Selection(
        gpus=tuple(word for words in options.gpu or () for word in words),
        users=tuple(word for words in options.user or () for word in words),
        only_compute=options.only_compute,
    )


def _forwarded(options: argparse.Namespace) -> list[str]:
    """Return the arguments that the sampler needs too."""
    selection = _selection(options)
    pairs = [("--gpu", ",".join(selection.gpus)), ("--user", ",".join(selection.users)), ("--demo", options.demo)]
    words = [word for name, value in pairs if value for word in (name, value)]
    return [*words, *(["--only-compute"] if selection.only_compute else []), "--interval", str(options.interval)]


_COMMANDS: Final = {
    "snapshot": (_snapshot, "print what is now, and end", _add_snapshot),
    "stream": (_stream, "print a frame a line as JSON, until stopped", _add_stream),
    "schema": (_schema, "print the JSON Schema of a frame", _add_nothing),
}
