"""Options of the commands that change processes."""

import argparse
from typing import Final

from gputop.cli.args.options import add_common, add_ending, words
from gputop.core.text.text import excerpt

_STATUS: Final = (
    "0 all changed, 1 only some changed, 2 bad input, 3 no driver or no answer (it is not known what changed),"
    " 4 none changed"
)


def add_choice(parser: argparse.ArgumentParser, *examples: str) -> None:
    """Add the options that select the processes and confirm the change, and the end of the help."""
    parser.add_argument(
        "--pid", dest="pids", action="extend", type=_pids, metavar="PID",
        help="only these processes: --pid 4711,4712",
    )  # fmt: skip
    parser.add_argument(
        "-n", "--dry-run", dest="is_dry", action="store_true", help="list the matching processes and exit"
    )
    parser.add_argument("-y", "--yes", dest="is_sure", action="store_true", help="do not ask for confirmation")
    add_common(parser, repeats=False, changes=True)
    add_ending(parser, *examples, status=_STATUS)


def _pids(text: str) -> tuple[int, ...]:
    found = words(text)
    if not all(word.isdecimal() and int(word) > 0 for word in found):
        raise argparse.ArgumentTypeError(f"{excerpt(text)!r} is not a pid or a list of pids separated by commas")
    return tuple(int(word) for word in found)
