"""What the commands' arguments have in common: the kinds of values, the options of all commands, how help ends."""

import argparse
import os
from collections.abc import Callable
from typing import Any, Final

from gputop.core.query.selection import Selection

LEAST_INTERVAL_S: Final = 0.1
USUAL_INTERVAL_S: Final = 1.0
_DIGITS: Final = 4  # of an index: a longer range is a slip


def add_common(
    parser: argparse.ArgumentParser, *, is_inner: bool = True, repeats: bool = True, changes: bool = False
) -> None:
    """Add the options of all commands that show processes.

    ``repeats``: the command reads again and again. ``changes``: it may change the machine. What does not concern it is
    taken as well, so that an option may stand before any command, and is not in its help.
    """
    absent, group = add_place(parser, is_inner=is_inner, repeats=repeats)
    group.add_argument(
        "-u", "--user", action="append", type=words, default=absent, metavar="USER",
        help="only processes of these users: -u ann,bob",
    )  # fmt: skip
    group.add_argument(
        "--only-compute", action="store_true", default=absent or False, help="leave out graphics processes"
    )
    group.add_argument(
        "--where", action="append", type=_filter, default=absent, metavar="FILTER",
        help="only processes that match, such as 'user:ann gpu_mem>10GiB sm<5 not cmd~vllm'; several must all match",
    )  # fmt: skip
    group.add_argument(
        "--source", default=absent, metavar="NAME[:ARG]",
        help="samples of a plugin in place of this machine's; gputop plugins lists their names",
    )  # fmt: skip
    parser.add_argument(
        "--read-only", action="store_true", default=absent or False,
        help="change nothing: no signals, no priorities, no MIG layouts" if changes else argparse.SUPPRESS,
    )  # fmt: skip


def add_place(
    parser: argparse.ArgumentParser, *, is_inner: bool = True, repeats: bool = True
) -> tuple[Any, argparse._ActionsContainer]:
    """Add the options that say what is read; return the default of options (argparse's own mark), and their group.

    Those after a command's name must not reset those before it: there an option that is not given leaves no value.
    """
    absent: Any = argparse.SUPPRESS if is_inner else None
    group = parser.add_argument_group("what is read and shown")
    group.add_argument(
        "-i", "--gpu", action="append", type=gpu_names, default=absent, metavar="GPU",
        help="only these GPUs: -i 0,2 or -i 0-3, UUIDs or bus ids",
    )  # fmt: skip
    group.add_argument(
        "--interval", type=seconds(LEAST_INTERVAL_S), default=absent, metavar="SECONDS",
        help="time between readings (default 1)" if repeats else argparse.SUPPRESS,
    )  # fmt: skip
    add_demo(group, default=absent)
    return absent, group


def add_demo(
    parser: argparse._ActionsContainer, *, default: str | None = argparse.SUPPRESS, box: str = "training"
) -> None:
    """Add the option for a simulated box; ``box``: which one, if none is named."""
    boxes = "training, h200, mig, workstation, trouble, dying"
    parser.add_argument(
        "--demo", nargs="?", const=box, default=default, metavar="BOX",
        help=f"a simulated box in place of this machine: {boxes} (default {box})",
    )  # fmt: skip


def add_json(parser: argparse.ArgumentParser) -> None:
    """Add the short form of ``--format json``, which every command has that has the long one."""
    parser.add_argument("--json", action="store_const", dest="format", const="json", help="short for --format json")


def add_ending(parser: argparse.ArgumentParser, *examples: str, status: str = "") -> None:
    """Let the help end with examples, which a test has the parser read, and with what the exit status means."""
    shown = "\n".join(("example:" if len(examples) == 1 else "examples:", *(f"  {example}" for example in examples)))
    parser.epilog = f"{shown}\n\nexit status: {status}" if status else shown


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
    from gputop.cli.args.filter import read

    return read(text)


def words(text: str) -> tuple[str, ...]:
    """Read a list with commas."""
    found = tuple(word.strip() for word in text.split(","))
    if not all(found):
        raise argparse.ArgumentTypeError(f"an empty name in {text!r}")
    return found


def gpu_names(text: str) -> tuple[str, ...]:
    """Read a list with commas, in which 0-3 stands for 0,1,2,3."""
    return tuple(name for word in words(text) for name in _counted(word))


def _counted(word: str) -> tuple[str, ...]:
    first, dash, last = word.partition("-")
    if not (dash and first.isdecimal() and last.isdecimal()):
        return (word,)
    if int(last) < int(first) or len(last) > _DIGITS:
        raise argparse.ArgumentTypeError(f"{word!r} is not a range such as 0-3")
    return tuple(map(str, range(int(first), int(last) + 1)))


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
