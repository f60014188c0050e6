"""gputop pick: the freest GPUs, for CUDA_VISIBLE_DEVICES."""

import argparse
from collections.abc import Callable
from typing import Final

from gputop.app.monitoring.pick import PickRequest, pick_gpus
from gputop.cli.args.options import add_ending, add_json, add_place, whole
from gputop.cli.args.requests import request_of
from gputop.core.model.load import BUSY_PERCENT
from gputop.core.model.metric import Unit
from gputop.core.model.quantity import expected, quantity
from gputop.core.text.text import excerpt

_DESCRIPTION: Final = (
    "Choose the GPUs with the least use. gputop prefers free GPUs (see gputop free), then those with more unused"
    " memory (in whole GiB), then those with lower utilization (the higher of two readings), then those with fewer"
    " processes. Busy, lost and hung GPUs are not"
    " chosen. The choice and its reason go to standard error.\nThe GPUs are free now but not"
    " reserved: gputop cannot see a process that has just started and holds no memory yet, or another gputop pick"
    " that runs at the same time."
)
_FORMATS: Final = ("env", "index", "uuid", "json")


def add(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    parser.description = _DESCRIPTION
    add_ending(
        parser,
        "gputop pick -n 2 --min-free 20GiB --wait --exec python train.py",
        "env $(gputop pick) python train.py",
        status="0 found, 1 not enough GPUs (reasons on standard error), 2 bad input, 3 no driver; with --exec,"
        " the status of the command",
    )
    parser.add_argument("-n", "--count", type=whole(1), default=1, metavar="N", help="number of GPUs (default 1)")
    parser.add_argument(
        "--min-free", dest="min_free_bytes", type=_measured(Unit.BYTES), default=0.0, metavar="SIZE",
        help="minimum free memory per GPU, such as 20GiB",
    )  # fmt: skip
    parser.add_argument(
        "--max-util", dest="max_utilization_percent", type=_measured(Unit.PERCENT), metavar="PERCENT",
        help=f"maximum utilization per GPU (default {BUSY_PERCENT:g}); 100 accepts busy GPUs",
    )  # fmt: skip
    parser.add_argument(
        "--mig", dest="with_instances", action="store_true",
        help="also choose MIG instances; a process can use only one",
    )  # fmt: skip
    parser.add_argument(
        "--wait", dest="waits", action="store_true", help="check again at every interval until enough GPUs are free"
    )
    parser.add_argument(
        "--format", choices=_FORMATS, default="env", metavar="FORMAT",
        help="env (default: CUDA_VISIBLE_DEVICES=…), uuid, json, or index (as in nvidia-smi; CUDA uses the same"
        " index only with CUDA_DEVICE_ORDER=PCI_BUS_ID)",
    )  # fmt: skip
    add_json(parser)
    parser.add_argument(
        "--exec", nargs=argparse.REMAINDER, metavar="COMMAND", default=argparse.SUPPRESS,
        help="run this command instead of printing the GPUs, with CUDA_VISIBLE_DEVICES set; must come last",
    )  # fmt: skip
    add_place(parser)


def run(options: argparse.Namespace) -> int:
    """Read twice, or until there are enough; print the choice, or become the command."""
    return pick_gpus(request_of(options, PickRequest))


def _measured(unit: Unit) -> Callable[[str], float]:
    """Return a reader of a number with a unit."""

    def read(text: str) -> float:
        value = quantity(text, unit)
        if value is None or value < 0:
            raise argparse.ArgumentTypeError(f"{excerpt(text)!r} is not {expected(unit)}")
        if unit is Unit.BYTES and value and text[-1].isdecimal():  # bytes would be a mistake
            number = excerpt(text)
            raise argparse.ArgumentTypeError(f"{number!r} has no unit: write {number}GiB or {number}MiB")
        return value

    return read
