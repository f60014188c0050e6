"""gputop mig: show, plan and change MIG layouts."""

import argparse
from collections.abc import Callable
from typing import Any, Final

from gputop.app.control.mig.apply import apply, plan, restore
from gputop.app.control.mig.requested import MigRequest
from gputop.app.control.mig.service import service
from gputop.app.control.mig.show import checkpoint, export, status, use
from gputop.app.terminal import Person
from gputop.cli.args.options import add_demo, add_ending, gpu_names
from gputop.cli.args.requests import request_of

_WHAT: Final = {
    "status": "show the MIG layout, what else fits, and why other instances do not fit",
    "plan": "show the plan for a request, or why it is impossible and what would fit; change nothing",
    "apply": "show the plan, ask for confirmation, apply it, and roll back if a step fails",
    "use": "print how to use the instances: CUDA_VISIBLE_DEVICES, docker, Kubernetes",
    "export": "print the layouts as a mig-parted configuration (YAML)",
    "checkpoint": "save the layouts to a file, including placements",
    "restore": "restore a checkpoint: show the plan, ask for confirmation, apply it",
    "service": "print a systemd unit that restores a checkpoint at boot, and how to install it",
}
_EXAMPLES: Final = {
    "status": ("gputop mig status -i 0",),
    "plan": ("gputop mig plan 3g.20gb,2g.10gb,1g.5gb -i 0 --demo", "gputop mig plan -i 0 -- -1g.5gb"),
    "apply": (
        "gputop mig apply 3g.40gb,2x1g.10gb -i 0 --dry-run",
        "gputop mig apply -f mig-parted.yaml -c all-balanced",
    ),
    "use": ("gputop mig use -i 0",),
    "export": ("gputop mig export > mig-parted.yaml",),
    "checkpoint": ("gputop mig checkpoint -o mig.json",),
    "restore": ("gputop mig restore mig.json --dry-run",),
    "service": ("gputop mig service /etc/gputop/mig.json",),
}
_PLANS: Final = "0 possible on all GPUs, 1 only on some, 2 bad input, 3 no driver, 4 not possible"
_CHANGES: Final = "0 all done, 1 only a part is done, or a reset is needed, 2 bad input, 3 no driver, 4 nothing done"
_SHOWS: Final = "0 done, 2 bad input, 3 no driver"
_STATUS: Final = {"plan": _PLANS, "apply": _CHANGES, "restore": _CHANGES, "use": f"{_SHOWS}, 4 no instances"}
_REQUESTS: Final = """requests:
  3g.40gb,2x1g.10gb  exactly these instances
  3g,all=1g          3g, then as many 1g as fit
  1g>=20gb           the smallest 1g with at least 20 GB of memory
  +1x2g.20gb         one 2g.20gb more than now
  -1g.10gb           one 1g.10gb fewer than now; put -- before it:
                     gputop mig plan -- -1g.10gb
  3g.40gb@4          a 3g.40gb that starts at memory slot 4
  2g.20gb/1c+1c      a 2g.20gb with two compute instances 1c
  1c.3g.40gb         one compute instance 1c in a 3g.40gb; if you write it
                     twice, both are in the same 3g.40gb
  none               no instances
  on, off            only switch MIG mode on or off
"""


def add(parser: argparse.ArgumentParser) -> None:
    """Add the subcommands with their options."""
    add_ending(parser, "gputop mig plan 3g.71gb,2x1g.18gb -i 0 --demo h200")
    parser.epilog = f"{_REQUESTS}\n{parser.epilog}"
    actions = parser.add_subparsers(metavar="WHAT", dest="what", required=True)
    for name, about in _WHAT.items():
        action = actions.add_parser(name, help=about, description=f"{about[0].upper()}{about[1:]}.")
        for add_option in _OPTIONS[name]:
            add_option(action)
        add_ending(action, *_EXAMPLES[name], status=_STATUS.get(name, _SHOWS))


def run(options: argparse.Namespace) -> int:
    """Run the subcommand."""
    request = request_of(options, MigRequest)
    return _RUN[options.what](request, Person(is_sure=request.is_sure))


def _common(parser: argparse.ArgumentParser) -> None:
    absent: Any = argparse.SUPPRESS
    parser.add_argument(
        "-i", "--gpu", dest="gpus", action="extend", type=gpu_names, default=absent, metavar="GPU",
        help="only these GPUs, by index (0,2 or 0-3), UUID or bus ID; or all",
    )  # fmt: skip
    add_demo(parser, box="mig")


def _json(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", dest="is_json", action="store_true", help="one line of JSON")


def _asked(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "layout", nargs="?", metavar="REQUEST", help="the layout, such as 3g.40gb,2x1g.10gb; see gputop mig --help"
    )
    parser.add_argument("-f", "--file", metavar="FILE", help="use a mig-parted configuration instead of a request")
    parser.add_argument(
        "-c", "--config", metavar="NAME", help="the configuration in the file (required if it has several)"
    )


def _saved(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("checkpoint", metavar="FILE", help="a checkpoint, as written by gputop mig checkpoint")


def _output(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "-o", "--output", dest="checkpoint", metavar="FILE",
        help="write to this file (default: standard output)",
    )  # fmt: skip


def _service(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "checkpoint", nargs="?", default="/etc/gputop/mig.json", metavar="FILE",
        help="the checkpoint (default %(default)s)",
    )  # fmt: skip


def _changing(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("-n", "--dry-run", dest="is_dry", action="store_true", help="show the plan and exit")
    parser.add_argument("-y", "--yes", dest="is_sure", action="store_true", help="do not ask for confirmation")
    _forced(parser)
    parser.add_argument("--read-only", action="store_true", default=argparse.SUPPRESS, help="change nothing")


def _forced(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--force",
        dest="is_forced",
        action="store_true",
        help="plan as if no instance were in use; the driver still refuses to destroy busy ones",
    )


_OPTIONS: Final[dict[str, tuple[Callable[[argparse.ArgumentParser], None], ...]]] = {
    "status": (_common, _json), "plan": (_asked, _common, _json, _forced), "apply": (_asked, _common, _changing),
    "use": (_common,), "export": (_common,), "checkpoint": (_common, _output), "restore": (_saved, _common, _changing),
    "service": (_service,),
}  # fmt: skip
_RUN: Final[dict[str, Callable[[MigRequest, Person], int]]] = {
    "status": status, "plan": plan, "apply": apply, "use": use, "export": export, "checkpoint": checkpoint,
    "restore": restore, "service": service,
}  # fmt: skip
