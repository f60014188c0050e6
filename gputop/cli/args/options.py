"""Options that commands share, the types of their values, and the end of a help text."""

import argparse
from collections.abc import Callable
from typing import Any, Final

from gputop.core.model.metric import Unit
from gputop.core.text.text import excerpt

_LEAST_INTERVAL_S: Final = 0.1
_DIGITS: Final = 4  # of an index: a longer range is a typing mistake


def add_common(
    parser: argparse.ArgumentParser, *, is_inner: bool = True, repeats: bool = True, changes: bool = False
) -> None:
    """Add the options of all commands that show processes.

    ``repeats``: the command reads repeatedly. ``changes``: it may change the machine. The command also accepts options
    of other commands, so that any option may precede any command; its help omits them.
    """
    absent, group = add_place(parser, is_inner=is_inner, repeats=repeats)
    group.add_argument(
        "-u", "--user", dest="users", action="extend", type=words, default=absent, metavar="USER",
        help="only processes of these users: -u ann,bob",
    )  # fmt: skip
    group.add_argument("--only-compute", action="store_true", default=absent or False, help="omit graphics processes")
    group.add_argument(
        "--where", action="extend", type=_filters, default=absent, metavar="FILTER",
        help="only processes that match, such as 'user:ann gpu_mem>10GiB sm<5 not cmd~vllm'; if you repeat the option,"
        " a process must match all filters",
    )  # fmt: skip
    group.add_argument(
        "--source", default=absent, metavar="NAME[:ARG]",
        help="take samples from a plugin instead of this host; for the names, run: gputop plugins",
    )  # fmt: skip
    parser.add_argument(
        "--read-only", action="store_true", default=absent or False,
        help="change nothing: no signals, no priorities, no MIG layouts" if changes else argparse.SUPPRESS,
    )  # fmt: skip


def add_place(
    parser: argparse.ArgumentParser, *, is_inner: bool = True, repeats: bool = True
) -> tuple[Any, argparse._ActionsContainer]:
    """Add the options that select GPUs, interval and demo; return the default of options and their group.

    An option after the command's name must not reset the same option before it: if absent there, it sets no value.
    """
    absent: Any = argparse.SUPPRESS if is_inner else None
    group = parser.add_argument_group("input and selection")
    group.add_argument(
        "-i", "--gpu", dest="gpus", action="extend", type=gpu_names, default=absent, metavar="GPU",
        help="only these GPUs, by index (0,2 or 0-3), UUID or bus ID",
    )  # fmt: skip
    group.add_argument(
        "--interval", dest="interval_s", type=seconds(_LEAST_INTERVAL_S), default=absent, metavar="SECONDS",
        help="time between readings (default 1)" if repeats else argparse.SUPPRESS,
    )  # fmt: skip
    add_demo(group, default=absent)
    return absent, group


def add_demo(
    parser: argparse._ActionsContainer, *, default: str | None = argparse.SUPPRESS, box: str = "training"
) -> None:
    """Add the option for a simulated box; ``box``: the box if the user names none."""
    boxes = "training, h200, mig, workstation, trouble, dying"
    parser.add_argument(
        "--demo", nargs="?", const=box, default=default, metavar="MACHINE",
        help=f"a simulated machine instead of this host: {boxes} (default {box})",
    )  # fmt: skip


def add_json(parser: argparse.ArgumentParser) -> None:
    """Add ``--json``, the short form of ``--format json``."""
    parser.add_argument("--json", action="store_const", dest="format", const="json", help="short for --format json")


def add_host_details(parser: argparse.ArgumentParser) -> None:
    """Add ``--host-details``."""
    parser.add_argument(
        "--host-details", dest="has_host_details", action="store_true",
        help="add to the JSON: network and disk rates, sensors, logged-in users and CPU frequency of the host",
    )  # fmt: skip


def add_reveal(parser: argparse.ArgumentParser) -> None:
    """Add ``--reveal``."""
    parser.add_argument("--reveal", action="store_true", help="show secrets in command lines instead of masking them")


def add_ending(parser: argparse.ArgumentParser, *examples: str, status: str = "") -> None:
    """End the help with examples, which a test parses, and with the meaning of the exit status."""
    shown = "\n".join(("example:" if len(examples) == 1 else "examples:", *(f"  {example}" for example in examples)))
    parser.epilog = f"{shown}\n\nexit status: {status}" if status else shown


def _filters(text: str) -> tuple[str, ...]:
    """Check a filter; the error points at the mistake, in lines of its own. Leave out one that keeps everything."""
    from gputop.core.query.query import QueryError, parse, pointed

    found = parse(text)
    if isinstance(found, QueryError):
        pointer = (f"  {line}" for line in pointed(text, found).splitlines())
        message = f"column {found.position + 1}: {excerpt(str(found), 600)}"
        raise argparse.ArgumentTypeError("\n".join((message, *pointer)))
    return (str(found),) if str(found) else ()


def words(text: str) -> tuple[str, ...]:
    """Read a list separated by commas."""
    found = tuple(word.strip() for word in text.split(","))
    if not all(found):
        raise argparse.ArgumentTypeError(f"an empty name in {excerpt(text)!r}")
    return found


def gpu_names(text: str) -> tuple[str, ...]:
    """Read a list separated by commas, in which 0-3 means 0,1,2,3."""
    return tuple(name for word in words(text) for name in _counted(word))


def _counted(word: str) -> tuple[str, ...]:
    first, dash, last = word.partition("-")
    if not (dash and first.isdecimal() and last.isdecimal()):
        return (word,)
    if int(last) < int(first) or len(last) > _DIGITS:
        raise argparse.ArgumentTypeError(f"{excerpt(word)!r} is not a range such as 0-3")
    return tuple(map(str, range(int(first), int(last) + 1)))


def seconds(least: float) -> Callable[[str], float]:
    """Return a reader of a number of seconds."""

    def read(text: str) -> float:
        try:
            value = float(text)
        except ValueError:
            value = -1.0
        if not least <= value < 86_400:  # a NaN is not
            raise argparse.ArgumentTypeError(f"{excerpt(text)!r} is not a number of seconds from {least:g} to 86400")
        return value

    return read


def whole(least: int) -> Callable[[str], int]:
    """Return a reader of a whole number."""

    def read(text: str) -> int:
        if not text.isdecimal() or int(text) < least:
            raise argparse.ArgumentTypeError(f"{excerpt(text)!r} is not a whole number from {least}")
        return int(text)

    return read


def duration(text: str) -> float:
    """Read 90s, 10m, 1h30m as seconds, more than 0."""
    from gputop.core.model.quantity import expected, quantity

    value = quantity(text, Unit.SECONDS)
    if value is None or value <= 0:
        how = expected(Unit.SECONDS).removeprefix("a time: ")
        raise argparse.ArgumentTypeError(f"{excerpt(text)!r} is not a time: {how}")
    return value
