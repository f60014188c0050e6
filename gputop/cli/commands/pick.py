"""gputop pick: the freest GPUs, for CUDA_VISIBLE_DEVICES."""

import argparse
from collections.abc import Callable
from typing import Final

from gputop.app.monitoring.pick import PickRequest, become, in_the_way, pick_gpus, text
from gputop.cli.args.exits import BAD_INPUT, OK, fail, warn
from gputop.cli.args.options import add_ending, add_json, add_place, whole
from gputop.cli.args.requests import backend_request
from gputop.core.model.metric import Unit
from gputop.core.model.quantity import expected, quantity
from gputop.core.query.pick import Wish

NOT_ENOUGH: Final = 1
_FORMATS: Final = ("env", "index", "uuid", "json")


def add(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    parser.description = (
        "Choose the freest GPUs: by free memory (in whole GiB), then by utilization (the higher of two"
        " readings), then by number of processes. Lost and hung GPUs are never chosen.\nThe GPUs are free now but not"
        " reserved: gputop cannot see a process that has just started and holds no memory yet, or another gputop pick"
        " that runs at the same time."
    )
    add_ending(
        parser,
        "gputop pick -n 2 --min-free 20GiB --wait --exec python train.py",
        "env $(gputop pick) python train.py",
        status="0 found, 1 not enough GPUs (reasons on standard error), 2 bad input, 3 no driver; with --exec,"
        " that of the command",
    )
    parser.add_argument("-n", "--count", type=whole(1), default=1, metavar="N", help="number of GPUs (default 1)")
    parser.add_argument(
        "--min-free",
        type=_measured(Unit.BYTES),
        default=0.0,
        metavar="SIZE",
        help="minimum free memory per GPU, such as 20GiB",
    )
    parser.add_argument(
        "--max-util",
        type=_measured(Unit.PERCENT),
        metavar="PERCENT",
        help="maximum utilization per GPU, such as 10",
    )
    parser.add_argument("--mig", action="store_true", help="also choose MIG instances; a process can use only one")
    parser.add_argument("--wait", action="store_true", help="check again every interval until there are enough")
    parser.add_argument(
        "--format", choices=_FORMATS, default="env", metavar="FORMAT",
        help="env (default: CUDA_VISIBLE_DEVICES=…), uuid, json, or index: nvidia-smi's, which matches CUDA's only with"
        " CUDA_DEVICE_ORDER=PCI_BUS_ID",
    )  # fmt: skip
    add_json(parser)
    parser.add_argument(
        "--exec", nargs=argparse.REMAINDER, metavar="COMMAND", default=argparse.SUPPRESS,
        help="print nothing and run this command with CUDA_VISIBLE_DEVICES set; must come last",
    )  # fmt: skip
    add_place(parser)


def run(options: argparse.Namespace) -> int:
    """Read twice, or until there are enough; print the choice, or become the command."""
    _check(options)
    wish = Wish(
        count=options.count,
        min_free_bytes=options.min_free,
        max_utilization_percent=options.max_util,
        with_instances=options.mig,
    )
    found = pick_gpus(PickRequest(backend=backend_request(options), wish=wish, waits=options.wait), warn)
    if not found.chosen:
        if options.format == "json" and options.command is None:
            print(text(found, "json"))
        warn(in_the_way(found, wish))
        return NOT_ENOUGH
    if options.command is not None:
        become(options.command, found)
    print(text(found, options.format))
    return OK


def _check(options: argparse.Namespace) -> None:
    if options.command is not None:
        if options.command[:1] == ["--"]:
            del options.command[0]
        if not options.command:
            fail(BAD_INPUT, "--exec needs a command")
    if options.user or options.only_compute or options.where:
        fail(BAD_INPUT, "pick counts all processes, so it does not accept --user, --only-compute and --where")


def _measured(unit: Unit) -> Callable[[str], float]:
    """Return a reader of a number with a unit."""

    def read(text: str) -> float:
        value = quantity(text, unit)
        if value is None or value < 0:
            raise argparse.ArgumentTypeError(f"{text!r} is not {expected(unit)}")
        if unit is Unit.BYTES and value and text[-1].isdecimal():  # bytes would be a mistake
            raise argparse.ArgumentTypeError(f"{text!r} has no unit: write {text}GiB or {text}MiB")
        return value

    return read
