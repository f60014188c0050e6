"""gputop mig: how GPUs are split, how they could be, and making it so. A file for each thing that it does."""

import argparse
from collections.abc import Callable
from importlib import import_module
from typing import Any, Final

from gputop.cli.arguments import Help, words

_WHAT: Final = {
    "status": "show how the GPUs are split, what would fit besides, and what blocks what",
    "plan": "say what would be done for a request, or why it is not possible and what would be; changes nothing",
    "apply": "show the plan, ask, carry it out, and go back where a step fails",
    "use": "print the lines that use the instances: CUDA_VISIBLE_DEVICES, docker, Kubernetes",
    "export": "print the layouts as a configuration of mig-parted (YAML)",
    "checkpoint": "write the layouts to a file, placements included",
    "restore": "go back to a checkpoint: show the plan, ask, carry it out",
    "service": "print a systemd unit that restores a checkpoint at boot, and say where to put it",
}
_MODULES: Final = {
    "status": "mig_show", "use": "mig_show", "export": "mig_show", "checkpoint": "mig_show", "service": "mig_service",
    "plan": "mig_apply", "apply": "mig_apply", "restore": "mig_apply",
}  # fmt: skip
_REQUESTS: Final = """
requests:
  3g.40gb,2x1g.10gb   these instances and no others         3g,all=1g as many of a kind as fit
  +1x2g.20gb          one more beside those that there are  -1g.10gb  one less (behind --)
  3g.40gb@4           at this memory slot                   none      no instances
  2g.20gb/1c+1c       with these compute instances          on, off   the mode alone
  1c.3g.40gb          a compute instance; those of a kind share GPU instances

exit status: 0 all done or possible, 1 some, or it waits for a reset, 2 bad input, 3 no driver, 4 nothing
"""


class _Lines(Help, argparse.RawDescriptionHelpFormatter):
    """Leaves the lines of the requests as they are."""


def add(parser: argparse.ArgumentParser) -> None:
    """Add what can be done, each with its options."""
    parser.formatter_class = _Lines
    parser.epilog = _REQUESTS
    actions = parser.add_subparsers(metavar="WHAT", dest="what", required=True)
    for name, about in _WHAT.items():
        action = actions.add_parser(name, help=about, description=f"{about[0].upper()}{about[1:]}.")
        _ADD[name](action)


def run(options: argparse.Namespace) -> int:
    """Do it."""
    module = import_module(f"gputop.cli.{_MODULES[options.what]}")
    step: Callable[[argparse.Namespace], int] = getattr(module, options.what)
    return step(options)


def _common(parser: argparse.ArgumentParser) -> None:
    absent: Any = argparse.SUPPRESS
    parser.add_argument(
        "-i", "--gpu", action="append", type=words, default=absent, metavar="GPU",
        help="only these GPUs: index, uuid or bus id; or all",
    )  # fmt: skip
    parser.add_argument(
        "--demo", nargs="?", const="mig", default=absent, metavar="BOX", help="a simulated box instead of this machine"
    )


def _status(parser: argparse.ArgumentParser) -> None:
    _common(parser)
    parser.add_argument("--json", action="store_true", help="one line of JSON")


def _asked(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("request", nargs="?", metavar="REQUEST", help="as 3g.40gb,2x1g.10gb; see gputop mig --help")
    parser.add_argument("-f", "--file", metavar="FILE", help="a configuration file of mig-parted instead")
    parser.add_argument("-c", "--config", metavar="NAME", help="which one of the file's configurations")


def _plan(parser: argparse.ArgumentParser) -> None:
    _asked(parser)
    _status(parser)
    _forced(parser)


def _apply(parser: argparse.ArgumentParser) -> None:
    _asked(parser)
    _common(parser)
    _changing(parser)


def _restore(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", help="what gputop mig checkpoint wrote")
    _common(parser)
    _changing(parser)


def _checkpoint(parser: argparse.ArgumentParser) -> None:
    _common(parser)
    parser.add_argument("-o", "--output", metavar="FILE", help="where to (default: print it)")


def _service(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "file", nargs="?", default="/etc/gputop/mig.json", metavar="FILE", help="the checkpoint (default %(default)s)"
    )


def _changing(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("-n", "--dry-run", action="store_true", help="only show the plan")
    parser.add_argument("-y", "--yes", action="store_true", help="do not ask")
    _forced(parser)
    parser.add_argument(
        "--read-only", action="store_true", default=argparse.SUPPRESS, help="change nothing: for trying it out"
    )


def _forced(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--force", action="store_true", help="plan as if no process used anything; the driver has the last word"
    )


_ADD: Final[dict[str, Callable[[argparse.ArgumentParser], None]]] = {
    "status": _status, "plan": _plan, "apply": _apply, "use": _common, "export": _common, "checkpoint": _checkpoint,
    "restore": _restore, "service": _service,
}  # fmt: skip
