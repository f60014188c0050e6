"""What the commands' arguments have in common: the parser, the kinds of values, the options of all commands."""

import argparse
import os
import sys
from collections.abc import Callable
from typing import Any, Final, NoReturn

from gputop.core.selection import Selection

OK: Final = 0
BAD_INPUT: Final = 2
NO_DRIVER: Final = 3
LEAST_INTERVAL_S: Final = 0.1
USUAL_INTERVAL_S: Final = 1.0


def warn(message: str) -> None:
    """Print a line on stderr."""
    print(f"gputop: {message}", file=sys.stderr)


def fail(status: int, message: str) -> NoReturn:
    """End the program with a line on stderr."""
    warn(message)
    raise SystemExit(status)


class Help(argparse.HelpFormatter):
    """Takes the width from the terminal; argparse would import shutil for it, at each argument's definition."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, width=columns(sys.stdout.fileno()) or 80)


class Parser(argparse.ArgumentParser):
    """Says what is wrong in one line. ``usage_status``: the exit status then, of all parsers."""

    usage_status = BAD_INPUT

    def __init__(self, **options: Any) -> None:  # noqa: ANN401 - what argparse takes
        super().__init__(formatter_class=Help, **options)

    def error(self, message: str) -> NoReturn:
        """End the program with a line on stderr."""
        self.exit(self.usage_status, f"gputop: {message}. See: {self.prog} --help\n")


def add_common(parser: argparse.ArgumentParser, *, is_inner: bool = True) -> None:
    """Add the options of all commands that show processes."""
    absent = add_place(parser, is_inner=is_inner)
    parser.add_argument("-u", "--user", action="append", type=words, default=absent, help="only their processes")
    parser.add_argument(
        "--only-compute", action="store_true", default=absent or False, help="leave out graphics processes"
    )
    parser.add_argument(
        "--read-only", action="store_true", default=absent or False, help="change nothing: no signals, no priorities"
    )
    parser.add_argument(
        "--where", action="append", type=_filter, default=absent, metavar="EXPR",
        help="only processes that match, e.g. 'user:ann gpu_mem>10GiB sm<5 not cmd~vllm'; several must all match",
    )  # fmt: skip


def add_place(parser: argparse.ArgumentParser, *, is_inner: bool = True) -> Any:  # noqa: ANN401 - argparse's own mark
    """Add the options that say what is read; return the default of options.

    Those after a command's name must not reset those before it: there an option that is not given leaves no value.
    """
    absent: Any = argparse.SUPPRESS if is_inner else None
    parser.add_argument(
        "-i", "--gpu", action="append", type=words, default=absent, metavar="GPU",
        help="only these GPUs: index, uuid or bus id; 0,2 or -i 0 -i 2",
    )  # fmt: skip
    parser.add_argument(
        "--interval", type=seconds(LEAST_INTERVAL_S), default=absent, metavar="S",
        help="time between readings (default 1)",
    )  # fmt: skip
    parser.add_argument(
        "--demo", nargs="?", const="training", default=absent, metavar="BOX",
        help="a simulated box instead of this machine: training, h200, mig, workstation, trouble, dying",
    )  # fmt: skip
    return absent


def selection(options: argparse.Namespace) -> Selection:
    """Return what the options select."""
    return Selection(
        gpus=tuple(word for group in options.gpu or () for word in group),
        users=tuple(word for group in options.user or () for word in group),
        only_compute=options.only_compute,
    )


def columns(descriptor: int) -> int | None:
    """Return the width of the terminal behind a descriptor; None where there is none."""
    try:
        return os.get_terminal_size(descriptor).columns or None
    except OSError:
        return None


def _filter(text: str) -> object:
    from gputop.cli.where import read

    return read(text)


def words(text: str) -> tuple[str, ...]:
    """Read a list with commas."""
    found = tuple(word.strip() for word in text.split(","))
    if not all(found):
        raise argparse.ArgumentTypeError(f"an empty name in {text!r}")
    return found


def seconds(least: float) -> Callable[[str], float]:
    """Return what reads a number of seconds."""

    def read(text: str) -> float:
        try:
            value = float(text)
        except ValueError:
            value = -1.0
        if not least <= value < 86_400:  # a NaN is not
            raise argparse.ArgumentTypeError(f"{text!r} is not a number of seconds from {least:g} to 86400")
        return value

    return read


def whole(least: int) -> Callable[[str], int]:
    """Return what reads a whole number."""

    def read(text: str) -> int:
        if not text.isdecimal() or int(text) < least:
            raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from {least}")
        return int(text)

    return read
