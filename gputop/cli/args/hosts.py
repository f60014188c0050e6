"""The options of commands that run on many hosts, and the words that remain for each host."""

import argparse
import shlex
from collections.abc import Sequence
from typing import Final

from gputop.app.errors import BadRequestError
from gputop.cli.args.options import duration
from gputop.core.text.text import excerpt

_LOCAL: Final = {  # whether a value follows
    "--hosts": True, "--over": True, "--batch": False, "--results": True, "--slurm": True, "--wait": True,
}  # fmt: skip


def add_hosts(parser: argparse.ArgumentParser, *, limit: str) -> None:
    """Add the options. ``limit``: how long a host may take, in words."""
    parser.allow_abbrev = False  # the words for the hosts must not name hosts again
    group = parser.add_argument_group("on many hosts")
    group.add_argument(
        "--hosts", action="append", metavar="LIST",
        help="run on these hosts, and print those that fail: 'node[01-08]'; or Slurm's hosts with GPUs: slurm,"
        " slurm:PARTITION, slurm:job:NUMBER",
    )  # fmt: skip
    group.add_argument(
        "--over", choices=("ssh", "srun"), metavar="PROGRAM",
        help="ssh or srun (default: srun where Slurm is installed, else ssh)",
    )  # fmt: skip
    group.add_argument(
        "--slurm", type=_options, metavar="OPTIONS",
        help="further options of srun or sbatch: --slurm='--partition=gpu --gpus-per-node=8'",
    )  # fmt: skip
    group.add_argument("--batch", dest="is_batch", action="store_true", help="print a script for sbatch, and exit")
    group.add_argument("--results", metavar="FILE", help="print the table of what that script wrote to this file")
    group.add_argument(
        "--wait", dest="limit_s", type=duration, metavar="DURATION",
        help=f"time limit of each host (default {limit})",
    )  # fmt: skip


def words_there(
    words: Sequence[str], command: str, others: dict[str, bool], instead: Sequence[str]
) -> tuple[str, ...]:  # fmt: skip
    """Return the words without those options, and with ``instead`` of ``others``, right behind the command's name.

    Each name of ``others`` says whether a value follows. Words behind ``--`` stay as they are.
    """
    local = _LOCAL | others
    found: list[str] = []
    rest = iter(words)
    for word in rest:
        name, sign, _ = word.partition("=")
        if word == "--":
            found += [word, *rest]
        elif name not in local:
            found.append(word)
        elif local[name] and not sign:
            next(rest, None)
    behind = found.index(command) + 1
    return (*found[:behind], *instead, *found[behind:])


def check_alone(options: argparse.Namespace) -> None:
    """Refuse options that need hosts. Raises BadRequestError."""
    given = {
        "--over": options.over, "--batch": options.is_batch, "--results": options.results, "--slurm": options.slurm,
        "--wait": options.limit_s,
    }  # fmt: skip
    for name, value in given.items():
        if value:
            raise BadRequestError(f"{name} needs --hosts LIST")


def _options(text: str) -> tuple[str, ...]:
    try:
        found = tuple(shlex.split(text))
    except ValueError:
        found = ()
    if not found or not all(option.startswith("-") and option.isprintable() for option in found):
        raise argparse.ArgumentTypeError(f"{excerpt(text)!r} is not a list of options such as --partition=gpu")
    return found
